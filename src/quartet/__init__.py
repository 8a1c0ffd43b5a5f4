"""Quartet: four language-model objectives (CLM, MLM, LAE, segment-aware) for scoring, rescoring and representation.

``quartet.load(folder)`` opens a trained model; nothing heavy is imported before it is called.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from quartet.scoring.language_model import LanguageModel

__version__ = "0.1.0"


def load(
    folder: str | Path, device: str = "cpu", weights: Literal["last", "best"] | None = None
) -> LanguageModel:
    """Open a trained model: see :func:`quartet.scoring.language_model.load`."""
    from quartet.scoring.language_model import load as load_model

    return load_model(folder, device, weights)
