"""The T-TA that comes with Quartet: see weights/README.md. It is found without importing what opens it."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from quartet.errors import InputError

#: Its place in a clone, and so in an installation that is editable: beside src/.
IN_CLONE = Path(__file__).resolve().parents[2] / "weights" / "tta-books"


def shipped_model() -> str:
    """Its folder: the clone's, or that of the installed package, whose files are listed with it.

    Raises:
        InputError: it is in neither.
    """
    if IN_CLONE.is_dir():
        return str(IN_CLONE)
    try:
        installed = metadata.files("quartet") or []
    except metadata.PackageNotFoundError:
        installed = []
    for file in installed:
        folder = Path(str(file.locate())).parent
        if folder.name == IN_CLONE.name and folder.is_dir():
            return str(folder.resolve())
    raise InputError("--model", "is missing, and this installation comes without a model", "name one")
