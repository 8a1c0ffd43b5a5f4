"""The rows of GLUE: of the two baselines, and what a search leaves, with the leaderboard's files and its summary."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.params import Params
from quartet.results import Measure, Result, rows_of
from quartet.tasks.glue.data import TASKS, GlueSet
from quartet.tasks.glue.metrics import BASELINES, file_name, glue_measures, gold_of, values, write_predictions

if TYPE_CHECKING:  # the baselines train nothing
    from quartet.scoring.language_model import LanguageModel
    from quartet.training.glue_search import GridSearchResult


def baseline_rows(params: Params, dataset: str, examples: GlueSet) -> Iterator[Result]:
    """Yield the rows of the majority label and of the bag of words, trained on what the models are fine-tuned on."""
    task = TASKS[examples.format]
    for system, fit_predict in BASELINES.items():
        for split, part in examples.others.items():
            if part[0].labelled:
                predicted = fit_predict(task, examples.train, part)
                yield from rows_of(
                    glue_measures(task, gold_of(task, part), predicted, params.bootstrap, params.seeds[0]),
                    experiment=params.experiment,
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


def rows_of_search(
    params: Params, model: LanguageModel, dataset: str, examples: GlueSet, found: GridSearchResult
) -> Iterator[Result]:
    """Yield the rows of one model on one set: of each labelled split the metrics of the median seed.

    With several seeds ``<metric>-lowest`` and ``<metric>-highest`` follow, whose n counts seeds; then ``cut``, the
    inputs that lost tokens, and ``in-train``, those that are training examples too; and for the split of the choice
    the chosen ``batch-size``, ``learning-rate`` and ``epochs``, whose n counts the choices that were tried.
    """
    task = TASKS[examples.format]
    for split, part in examples.others.items():
        if not part[0].labelled:
            continue
        gold = gold_of(task, part)
        at_seeds = [values(task, gold, predicted[split]) for predicted in found.predictions.values()]
        measures = glue_measures(
            task, gold, found.predictions[found.middle][split], params.bootstrap, model.seed
        )
        if len(at_seeds) > 1:
            for metric in list(measures):
                each = [one[metric] for one in at_seeds if math.isfinite(one[metric])]
                measures[f"{metric}-lowest"] = Measure(min(each), len(each))
                measures[f"{metric}-highest"] = Measure(max(each), len(each))
        measures["cut"] = Measure(found.cut[split], len(part))
        measures["in-train"] = Measure(examples.repeated(split), len(part))
        if split == examples.dev:
            tried = len(found.scores)
            measures["batch-size"] = Measure(found.point.batch_size, tried)
            measures["learning-rate"] = Measure(found.point.learning_rate, tried)
            measures["epochs"] = Measure(found.point.epochs, tried)
        yield from rows_of(
            measures,
            experiment=params.experiment,
            table="glue",
            model=model.name,
            dataset=dataset,
            split=split,
            device=model.device,
            scale=f"{model.scale}, fine-tuned on {training_of(examples)}",
            seed=model.seed,
        )


def write_submission(folder: Path, examples: GlueSet, found: GridSearchResult) -> list[Path]:
    """Write the median seed's predictions of the leaderboard's splits into `folder`; the files that were made."""
    written = []
    for split, part in examples.others.items():
        name = file_name(examples.format, split)
        if name is not None:
            predicted = found.predictions[found.middle][split]
            write_predictions(folder / name, examples.format, part, predicted)
            written.append(folder / name)
    return written


def summary(examples: GlueSet, found: GridSearchResult) -> dict[str, Any]:
    """All choices with the mean of the task's metrics on dev by seed (null: undefined), and which was taken."""
    return {
        "chosen": found.point._asdict(),
        "chosen_on": examples.dev,
        "median_seed": found.middle,
        "train": len(examples.train),
        "available": examples.available,
        "cut": found.cut,
        "tried": [
            {
                **point._asdict(),
                "scores": {
                    str(seed): score if math.isfinite(score) else None for seed, score in scores.items()
                },
            }
            for point, scores in found.scores.items()
        ],
    }
