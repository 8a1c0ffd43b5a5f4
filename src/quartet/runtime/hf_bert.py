"""A BERT of transformers with random weights and the sizes of one of our masked models, as a system of the study."""

from __future__ import annotations

import copy
import dataclasses
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import torch

from quartet.hugging_face import transformers
from quartet.runtime.systems import TimedSystem
from quartet.scoring.language_model import LanguageModel
from quartet.scoring.pretrained_inputs import PretrainedInputs, TargetOutputs
from quartet.scoring.pretrained_lm import PretrainedLM, load_pretrained
from quartet.scoring.windows import TextWindow
from quartet.text.tokenizer import TextTokenizer

NAME = "hf-bert"


@dataclasses.dataclass(frozen=True)
class BertShape:
    """Sizes of a BERT."""

    layers: int
    dim: int
    heads: int
    inner: int
    vocabulary: int
    positions: int = 512


def save_bert(folder: Path, shape: BertShape, tokenizer: TextTokenizer, seed: int = 1) -> None:
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


class OneByOneInputs(PretrainedInputs):
    """Masked copies in batches of one."""

    def each_hidden(self, windows: Iterable[TextWindow], bases: np.ndarray) -> Iterator[TargetOutputs]:
        """The copies of :meth:`PretrainedInputs.each_hidden`, each alone."""
        for asked in super().each_hidden(windows, bases):
            for row in range(len(asked.ids_BT)):
                own = slice(row, row + 1)
                yield TargetOutputs(
                    asked.ids_BT[own],
                    None,
                    np.zeros(1, dtype=np.int64),
                    asked.columns_N[own],
                    asked.texts_N[own],
                    asked.targets_N[own],
                    asked.slots_N[own],
                )


def one_by_one(model: PretrainedLM) -> PretrainedLM:
    """The masked model, its weights shared, reading copy by copy, each to its end at every token."""
    other = copy.copy(model)
    fields = {field.name: getattr(model.inputs, field.name) for field in dataclasses.fields(PretrainedInputs)}
    other.inputs = OneByOneInputs(**fields)
    other.body_and_head = copy.copy(model.body_and_head)
    other.body_and_head.last = None
    return other


def bert_like(model: LanguageModel, device: str = "cpu") -> list[TimedSystem]:
    """A BERT with the layers, widths, heads, positions and pieces of a masked model, read one by one and in batches.

    Raises:
        InputError: `transformers` is not installed, or the device is not there.
    """
    config = model.card.model
    shape = BertShape(
        config.layers, config.dim, config.heads, config.inner, model.tokenizer.vocab_size, config.max_length
    )
    with tempfile.TemporaryDirectory() as folder:
        save_bert(Path(folder) / NAME, shape, model.tokenizer)
        bert = load_pretrained(str(Path(folder) / NAME), device)

    def system(read: PretrainedLM, batched: bool) -> TimedSystem:
        return TimedSystem(
            of=NAME,
            model=read,
            objective="mlm",
            reads=config.reads,
            batched=batched,
            tokens=lambda text: len(bert.tokenizer(text, add_special_tokens=False)["input_ids"]),
            room=bert.inputs.room,
            device=device,
            scale=f"random weights, {bert.scale.partition(', files')[0]}",
            seed=None,
        )

    return [system(one_by_one(bert), batched=False), system(bert, batched=True)]
