"""glue@<model>: fine-tuning on every set of GLUE, the best choice of each grid on dev."""

from __future__ import annotations

from typing import Any

from pipeline.glue_rows import rows_of_search, summary, write_submission
from pipeline.layout import Layout
from pipeline.run import hardware, main
from pipeline.settings import load
from pipeline.task_sets import sets_of
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import stage_run
from pipeline.trained_models import trained_models
from quartet.files import atomic_dir, keep_only, write_json
from quartet.results import Result, write_results
from quartet.tasks.glue.data import glue_set
from quartet.training.glue_search import fingerprint, search


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


if __name__ == "__main__":
    main(glue)
