"""Any scorer by its folder: a model that was trained here, an export of one, an n-gram model, one of Hugging Face."""

from __future__ import annotations

from pathlib import Path

from quartet.errors import InputError
from quartet.export.card import EXPORT
from quartet.export.folder import is_export, load_export
from quartet.export.scorer import ExportedLM
from quartet.files import read_json
from quartet.models.checkpoint import CONFIG, Weights
from quartet.ngram.card import ARPA
from quartet.ngram.score import NgramLM
from quartet.ngram.score import load as load_ngram
from quartet.scoring.language_model import LanguageModel, load
from quartet.scoring.pretrained import PretrainedLM, load_pretrained

#: What a reference may stand for.
Opened = LanguageModel | ExportedLM | NgramLM | PretrainedLM


def open_scorer(reference: str, device: str = "cpu", weights: Weights | None = None) -> Opened:
    """Open whatever scores texts.

    Args:
        reference: the folder of a trained model, of an export of one, of an n-gram model or of a model of Hugging
            Face, or a name on the hub with its revision, ``owner/name@revision``.
        device: ``cpu`` or ``cuda``; n-gram models and exported graphs always compute on the CPU.
        weights: of a model that was trained here, ``last`` or ``best``; None: those that its training's settings name.

    Raises:
        InputError: there is no such model, its files are broken, what it needs is not installed, or it has no two sets
            of weights to choose from.
    """
    folder = Path(reference)
    exported = is_export(folder)
    if not exported and is_trained(folder):
        return load(folder, device, weights)
    if folder.is_dir() and not any((folder / name).is_file() for name in (EXPORT, ARPA, CONFIG)):
        raise InputError(
            folder,
            f"holds neither {CONFIG} (a trained model, or one of Hugging Face) nor {ARPA} (an n-gram model)",
            "give the folder of a model",
        )
    if weights is not None:
        raise InputError(
            reference,
            "is no model that was trained here: there are no weights to choose from",
            "leave weights out",
        )
    if exported:
        return load_export(folder, device)
    return load_ngram(folder) if (folder / ARPA).is_file() else load_pretrained(reference, device)


def is_trained(folder: Path) -> bool:
    """Whether a folder is of a model that was trained here: it has settings, and they are not transformers'."""
    if (folder / ARPA).is_file() or not (folder / CONFIG).is_file():
        return False
    config = read_json(folder / CONFIG)
    # transformers writes the kind of the model under this name; our cards have no such key.
    return not (isinstance(config, dict) and "model_type" in config)
