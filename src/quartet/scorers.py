"""Any scorer by its folder: a model that was trained here, an export of one, an n-gram model, one of Hugging Face."""

from __future__ import annotations

from pathlib import Path

from quartet.config.choices import ScoringPrecision, WeightsChoice
from quartet.errors import InputError
from quartet.export.card import EXPORT, FILES, check_files, load_export_card
from quartet.export.folder import is_export, load_export
from quartet.export.scorer import ExportedLM
from quartet.files import read_json
from quartet.hugging_face import language_model_kind, model_files
from quartet.models.checkpoint import CONFIG, TOKENIZER, WEIGHTS
from quartet.ngram.card import ARPA
from quartet.ngram.file import load_file
from quartet.ngram.score import NgramLM
from quartet.ngram.score import load as load_ngram
from quartet.scoring.device import check_device_name
from quartet.scoring.language_model import LanguageModel, load
from quartet.scoring.pretrained_lm import PretrainedLM, load_pretrained

#: What a reference may stand for.
AnyScorer = LanguageModel | ExportedLM | NgramLM | PretrainedLM


def open_scorer(
    reference: str,
    device: str = "cpu",
    weights: WeightsChoice | None = None,
    precision: ScoringPrecision = "fp32",
) -> AnyScorer:
    """Open whatever scores texts.

    Args:
        reference: the folder of a trained model, of an export of one, of an n-gram model or of a model of Hugging
            Face, a name on the hub with its revision, ``owner/name@revision``, or an ARPA file or a binary of KenLM.
        device: ``cpu`` or ``cuda``; n-gram models and exported graphs always compute on the CPU.
        weights: of a model that was trained here, ``last`` or ``best``; None: those that its training's settings name.
        precision: of the products of a model that was trained here, ``fp32`` or ``bf16``.

    Raises:
        InputError: there is no such model, its files are broken, what it needs is not installed, or it has no two sets
            of weights or no precision to choose from.
    """
    check_device_name(device)
    folder = Path(reference)
    exported = is_export(folder)
    if not exported and is_trained(folder):
        return load(folder, device, weights, precision)
    if folder.is_dir() and not any((folder / name).is_file() for name in (EXPORT, ARPA, CONFIG)):
        raise InputError(
            folder,
            f"holds neither {CONFIG} (a trained model, or one of Hugging Face) nor {ARPA} (an n-gram model)",
            "give the folder of a model",
        )
    for option, is_asked in (("weights", weights is not None), ("precision", precision != "fp32")):
        if is_asked:
            raise InputError(
                reference,
                f"is no model that was trained here: there are no {option.rstrip('s')}s to choose from",
                f"leave {option} out",
            )
    if folder.is_file():
        return load_file(folder)
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


def scorer_kind(folder: Path) -> str:
    """What such a folder holds: "export, onnx-int8", "trained here", "masked" or "causal".

    Raises:
        InputError: it holds no such model.
    """
    if is_export(folder):
        return f"export, {load_export_card(folder).form}"
    return "trained here" if is_trained(folder) else language_model_kind(folder)
