"""race@<model>: fine-tuning to choose among four answers to questions about passages, and how often that is right."""

from __future__ import annotations

from functools import partial

from pipeline.decisive_settings import decisive_settings
from pipeline.evaluation import evaluation
from pipeline.fetch import punkt_choice
from pipeline.run import main
from pipeline.task_sets import published_sets
from pipeline.trained_models import trained_models
from quartet.files import atomic_dir
from quartet.tasks.questions import race_sets
from quartet.tasks.race.data import KIND
from quartet.tasks.race.evaluation import evaluate
from quartet.training.tuned_weights import KeptTunings


def race(name: str) -> None:
    """Write the rows of the model `name` on every set, and its choices into artifacts/<experiment>/predictions."""
    with evaluation("race", name, outcomes=True) as run:
        params, layout = run.params, run.layout
        settings = decisive_settings(params, "race", name)
        with (
            KeptTunings(partial(layout.resume, f"race/{name}"), settings) as kept,
            atomic_dir(layout.predictions("race", name)) as folder,
        ):
            for data in race_sets(run, published_sets(KIND, params, layout), params.race):
                segmenter = data.segmenter(punkt_choice(params, layout), params.segmentation.curated)
                for model in trained_models(params, name):
                    evaluate(run, model, data, params.race, segmenter, kept, folder)
            run.stage.check()


if __name__ == "__main__":
    main(race)
