"""Quartet: four language-model objectives (CLM, MLM, LAE, segment-aware) for scoring, rescoring and representation.

``quartet.load(folder)`` opens a model and ``quartet.rescore`` puts N-best lists in its order; nothing heavy is imported
before they are called.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

if TYPE_CHECKING:
    from quartet.nbest.rescoring import Lists, RescoredLists, RescoringOptions
    from quartet.scorers import AnyScorer
    from quartet.scoring.engine import TextScorer

__version__ = "0.1.0"

if os.environ.get(
    "QUARTET_PROCESSOR"
):  # before NumPy and PyTorch are imported below, which read what is set here
    from quartet.hardware.processor import lower_instructions

    lower_instructions(os.environ)


def load(
    reference: str | Path | None = None,
    device: str = "cpu",
    weights: Literal["last", "best"] | None = None,
    precision: Literal["fp32", "bf16"] = "fp32",
) -> AnyScorer:
    """Open a model: one that was trained here, an n-gram model, or one of Hugging Face; None: Quartet's own T-TA.

    What it returns may be used by several threads at once. See :func:`quartet.scorers.open_scorer`; a
    :class:`quartet.scoring.language_model.LanguageModel` is what a training's folder gives.
    """
    from quartet.scorers import open_scorer
    from quartet.shipped_model import shipped_model

    named = shipped_model() if reference is None else str(reference)
    return open_scorer(named, device, weights, precision)


def rescore(model: TextScorer, lists: Lists, **options: Unpack[RescoringOptions]) -> RescoredLists:
    """Order the hypotheses of N-best lists with a language model: see :func:`quartet.nbest.rescoring.rescore`.

    ``rescore(model, "test.json", tune="dev.json")`` chooses the weight on other lists, ``weight=0.3`` gives it. The
    result holds the same records as the lines that ``quartet rescore`` writes, and the weight.
    """
    from quartet.nbest.rescoring import rescore as rescore_lists

    return rescore_lists(model, lists, **options)
