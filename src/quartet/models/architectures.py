"""The three architectures; a new one is a file here and a line in ARCHITECTURES."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from quartet.config.model import ModelConfig
from quartet.models.encoder import Encoder
from quartet.models.network import Network
from quartet.models.transformer_xl import TransformerXL
from quartet.models.tta import TTA
from quartet.text.tokenizer import SPECIALS, TextTokenizer

ARCHITECTURES: dict[str, Callable[[ModelConfig, int, Tensor | None], Network]] = {
    "encoder": lambda config, vocabulary, _: Encoder(config, vocabulary),
    "tta": lambda config, vocabulary, continues_V: TTA(
        config, vocabulary, SPECIALS.index("[MASK]"), continues_V
    ),
    "transformer-xl": lambda config, vocabulary, _: TransformerXL(config, vocabulary),
}


def build(config: ModelConfig, vocabulary: int, continues_V: Tensor | None = None) -> Network:
    """A network with fresh weights; the global random state of torch decides them.

    Args:
        vocabulary: number of token ids V.
        continues_V: (V,) True for ids that continue a word (``tta.mask: word`` needs to know).

    Raises:
        InputError: ``adaptive.cutoffs`` does not fit the vocabulary.
    """
    return ARCHITECTURES[config.architecture](config, vocabulary, continues_V)


def build_for(config: ModelConfig, tokenizer: TextTokenizer) -> Network:
    """A network with fresh weights for the vocabulary of a tokenizer."""
    starts = tokenizer.word_starts(range(tokenizer.vocab_size))
    return build(config, tokenizer.vocab_size, ~torch.tensor(starts))
