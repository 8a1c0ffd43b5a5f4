"""race@<model>: fine-tuning to choose among four answers to questions about passages, and how often that is right."""

from __future__ import annotations

from pathlib import Path

from pipeline.layout import Layout
from pipeline.question_tuning import punkt, readings, tune_and_choose
from pipeline.questions import race_rows, race_sets
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.stage import stage_run
from pipeline.trained_models import trained_models
from quartet.files import atomic_dir, keep_only
from quartet.results import Result, write_results
from quartet.tasks.race.metrics import write_choices


def race(name: str) -> None:
    """Write the rows of the model `name` on every set, and its choices into artifacts/<experiment>/predictions."""
    params = load()
    layout = Layout(params.experiment)
    rows: list[Result] = []
    kept: list[Path] = []
    output = layout.predictions("race", name)
    with stage_run(params, "race", name):
        with atomic_dir(output) as folder:
            for data in race_sets(params, layout):
                segmenter = punkt(params, data.train)
                for model in trained_models(params, name):
                    for reading, positions in readings(params.race, model.card.model, order_differs=True):
                        found, weights = tune_and_choose(params, layout, model, data, segmenter, positions)
                        kept.append(weights)
                        for one in found:
                            rows += race_rows(
                                params,
                                data.name,
                                one,
                                model=name,
                                reading=reading,
                                device=model.device,
                                scale=f"{model.scale}, {data.scale}",
                                seed=model.seed,
                            )
                            stem = (
                                f"{data.name}.{one.split}{f'.{reading}' if reading else ''}.seed-{model.seed}"
                            )
                            write_choices(folder / f"{stem}.json", one.questions, one.options)
        write_results(layout.rows("race", name), rows)
    keep_only(kept)


if __name__ == "__main__":
    main(race)
