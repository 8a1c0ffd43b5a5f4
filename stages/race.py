"""race@<model>: fine-tuning to choose among four answers to questions about passages, and how often that is right."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from pipeline.fetch import punkt_choice
from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.questions import ChosenOptions, QuestionSet, passages, race_rows, race_sets, readings
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import stage_run
from pipeline.trained_models import trained_models
from quartet.files import atomic_dir, keep_only
from quartet.results import Result, write_results
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.race.data import ChoiceQuestion
from quartet.tasks.race.metrics import write_choices
from quartet.text.segmenter import Segmenter, load_segmenter
from quartet.training import multiple_choice
from quartet.training.multiple_choice import choose, read_choices, tuned_chooser
from quartet.training.tuned_weights import tuning_name
from quartet.training.tuning import TuningSettings


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
                segmenter = load_segmenter(
                    punkt_choice(params, layout),
                    "english",
                    partial(passages, data.train),
                    curated=params.segmentation.curated,
                )
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


def tune_and_choose(
    params: Params,
    layout: Layout,
    model: LanguageModel,
    data: QuestionSet[ChoiceQuestion],
    segmenter: Segmenter,
    positions: str,
) -> tuple[list[ChosenOptions], Path]:
    """The choices on each split of a copy of the model that was tuned on the set, and where its weights are kept."""
    settings = params.race
    key = tuning_name(
        multiple_choice.__name__,
        settings.decisive,
        data.train,
        *(model.fingerprint, model.seed, positions, segmenter.provenance),
    )
    weights = layout.resume(f"race/{model.name}", model.seed) / f"{key}.safetensors"
    passage_first = positions == "released"
    train, cut = read_choices(model, data.train, settings.max_length, segmenter.spans, passage_first)
    say(f"{data.name}: {len(train):,} questions; {cut.questions:,} passages lost their end")
    with bar(f"{model.name} on {data.name}: steps of tuning") as shown:
        chooser = tuned_chooser(model, train, TuningSettings.of(settings, model.seed), weights, shown.set)
    found = []
    for split, questions in data.judged.items():
        read, cut = read_choices(model, questions, settings.max_length, segmenter.spans, passage_first)
        with bar(f"{model.name} on {data.name} {split}: questions", len(read)) as shown:
            options = choose(chooser, read, shown.advance)
        found.append(ChosenOptions(split, questions, options, 1 - cut.tokens / max(1, cut.of)))
    return found, weights


if __name__ == "__main__":
    main(race)
