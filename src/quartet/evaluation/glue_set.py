"""The splits of a set of GLUE as fine-tuning wants them: what is trained on, what is predicted, what is chosen by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quartet.errors import InputError
from quartet.evaluation.sets.glue import GlueExample

#: Splits on which choices are made, in the order in which one is taken.
DEV = ("dev", "dev_matched")


@dataclass(frozen=True)
class GlueSet:
    """A task's examples.

    Attributes:
        format: a name in :data:`quartet.evaluation.sets.glue.TASKS`.
        train: what is trained on.
        others: what is predicted, by split; a split of `DEV` with labels is among them.
        available: how many training examples there were before `limit`.
    """

    format: str
    train: list[GlueExample]
    others: dict[str, list[GlueExample]]
    available: int

    @property
    def dev(self) -> str:
        """The split on which choices are made."""
        return next(split for split in DEV if split in self.others)

    def repeated(self, split: str) -> int:
        """How many examples of a split have the very texts of a training example."""
        known = {(example.first, example.second) for example in self.train}
        return sum((example.first, example.second) in known for example in self.others[split])


def glue_set(
    format: str, splits: Mapping[str, Sequence[GlueExample]], limit: int, place: str = "glue"
) -> GlueSet:
    """Check the splits of a task, and draw `limit` training examples (0: all; always the same ones, in their order).

    Raises:
        InputError: there is no split train or dev with labels; it names `place`.
    """
    for wanted in (("train",), DEV):
        if not any(split in splits and splits[split][0].labelled for split in wanted):
            raise InputError(place, f"no labelled split {' or '.join(wanted)}, which fine-tuning needs")
    train = list(splits["train"])
    available = len(train)
    if 0 < limit < available:
        drawn = np.sort(np.random.default_rng(0).permutation(available)[:limit])
        train = [train[index] for index in drawn]
    others = {split: list(examples) for split, examples in splits.items() if split != "train"}
    for split in DEV:
        if split in others and not others[split][0].labelled:
            raise InputError(place, f"the split {split} has no labels")
    return GlueSet(format, train, others, available)
