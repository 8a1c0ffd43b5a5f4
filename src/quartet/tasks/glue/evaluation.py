"""A model's fine-tuning on a set of GLUE: the best choice of its grid on dev, and what it predicts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from quartet.config.finetuning import GlueSettings
from quartet.results import EvaluatedSystem, Measure
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.glue.data import TASKS, GlueSet
from quartet.tasks.glue.metrics import (
    file_name,
    glue_measures,
    gold_of,
    keep_outcomes,
    values,
    write_predictions,
)
from quartet.tasks.glue.search import GridSearchResult, fingerprint, search
from quartet.training.tuned_weights import KeptTunings


def evaluate(
    run: Evaluation,
    model: LanguageModel,
    dataset: str,
    examples: GlueSet,
    settings: GlueSettings,
    kept: KeptTunings,
    hardware: str,
) -> GridSearchResult:
    """Add the rows of a model on a set, and return what the search found.

    Args:
        kept: the trainings.
        hardware: what computes, in words.
    """
    grid = settings.grid(dataset)
    keep = kept.path(model.seed, dataset, fingerprint(model, examples))
    total = len(grid.plans(settings.own_schedule)) * len(settings.seeds)
    with run.bar(f"{model.name} on {dataset}: trainings", total) as shown:
        found = search(model, examples, grid, settings, keep, shown.advance, hardware)
    add_rows(run, model, dataset, examples, found)
    return found


def add_rows(
    run: Evaluation, model: LanguageModel, dataset: str, examples: GlueSet, found: GridSearchResult
) -> None:
    """Add the rows of one model on one set: of each labelled split the metrics of the median seed.

    With several seeds ``<metric>-lowest`` and ``<metric>-highest`` follow, whose n counts seeds; then ``cut``, the
    inputs that lost tokens, and ``in-train``, those that are training examples too; and for the split of the choice
    the chosen ``batch-size``, ``learning-rate`` and ``epochs``, whose n counts the choices that were tried.
    """
    task = TASKS[examples.format]
    scale = f"{model.scale}, fine-tuned on {examples.training}"
    system = EvaluatedSystem(model.name, model.device, scale, model.seed)
    for split, part in examples.others.items():
        if not part[0].labelled:
            continue
        gold = gold_of(task, part)
        at_seeds = [values(task, gold, tuned[split]) for tuned in found.predictions.values()]
        predicted = found.predictions[found.middle][split]
        measures = glue_measures(task, gold, predicted, run.samples, model.seed)
        keep_outcomes(run, measures.keys(), gold, predicted, system, dataset, split)
        for metric, measure in measures.items():
            run.say(f"{model.name} on {dataset} {split}: {metric} {100 * measure.value:.1f}")
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
        run.add(measures, system, dataset, split)


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
