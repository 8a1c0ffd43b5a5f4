"""blimp@<model>: how often the good sentence of a minimal pair has the higher score."""

from __future__ import annotations

from pipeline.evaluation import evaluation
from pipeline.run import main
from pipeline.scorers import scorers
from pipeline.task_sets import sets_of
from quartet.results import EvaluatedSystem
from quartet.tasks.blimp.data import KIND
from quartet.tasks.blimp.evaluation import evaluate, gather_pairs


def blimp(name: str) -> None:
    """Write the rows of the model `name`, which may also be an n-gram model or one of Hugging Face, on every set."""
    with evaluation("blimp", name, outcomes=True) as run:
        settings = run.params.blimp
        sets = {
            dataset: gather_pairs(files, settings.limit)
            for dataset, files in sets_of(KIND, run.params, run.layout)
        }
        for model, seed in scorers(run.params, name):
            evaluate(
                run, model, EvaluatedSystem(name, model.device, model.scale, seed), sets, settings.unknown
            )


if __name__ == "__main__":
    main(blimp)
