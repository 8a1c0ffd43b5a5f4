"""RACE's rows: accuracy of all questions and of each level, and how much of the passages was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.params import Params
from pipeline.progress import say
from pipeline.results import rows_of
from quartet.results import Measure, Result, system_name
from quartet.tasks.race.data import ChoiceQuestion
from quartet.tasks.race.metrics import race_measures


@dataclass(frozen=True)
class Chosen:
    """What a system chose on a split.

    Attributes:
        options: the number of an option a question.
        read: the share of the passages' tokens that it read; None: it reads none.
    """

    split: str
    questions: Sequence[ChoiceQuestion]
    options: Sequence[int]
    read: float | None = None


def race_rows(
    params: Params,
    dataset: str,
    chosen: Chosen,
    *,
    model: str,
    reading: str = "",
    device: str,
    scale: str,
    seed: int | None,
) -> list[Result]:
    """The rows of one system on one split: the set is <dataset>, its levels <dataset>-middle and <dataset>-high."""
    bootstrap_seed = params.seeds[0] if seed is None else seed
    measures = race_measures(chosen.questions, chosen.options, params.bootstrap, bootstrap_seed)
    rows: list[Result] = []
    for part, measure in measures.items():
        found = {"accuracy": measure}
        if part == "all" and chosen.read is not None:
            found["passage-read"] = Measure(chosen.read, len(chosen.questions))
        rows += rows_of(
            found,
            params=params,
            table="race",
            model=model,
            reading=reading,
            dataset=dataset if part == "all" else f"{dataset}-{part}",
            split=chosen.split,
            device=device,
            scale=scale,
            seed=seed,
        )
    say(
        f"{system_name(model, reading)} on {dataset} {chosen.split}: accuracy {100 * measures['all'].value:.1f} %"
    )
    return rows
