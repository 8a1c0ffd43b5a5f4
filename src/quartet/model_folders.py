"""What lies in the folder of a model, told by its files: nothing is opened, and `scorer_files` needs no PyTorch."""

from __future__ import annotations

from pathlib import Path

from quartet.config.model import CONFIG, TOKENIZER, WEIGHTS
from quartet.errors import InputError
from quartet.export.card import EXPORT, FILES, check_files, is_export, load_export_card
from quartet.files import read_json
from quartet.hugging_face import language_model_kind, model_files
from quartet.ngram.card import ARPA


def is_trained(folder: Path) -> bool:
    """Whether a folder is of a model that was trained here: it has settings, and they are not transformers'."""
    if (folder / ARPA).is_file() or not (folder / CONFIG).is_file():
        return False
    config = read_json(folder / CONFIG)
    # transformers writes the kind of the model under this name; our cards have no such key.
    return not (isinstance(config, dict) and "model_type" in config)


def scorer_files(folder: Path) -> list[Path]:
    """What decides the scores of a model that comes as a folder: of an export, a training or Hugging Face.

    Raises:
        InputError: it holds no such model, or an export's file is not the one that was exported.
    """
    if is_export(folder):
        card = load_export_card(folder)
        check_files(folder, card)
        names = [EXPORT, CONFIG, TOKENIZER, FILES[card.form]]
    elif is_trained(folder):
        names = [CONFIG, TOKENIZER, *WEIGHTS.values()]
    else:
        return model_files(folder)
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise InputError(folder / missing[0], "no such file", "copy the whole folder of the model")
    return sorted(folder / name for name in names)


def model_kind(folder: Path) -> str:
    """What such a folder holds: "export, onnx-int8", "trained here", "masked" or "causal".

    Raises:
        InputError: it holds no such model.
    """
    if is_export(folder):
        return f"export, {load_export_card(folder).form}"
    return "trained here" if is_trained(folder) else language_model_kind(folder)
