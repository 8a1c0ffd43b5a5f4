"""BLiMP: the choices of anything that scores texts, by the sum of the log-probabilities and by their mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from quartet.results import EvaluatedSystem
from quartet.scoring.engine import TextScorer, score_all
from quartet.tasks.blimp.data import MinimalPair
from quartet.tasks.blimp.metrics import blimp_measures, choices
from quartet.tasks.evaluation import Evaluation


def evaluate(
    run: Evaluation, model: TextScorer, system: EvaluatedSystem, sets: Mapping[str, Sequence[MinimalPair]]
) -> None:
    """Add the rows of a model on every set: of the whole, the fields, the phenomena and the paradigms.

    Of the reading ``mean``, the mean log-probability of the tokens, there are only the whole and the fields.
    """
    for dataset, pairs in sets.items():
        with run.bar(f"{system.model} on {dataset}: sentences") as shown:
            texts = [*(pair.good for pair in pairs), *(pair.bad for pair in pairs)]
            values = score_all(model, texts, progress=shown.set)
        good, bad = values[: len(pairs)], values[len(pairs) :]
        for reading, mean in (("", False), ("mean", True)):
            read = dataclasses.replace(system, reading=reading)
            found = blimp_measures(pairs, choices(good, bad, mean), run.samples, run.seed_of(system))
            for part, measures in found.items():
                if not mean or not part or part.startswith("field/"):
                    run.add(measures, read, f"{dataset}/{part}" if part else dataset)
            run.say(f"{read.name} on {dataset}: accuracy {100 * found['']['accuracy'].value:.1f} %")
