"""finetune@<model>: cross-validated fine-tuning on every labelled set."""

from __future__ import annotations

from pipeline.evaluation import evaluation
from pipeline.run import main
from pipeline.task_sets import sets_of
from pipeline.trained_models import trained_models
from quartet.tasks.classification.data import KIND
from quartet.tasks.classification.evaluation import evaluate


def finetune(name: str) -> None:
    """Write the rows of the model `name` on every set."""
    with evaluation("finetune", name, table="classification", outcomes=True) as run:
        sets = list(sets_of(KIND, run.params, run.layout))
        for model in trained_models(run.params, name):
            evaluate(run, model, sets, run.params.finetune)


if __name__ == "__main__":
    main(finetune)
