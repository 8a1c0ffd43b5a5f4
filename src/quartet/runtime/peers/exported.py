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

BERT_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True)
class Shape:
    """Sizes of a BERT."""

    layers: int
    dim: int
    heads: int
    inner: int
    vocabulary: int
    positions: int = 512


#: BERT-base's, and one of the T-TA paper's size.
SHAPES = {
    "bert-base": Shape(12, 768, 12, 3072, 30522),
    "tta-paper": Shape(3, 512, 8, 2048, 30522),
}


def filled_tokenizer(texts: Sequence[str], vocabulary: int) -> TextTokenizer:
    """WordPieces learnt from the texts, and as many that occur in no text as make up the size."""
    learnt = json.loads(train_tokenizer("wordpiece", list(texts), vocabulary, lowercase=True).to_json())
    pieces: dict[str, int] = learnt["model"]["vocab"]
    for number in range(vocabulary - len(pieces)):
        pieces[f"[unused{number}]"] = len(pieces)
    return TextTokenizer(Tokenizer.from_str(json.dumps(learnt)))


def save_bert(folder: Path, shape: Shape, tokenizer: TextTokenizer, seed: int = 1) -> None:
    """Write a masked language model with random weights, whose tokenizer has the pieces of one of ours."""
    pieces = [*BERT_SPECIALS, *tokenizer.tokens(range(tokenizer.n_specials, tokenizer.vocab_size))]
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
