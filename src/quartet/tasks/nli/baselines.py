"""What models are compared with on entailment: GLUE's majority label and bag of words."""

from __future__ import annotations

from collections.abc import Sequence

from quartet.results import EvaluatedSystem
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.glue.baselines import PREDICTORS
from quartet.tasks.glue.data import TASKS, GlueExample
from quartet.tasks.nli.data import NliPair
from quartet.tasks.nli.protocol import NliSets, judge


def predict(name: str, train: Sequence[NliPair], pairs: Sequence[NliPair]) -> list[str]:
    """The labels that a system without a language model gives: one of :data:`quartet.tasks.glue.baselines.PREDICTORS`.

    Args:
        train: with the three labels.
    """
    task = TASKS["mnli"]
    fitted = PREDICTORS[name](task, _as_glue(train), _as_glue(pairs))
    return [task.labels[int(index)] for index in fitted]


def _as_glue(pairs: Sequence[NliPair]) -> list[GlueExample]:
    return [GlueExample(index, pair.premise, pair.hypothesis, pair.label) for index, pair in enumerate(pairs)]


def baselines(run: Evaluation, sets: NliSets) -> None:
    """Add the rows of both on every judged split, trained on what the models are tuned on; nothing without that."""
    if not sets.train:
        return
    for name in PREDICTORS:
        system = EvaluatedSystem(name, "cpu", f"trained on {sets.scale}")
        labels = predict(name, sets.train, [pair for _, _, pairs in sets.judged for pair in pairs])
        for dataset, split, pairs in sets.judged:
            judge(run, system, dataset, split, pairs, labels[: len(pairs)])
            labels = labels[len(pairs) :]
