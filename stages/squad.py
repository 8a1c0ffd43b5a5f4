"""squad@<model>: fine-tuning to find answers in paragraphs, and how many are found."""

from __future__ import annotations

from functools import partial

from pipeline.decisive_settings import decisive_settings
from pipeline.evaluation import evaluation
from pipeline.fetch import punkt_choice
from pipeline.run import main
from pipeline.task_sets import published_sets
from pipeline.trained_models import trained_models
from quartet.files import atomic_dir
from quartet.tasks.questions import squad_sets
from quartet.tasks.squad.data import KIND
from quartet.tasks.squad.evaluation import evaluate
from quartet.training.tuned_weights import KeptTunings


def squad(name: str) -> None:
    """Write the rows of the model `name` on every set, and its predictions into artifacts/<experiment>/predictions."""
    with evaluation("squad", name, outcomes=True) as run:
        params, layout = run.params, run.layout
        settings = decisive_settings(params, "squad", name)
        with (
            KeptTunings(partial(layout.resume, f"squad/{name}"), settings) as kept,
            atomic_dir(layout.predictions("squad", name)) as folder,
        ):
            for data in squad_sets(run, published_sets(KIND, params, layout), params.squad):
                segmenter = data.segmenter(punkt_choice(params, layout), params.segmentation.curated)
                for model in trained_models(params, name):
                    evaluate(run, model, data, params.squad, segmenter, kept, folder)
            run.stage.check()


if __name__ == "__main__":
    main(squad)
