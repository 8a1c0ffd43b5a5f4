"""The N-best lists of params.yaml as the stages judge them, and the systems that have reranked them."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.layout import Layout
from pipeline.params import Params
from quartet.files import read_json
from quartet.results import system_name
from quartet.tasks.rerank.metrics import SPLITS, JudgedSplit, judged_split


def judged_lists(params: Params, layout: Layout, name: str) -> dict[str, JudgedSplit]:
    """Both splits of the set `name`.

    Raises:
        InputError: none of a split's lists has a reference.
    """
    return {
        split: judged_split(
            layout.nbest(name) / f"{split}.jsonl", params.nbest[name], f"nbest.{name}.{split}"
        )
        for split in SPLITS
    }


@dataclass(frozen=True)
class RerankedSystem:
    """What reranked all sets of lists: a reading of a model, and the seeds of its written results."""

    model: str
    reading: str
    seeds: tuple[int, ...]

    def seed(self, seed: int) -> int:
        """The result to compare with others' of a seed: what has no seeds (n-grams) has one result for all."""
        return seed if seed in self.seeds else self.seeds[0]


def reranked_systems(params: Params, layout: Layout) -> dict[str, RerankedSystem]:
    """Every system that a model under ``evaluate.rerank`` made.

    Raises:
        InputError: a model has reranked nothing.
    """
    return {
        system_name(model, reading): RerankedSystem(model, reading, tuple(seeds))
        for model in params.evaluate["rerank"]
        for reading, seeds in read_json(layout.systems(model)).items()
    }
