"""An exported folder, opened."""

from __future__ import annotations

from pathlib import Path

from quartet.errors import InputError
from quartet.export.card import EXPORT, FILES, ExportCard, check_files, load_export_card
from quartet.export.half_precision import read_half
from quartet.export.scorer import ExportedLM, open_session
from quartet.models.checkpoint import TOKENIZER, load_card
from quartet.pickling import as_pickled
from quartet.scoring.device import check_device
from quartet.scoring.language_model import LanguageModel
from quartet.text.tokenizer import TextTokenizer


def is_export(folder: Path) -> bool:
    """Whether ``quartet export`` wrote a folder."""
    return (folder / EXPORT).is_file()


def load_export(folder: str | Path, device: str = "cpu") -> LanguageModel | ExportedLM:
    """Open what ``quartet export`` wrote.

    Args:
        device: ``cpu``, or ``cuda`` for weights in half precision. A graph takes as many threads as torch does.

    Raises:
        InputError: the folder holds no export, one of its files is not the one that was exported, the form does not
            run on the device, or onnxruntime is needed and not installed.
    """
    folder = Path(folder)
    made = load_export_card(folder)
    check_files(folder, made)
    return open_files(folder, made, device)


def reopen_export(folder: Path, fingerprint: str) -> LanguageModel | ExportedLM:
    """The export that was pickled, from its folder.

    Raises:
        InputError: as :func:`load_export`, or it is another one.
    """
    return as_pickled(load_export(folder), folder, fingerprint)


def open_files(folder: Path, made: ExportCard, device: str = "cpu") -> LanguageModel | ExportedLM:
    """As :func:`load_export`, of files that are known to be right."""
    card, tokenizer = load_card(folder), TextTokenizer.load(folder / TOKENIZER)
    path = folder / FILES[made.form]
    if made.form == "fp16":
        check_device(device)
        return LanguageModel(read_half(path, card, tokenizer), tokenizer, card, device)
    if device != "cpu":
        raise InputError(
            f"device {device}", "an exported graph computes on the CPU", "take cpu, or an export with --fp16"
        )
    return ExportedLM(open_session(path), tokenizer, card, made, folder)
