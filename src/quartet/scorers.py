"""Any scorer by its folder: a model that was trained here, an export of one, an n-gram model, one of Hugging Face."""

from __future__ import annotations

from pathlib import Path

from quartet.config.choices import ScoringPrecision, WeightsChoice
from quartet.config.model import CONFIG
from quartet.errors import InputError
from quartet.export.card import EXPORT, is_export
from quartet.export.folder import load_export
from quartet.export.scorer import ExportedLM
from quartet.model_folders import is_trained
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
