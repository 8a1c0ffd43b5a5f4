"""squad@<model>: fine-tuning to find answers in paragraphs, and how many are found."""

from __future__ import annotations

from pathlib import Path

from pipeline.layout import Layout
from pipeline.question_tuning import punkt, readings, tune_and_answer
from pipeline.questions import squad_sets
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.progress import say
from pipeline.tracking.stage import stage_run
from pipeline.trained_models import trained_models
from quartet.files import atomic_dir, keep_only
from quartet.results import Result, rows_of, system_name, write_results
from quartet.tasks.squad.metrics import squad_measures, write_predictions


def squad(name: str) -> None:
    """Write the rows of the model `name` on every set, and its predictions into artifacts/<experiment>/predictions."""
    params = load()
    layout = Layout(params.experiment)
    rows: list[Result] = []
    kept: list[Path] = []
    output = layout.predictions("squad", name)
    with stage_run(params, "squad", name):
        with atomic_dir(output) as folder:
            for data in squad_sets(params, layout):
                segmenter = punkt(params, data.train)
                second = params.tasks[data.name].format == "squad2"
                for model in trained_models(params, name):
                    for reading, positions in readings(params.squad, model.card.model, order_differs=False):
                        found, weights = tune_and_answer(params, layout, model, data, segmenter, positions)
                        kept.append(weights)
                        for split, (questions, predictions) in found.items():
                            measures = squad_measures(questions, predictions, params.bootstrap, model.seed)
                            rows += rows_of(
                                measures,
                                experiment=params.experiment,
                                table="squad",
                                model=name,
                                reading=reading,
                                dataset=data.name,
                                split=split,
                                device=model.device,
                                scale=f"{model.scale}, {data.scale}",
                                seed=model.seed,
                            )
                            stem = f"{data.name}.{split}{f'.{reading}' if reading else ''}.seed-{model.seed}"
                            write_predictions(folder, stem, predictions, second)
                            shown = f"{system_name(name, reading)} on {data.name} {split}"
                            say(f"{shown}: F1 {100 * measures['f1'].value:.1f} %")
        write_results(layout.rows("squad", name), rows)
    keep_only(kept)


if __name__ == "__main__":
    main(squad)
