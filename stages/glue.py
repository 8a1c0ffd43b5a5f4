"""glue@<model>: fine-tuning on every set of GLUE, the best choice of each grid on dev."""

from __future__ import annotations

from functools import partial
from typing import Any

from pipeline.decisive_settings import decisive_settings
from pipeline.evaluation import evaluation
from pipeline.run import hardware, main
from pipeline.task_sets import published_sets
from pipeline.trained_models import trained_models
from quartet.files import atomic_dir, write_json
from quartet.tasks.glue.data import KIND, glue_set
from quartet.tasks.glue.evaluation import evaluate, summary, write_submission
from quartet.training.tuned_weights import KeptTunings


def glue(name: str) -> None:
    """Write the rows of the model `name`, and its predictions of test sets into artifacts/<experiment>/glue/<name>."""
    with evaluation("glue", name, outcomes=True) as run:
        params, layout = run.params, run.layout
        decisive = decisive_settings(params, "glue", name)
        settings = params.glue
        sets = {
            dataset: glue_set(form, splits, settings.limit, f"params.yaml: tasks.{dataset}.files")
            for dataset, form, splits in published_sets(KIND, params, layout)
        }
        with (
            KeptTunings(partial(layout.resume, f"glue/{name}"), decisive) as kept,
            atomic_dir(layout.glue(name)) as output,
        ):
            for model in trained_models(params, name):
                folder = output if model.seed == params.seeds[0] else output / f"seed-{model.seed}"
                summaries: dict[str, Any] = {}
                for dataset, examples in sets.items():
                    found = evaluate(run, model, dataset, examples, settings, kept, hardware())
                    summaries[dataset] = summary(examples, found)
                    write_submission(folder, examples, found)
                    run.stage.stopwatch.add(
                        f"tune/{dataset}/seed-{model.seed}",
                        found.seconds,
                        device=" and ".join(found.devices),
                        trainings=len(settings.grid(dataset).plans(settings.own_schedule))
                        * len(settings.seeds),
                    )
                write_json(folder / "summary.json", summaries)
            run.stage.check()


if __name__ == "__main__":
    main(glue)
