"""sts@<model>: semantic similarity without training for it, by every way of making a text's vector."""

from __future__ import annotations

from pipeline.evaluation import evaluation
from pipeline.run import main
from pipeline.scorers import scorers
from pipeline.task_sets import published_sets, sets_of
from quartet.errors import InputError
from quartet.ngram.score import NgramLM
from quartet.results import EvaluatedSystem
from quartet.tasks.sts.data import DOCUMENTS, KIND
from quartet.tasks.sts.evaluation import evaluate, judged_sets


def sts(name: str) -> None:
    """Write the rows of the model `name` on every set."""
    with evaluation("sts", name, outcomes=True) as run:
        params, layout = run.params, run.layout
        sets = judged_sets(sets_of(DOCUMENTS, params, layout), published_sets(KIND, params, layout))
        for model, _ in scorers(params, name):
            if isinstance(model, NgramLM):
                raise InputError(f"params.yaml: evaluate.sts: {name}", "an n-gram model has no vectors")
            seed = None if name in params.pretrained else model.seed  # trained with none of the experiment's
            evaluate(run, model, EvaluatedSystem(name, model.device, model.scale, seed), sets)


if __name__ == "__main__":
    main(sts)
