"""wordsim@<model>: word similarity of the token table."""

from __future__ import annotations

from pipeline.evaluation import evaluation
from pipeline.run import main
from pipeline.task_sets import sets_of
from pipeline.trained_models import trained_models
from quartet.results import EvaluatedSystem
from quartet.tasks.wordsim.data import KIND
from quartet.tasks.wordsim.evaluation import evaluate


def wordsim(name: str) -> None:
    """Write the rows of the model `name` on every set."""
    with evaluation("wordsim", name, outcomes=True) as run:
        sets = list(sets_of(KIND, run.params, run.layout))
        for model in trained_models(run.params, name):
            system = EvaluatedSystem(name, model.device, model.scale, model.seed)
            tokenizer = model.tokenizer
            evaluate(run, system, sets, tokenizer.encode, model.embedding_table, tokenizer.unk_id)


if __name__ == "__main__":
    main(wordsim)
