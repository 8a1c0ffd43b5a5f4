"""Copies of a model that are tuned on questions about passages, and what they answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.fetch import punkt_choice
from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.questions import AnyQuestion, ChosenOptions, QuestionSet
from pipeline.tracking.progress import bar, say
from quartet.config.finetuning import QuestionPositions, QuestionSettings
from quartet.config.model import ModelConfig
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.race.data import ChoiceQuestion
from quartet.tasks.squad.data import SpanQuestion
from quartet.tasks.squad.metrics import SpanPrediction
from quartet.text.segmenter import Segmenter, load_segmenter
from quartet.training import multiple_choice, span_qa
from quartet.training.multiple_choice import choose, read_choices, tuned_chooser
from quartet.training.span_qa import SpanReading, answer, question_windows, tuned_reader
from quartet.training.tuned_weights import tuning_name
from quartet.training.tuning import TuningSettings

#: By split, the questions and what is said of them.
PredictionsBySplit = dict[str, tuple[list[SpanQuestion], list[SpanPrediction]]]


def tune_and_answer(
    params: Params,
    layout: Layout,
    model: LanguageModel,
    data: QuestionSet[SpanQuestion],
    segmenter: Segmenter,
    positions: str,
) -> tuple[PredictionsBySplit, Path]:
    """What a copy of the model that was tuned on the set says on each split, and where its weights are kept."""
    settings = params.squad
    reading = SpanReading(
        max_length=settings.max_length,
        stride=settings.stride,
        max_question=settings.max_question,
        max_answer=settings.max_answer,
        one_paragraph=positions == "released",
    )
    key = _name(span_qa.__name__, settings, data.train, model, segmenter, positions)
    weights = layout.resume(f"squad/{model.name}", model.seed) / f"{key}.safetensors"
    windows, cut = question_windows(model, data.train, reading, segmenter.spans)
    say(
        f"{data.name}: {len(data.train):,} questions in {len(windows):,} windows; {cut.questions:,} questions lost "
        f"their end, {cut.lost:,} answers have no token, {cut.split:,} are whole in no window"
    )
    with bar(f"{model.name} on {data.name}: steps of tuning") as shown:
        reader = tuned_reader(model, windows, TuningSettings.of(settings, model.seed), weights, shown.set)
    found: PredictionsBySplit = {}
    for split, questions in data.judged.items():
        asked, _ = question_windows(model, questions, reading, segmenter.spans)
        with bar(f"{model.name} on {data.name} {split}: windows", len(asked)) as shown:
            found[split] = (questions, answer(reader, questions, asked, reading, shown.advance))
    return found, weights


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
    key = _name(multiple_choice.__name__, settings, data.train, model, segmenter, positions)
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


def readings(
    settings: QuestionSettings, model: ModelConfig, order_differs: bool
) -> Iterator[tuple[str, QuestionPositions]]:
    """Yield (the name of the reading, how questions are read) of each training.

    Args:
        order_differs: the two readings differ for every model; else only for those that see segments, and another
            training would be the same.
    """
    aware = bool({"sentence", "paragraph"} & set(model.positions))
    for number, positions in enumerate(settings.positions):
        if number == 0 or aware or order_differs:
            yield ("" if positions == "paper" else positions), positions


def punkt(params: Params, train: Sequence[AnyQuestion]) -> Segmenter:
    """What finds the sentences of English passages; where Punkt is to be trained, on those of the questions."""

    def passages() -> Iterator[str]:
        seen = dict.fromkeys(
            question.context if isinstance(question, SpanQuestion) else question.passage for question in train
        )
        return iter(seen)

    choice = punkt_choice(params, Layout(params.experiment))
    return load_segmenter(choice, "english", passages, curated=params.segmentation.curated)


def _name(
    module: str,
    settings: QuestionSettings,
    train: Sequence[AnyQuestion],
    model: LanguageModel,
    segmenter: Segmenter,
    positions: str,
) -> str:
    """A name for the weights that a module tunes; an answer's length matters after the training."""
    decisive = dataclasses.asdict(settings)
    for idle in ("positions", "train_limit", "judged_limit", "held_out", "max_answer"):
        decisive.pop(idle, None)
    return tuning_name(
        module, decisive, train, model.fingerprint, model.seed, positions, segmenter.provenance
    )
