"""A model's fine-tuning to choose among four answers to questions about passages, and how often that is right."""

from __future__ import annotations

from pathlib import Path

from quartet.config.finetuning import QuestionPositions, RaceSettings
from quartet.results import EvaluatedSystem
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.questions import QuestionSet, file_stem, readings
from quartet.tasks.race import tuning
from quartet.tasks.race.data import ChoiceQuestion
from quartet.tasks.race.metrics import ChosenOptions, add_rows, write_choices
from quartet.tasks.race.tuning import MultipleChoiceModel, choose, read_choices
from quartet.text.segmenter import Segmenter
from quartet.training.tuned_weights import KeptTunings, tuning_name
from quartet.training.tuning import TuningSettings, load_or_tune


def evaluate(
    run: Evaluation,
    model: LanguageModel,
    data: QuestionSet[ChoiceQuestion],
    settings: RaceSettings,
    segmenter: Segmenter,
    kept: KeptTunings,
    folder: Path,
) -> None:
    """Add the rows of a model on every split of a set, in every reading, and write its choices.

    Args:
        segmenter: finds the sentences of passages, for models that see segments.
        kept: the tuned weights.
        folder: of the choices' files.
    """
    for reading, positions in readings(settings, model.card.model, order_differs=True):
        scale = f"{model.scale}, {data.scale}"
        system = EvaluatedSystem(model.name, model.device, scale, model.seed, reading)
        for chosen in tune_and_choose(run, model, data, settings, segmenter, positions, kept):
            add_rows(run, system, data.name, chosen)
            stem = file_stem(data, chosen.split, reading, model.seed)
            write_choices(folder / f"{stem}.json", chosen.questions, chosen.options)


def tune_and_choose(
    run: Evaluation,
    model: LanguageModel,
    data: QuestionSet[ChoiceQuestion],
    settings: RaceSettings,
    segmenter: Segmenter,
    positions: QuestionPositions,
    kept: KeptTunings,
) -> list[ChosenOptions]:
    """The choices on each split of a copy of the model that was tuned on the set."""
    key = tuning_name(
        tuning.__name__,
        data.train,
        *(model.fingerprint, model.seed, positions, segmenter.provenance),
    )
    weights = kept.path(model.seed, f"{key}.safetensors")
    passage_first = positions == "released"
    train, cut = read_choices(model, data.train, settings.max_length, segmenter.spans, passage_first)
    run.say(f"{data.name}: {len(train):,} questions; {cut.questions:,} passages lost their end")
    with run.bar(f"{model.name} on {data.name}: steps of tuning") as shown:
        tuned = TuningSettings.of(settings, model.seed)
        chooser = load_or_tune(lambda: MultipleChoiceModel(model), train, tuned, weights, shown.set)
    found = []
    for split, questions in data.judged.items():
        read, cut = read_choices(model, questions, settings.max_length, segmenter.spans, passage_first)
        with run.bar(f"{model.name} on {data.name} {split}: questions", len(read)) as shown:
            options = choose(chooser, read, shown.advance)
        found.append(ChosenOptions(split, questions, options, 1 - cut.tokens / max(1, cut.of)))
    return found
