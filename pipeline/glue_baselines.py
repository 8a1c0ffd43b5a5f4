"""What fine-tuned models are held against on the sets of GLUE: the majority label and a bag of words."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.params import Params
from pipeline.results import rows_of
from quartet.results import Result
from quartet.tasks.glue.data import TASKS, GlueSet
from quartet.tasks.glue.metrics import BASELINES, glue_measures, gold_of


def baseline_rows(params: Params, dataset: str, examples: GlueSet) -> Iterator[Result]:
    """Yield the rows of the majority label and of the bag of words, trained on what the models are fine-tuned on."""
    task = TASKS[examples.format]
    for system, fit_predict in BASELINES.items():
        for split, part in examples.others.items():
            if part[0].labelled:
                predicted = fit_predict(task, examples.train, part)
                yield from rows_of(
                    glue_measures(task, gold_of(task, part), predicted, params.bootstrap, params.seeds[0]),
                    params=params,
                    table="glue",
                    model=system,
                    dataset=dataset,
                    split=split,
                    device="cpu",
                    scale=training_of(examples),
                )


def training_of(examples: GlueSet) -> str:
    """How many examples a system was trained on."""
    limited = f" of {examples.available:,}" if len(examples.train) < examples.available else ""
    return f"{len(examples.train):,}{limited} examples"
