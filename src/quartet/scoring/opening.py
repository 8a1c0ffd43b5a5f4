"""Any scorer by its folder: a model that was trained here, an n-gram model, or one of Hugging Face."""

from __future__ import annotations

from pathlib import Path

from quartet.errors import InputError
from quartet.files import read_json
from quartet.models.checkpoint import CONFIG
from quartet.ngram.card import ARPA
from quartet.ngram.score import load as load_ngram
from quartet.scoring.engine import TextScorer
from quartet.scoring.language_model import load
from quartet.scoring.pretrained import load_pretrained


def open_scorer(reference: str, device: str = "cpu") -> TextScorer:
    """Open whatever scores texts.

    Args:
        reference: the folder of a trained model, of an n-gram model or of a model of Hugging Face, or a name on the
            hub with its revision, ``owner/name@revision``.
        device: ``cpu`` or ``cuda``; n-gram models always compute on the CPU.

    Raises:
        InputError: there is no such model, its files are broken, or what it needs is not installed.
    """
    folder = Path(reference)
    if not folder.is_dir():
        return load_pretrained(reference, device)
    if (folder / ARPA).is_file():
        return load_ngram(folder)
    if not (folder / CONFIG).is_file():
        raise InputError(
            folder,
            f"holds neither {CONFIG} (a trained model, or one of Hugging Face) nor {ARPA} (an n-gram model)",
            "give the folder of a model",
        )
    config = read_json(folder / CONFIG)
    # transformers writes the kind of the model under this name; our cards have no such key.
    if isinstance(config, dict) and "model_type" in config:
        return load_pretrained(reference, device)
    return load(folder, device)
