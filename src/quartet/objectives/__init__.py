"""The objectives; a new one is a file here and a line in OBJECTIVES."""

from __future__ import annotations

from quartet.objectives.base import Objective
from quartet.objectives.clm import CausalLM
from quartet.objectives.lae import LanguageAutoencoding
from quartet.objectives.mlm import MaskedLM

OBJECTIVES: dict[str, type[Objective]] = {
    "clm": CausalLM,
    "mlm": MaskedLM,
    "lae": LanguageAutoencoding,
}
