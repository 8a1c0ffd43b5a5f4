"""The three architectures; a new one is a file here and a line in ARCHITECTURES."""

from __future__ import annotations

from collections.abc import Callable

from quartet.models.config import ModelConfig
from quartet.models.encoder import Encoder
from quartet.models.network import Network
from quartet.models.transformer_xl import TransformerXL
from quartet.models.tta import TTA
from quartet.text.tokenizer import SPECIALS

ARCHITECTURES: dict[str, Callable[[ModelConfig, int], Network]] = {
    "encoder": Encoder,
    "tta": lambda config, vocabulary: TTA(config, vocabulary, mask_id=SPECIALS.index("[MASK]")),
    "transformer-xl": TransformerXL,
}


def build(config: ModelConfig, vocabulary: int) -> Network:
    """A network with fresh weights; the global random state of torch decides them."""
    return ARCHITECTURES[config.architecture](config, vocabulary)
