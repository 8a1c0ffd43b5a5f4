"""glue@<model>: fine-tuning on every set of GLUE, the best choice of each grid on dev."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.run import hardware, main
from pipeline.settings import load
from pipeline.task_sets import sets_of
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import stage_run
from pipeline.trained_models import trained_models
from quartet.files import atomic_dir, keep_only, write_json
from quartet.results import Measure, Result, rows_of, write_results
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.glue.data import TASKS, GlueSet, glue_set
from quartet.tasks.glue.metrics import file_name, glue_measures, gold_of, values, write_predictions
from quartet.training.glue_search import GridSearchResult, fingerprint, search


def glue(name: str) -> None:
    """Write the rows of the model `name`, and its predictions of test sets into artifacts/<experiment>/glue/<name>."""
    params = load()
    layout = Layout(params.experiment)
    rows: list[Result] = []
    keeps = []
    with stage_run(params, "glue", name) as run:
        sets = {}
        for dataset, splits in sets_of("glue", params, layout):
            form, place = params.tasks[dataset].format, f"params.yaml: tasks.{dataset}.files"
            assert form is not None, "sets_of found the reader by it"
            sets[dataset] = glue_set(form, splits, params.glue.limit, place)
        with atomic_dir(layout.glue(name)) as output:
            for model in trained_models(params, name):
                folder = output if model.seed == params.seeds[0] else output / f"seed-{model.seed}"
                summaries: dict[str, Any] = {}
                for dataset, examples in sets.items():
                    grid, protocol = params.glue.grid(dataset), params.glue
                    keep = layout.resume(f"glue/{name}", model.seed) / dataset
                    keep /= fingerprint(model, examples, protocol)
                    total = len(grid.plans(protocol.own_schedule)) * len(protocol.seeds)
                    with bar(f"{name} on {dataset}: trainings", total) as shown:
                        found = search(model, examples, grid, protocol, keep, shown.advance, hardware())
                    keeps.append(keep)
                    measured = list(rows_of_search(params, model, dataset, examples, found))
                    rows += measured
                    summaries[dataset] = summary(examples, found)
                    write_submission(folder, examples, found)
                    run.stopwatch.add(
                        f"tune/{dataset}/seed-{model.seed}",
                        found.seconds,
                        device=" and ".join(found.devices),
                        trainings=total,
                    )
                    first = measured[0]
                    say(f"{name} on {dataset}: {first.metric} {100 * first.value:.1f} ({first.split})")
                write_json(folder / "summary.json", summaries)
        write_results(layout.rows("glue", name), rows)
    keep_only(keeps)


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
            scale=f"{model.scale}, fine-tuned on {examples.training}",
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


if __name__ == "__main__":
    main(glue)
