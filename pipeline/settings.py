"""params.yaml, checked and complete, as the stages read it: artifacts/settings.json.

The stage ``settings`` writes the file, and every other stage depends on the keys of it that it reads. So an edit of
params.yaml while ``dvc repro`` runs reaches no stage of that run, and the next run sees it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from pipeline.loading import load as read_params
from pipeline.params import Params
from pipeline.run import DVC_STAGE
from quartet.errors import InputError
from quartet.files import atomic_path

SETTINGS, PARAMS = Path("artifacts/settings.json"), Path("params.yaml")
#: Parts of the settings that stages depend on in the place of whole entries: see :class:`pipeline.params.Params`.
PARTS = ("names", "judging", "reported")
WRITE = "run `dvc repro settings`"


def write(params: Params) -> None:
    """Write every setting with its value, in the order of params.yaml; the defaults are filled in."""
    settings = TypeAdapter(Params).dump_python(params, mode="json")
    settings |= {part: TypeAdapter(Any).dump_python(getattr(params, part), mode="json") for part in PARTS}
    with atomic_path(SETTINGS) as temporary:
        temporary.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def load() -> Params:
    """The settings of this run.

    Raises:
        InputError: the stage ``settings`` has not written them, or, for a stage that was started by hand, params.yaml
            has a mistake or says something else.
    """
    by_hand = DVC_STAGE not in os.environ and PARAMS.is_file()
    wanted = read_params(PARAMS) if by_hand else None
    try:
        settings = json.loads(read())
        for part in PARTS:
            settings.pop(part, None)
        params = TypeAdapter(Params).validate_json(json.dumps(settings), strict=True)
    except FileNotFoundError:
        raise InputError(SETTINGS, "no such file", WRITE) from None
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise InputError(SETTINGS, f"not the settings of this code ({where})", WRITE) from None
    if wanted not in (None, params):
        raise InputError(SETTINGS, f"does not hold what {PARAMS} says now", WRITE)
    return params


def read() -> bytes:
    """The file as it is."""
    return SETTINGS.read_bytes()
