"""Models with random weights in the form of Hugging Face, for all libraries to load: speed asks for no training."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer

from quartet.pretrained import transformers
from quartet.text.tokenizer import TextTokenizer, train_tokenizer


@dataclass(frozen=True)
class Shape:
    """Sizes of a BERT."""

    layers: int
    dim: int
    heads: int
    inner: int
    vocabulary: int
    positions: int = 512


#: BERT-base's, one of the T-TA paper's size, and one to try the command with.
SHAPES = {
    "bert-base": Shape(12, 768, 12, 3072, 30522),
    "tta-paper": Shape(3, 512, 8, 2048, 30522),
    "tiny": Shape(1, 32, 2, 64, 400),
}

#: The shape whose figures are to reach something.
DEMANDED = "tta-paper"


@dataclass(frozen=True)
class Stream:
    """Sizes of a Transformer-XL; `rows` streams at once."""

    layers: int
    dim: int
    heads: int
    inner: int
    window: int
    memory: int
    vocabulary: int
    rows: int


#: The Segatron paper's base model on fewer streams and pieces, and the models of params.yaml.
STREAMS = {
    "base": Stream(16, 410, 10, 2100, 150, 150, 10000, 4),
    "sample": Stream(2, 96, 4, 384, 64, 64, 3000, 8),
}
#: What goes with the shape ``tiny``.
TINY_STREAMS = {"tiny": Stream(1, 16, 2, 32, 8, 8, 400, 2)}


def filled_tokenizer(texts: Sequence[str], vocabulary: int) -> TextTokenizer:
    """WordPieces learnt from the texts, and as many that occur in no text as make up the size."""
    learnt = json.loads(train_tokenizer("wordpiece", list(texts), vocabulary, lowercase=True).to_json())
    pieces: dict[str, int] = learnt["model"]["vocab"]
    for number in range(vocabulary - len(pieces)):
        pieces[f"[unused{number}]"] = len(pieces)
    return TextTokenizer(Tokenizer.from_str(json.dumps(learnt)))


def save_bert(folder: Path, shape: Shape, tokenizer: TextTokenizer, seed: int = 1) -> None:
    """Write a masked language model with random weights, whose tokenizer has the pieces of one of ours.

    Their ids are ours too: BERT's five special tokens are our first five, and our [BOS] and [EOS] are pieces to it.
    """
    pieces = tokenizer.tokens(range(tokenizer.vocab_size))
    library = transformers()
    bert_tokenizer = library.BertTokenizer(vocab={piece: number for number, piece in enumerate(pieces)})
    bert_tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    settings = library.BertConfig(
        vocab_size=len(pieces),
        hidden_size=shape.dim,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.inner,
        max_position_embeddings=shape.positions,
    )
    library.BertForMaskedLM(settings).save_pretrained(folder)
