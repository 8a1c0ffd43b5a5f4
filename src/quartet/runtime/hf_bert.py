"""A BERT of transformers with random weights and the sizes of one of our masked models, as a system of the study."""

from __future__ import annotations

import copy
import dataclasses
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from quartet.runtime.peers.exported import Shape, save_bert
from quartet.runtime.systems import System
from quartet.scoring.language_model import LanguageModel
from quartet.scoring.pretrained import PretrainedLM, load_pretrained
from quartet.scoring.pretrained_inputs import Asked, Inputs
from quartet.scoring.windows import Window

NAME = "hf-bert"


class OneByOne(Inputs):
    """Masked copies in batches of one."""

    def each_hidden(self, windows: Iterable[Window], bases: np.ndarray) -> Iterator[Asked]:
        """The copies of :meth:`Inputs.each_hidden`, each alone."""
        for asked in super().each_hidden(windows, bases):
            for row in range(len(asked.ids_BT)):
                own = slice(row, row + 1)
                yield Asked(
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
    fields = {field.name: getattr(model.inputs, field.name) for field in dataclasses.fields(Inputs)}
    other.inputs = OneByOne(**fields)
    other.halves = copy.copy(model.halves)
    other.halves.last = None
    return other


def bert_like(model: LanguageModel, device: str = "cpu") -> list[System]:
    """A BERT with the layers, widths, heads, positions and pieces of a masked model, read one by one and in batches.

    Raises:
        InputError: `transformers` is not installed, or the device is not there.
    """
    config = model.card.model
    shape = Shape(
        config.layers, config.dim, config.heads, config.inner, model.tokenizer.vocab_size, config.max_length
    )
    with tempfile.TemporaryDirectory() as folder:
        save_bert(Path(folder) / NAME, shape, model.tokenizer)
        bert = load_pretrained(str(Path(folder) / NAME), device)

    def system(read: PretrainedLM, batched: bool) -> System:
        return System(
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
