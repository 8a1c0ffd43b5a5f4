"""A model's fine-tuning to find answers in paragraphs, and how many are found (Segatron paper, Table 6)."""

from __future__ import annotations

from pathlib import Path

from quartet.config.finetuning import QuestionPositions, SquadSettings
from quartet.results import EvaluatedSystem
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.questions import QuestionSet, file_stem, readings
from quartet.tasks.squad import tuning
from quartet.tasks.squad.data import SpanQuestion
from quartet.tasks.squad.metrics import SpanPrediction, add_rows, write_predictions
from quartet.tasks.squad.tuning import SpanModel, SpanReading, answer, question_windows
from quartet.text.segmenter import Segmenter
from quartet.training.tuned_weights import KeptTunings, tuning_name
from quartet.training.tuning import TuningSettings, load_or_tune


def evaluate(
    run: Evaluation,
    model: LanguageModel,
    data: QuestionSet[SpanQuestion],
    settings: SquadSettings,
    segmenter: Segmenter,
    kept: KeptTunings,
    folder: Path,
) -> None:
    """Add the rows of a model on every split of a set, in every reading, and write its predictions.

    Args:
        segmenter: finds the sentences of contexts, for models that see segments.
        kept: the tuned weights.
        folder: of the predictions' files.
    """
    for reading, positions in readings(settings, model.card.model, order_differs=False):
        scale = f"{model.scale}, {data.scale}"
        system = EvaluatedSystem(model.name, model.device, scale, model.seed, reading)
        predicted = tune_and_answer(run, model, data, settings, segmenter, positions, kept)
        for split, questions in data.judged.items():
            add_rows(run, system, data.name, split, questions, predicted[split])
            stem = file_stem(data, split, reading, model.seed)
            write_predictions(folder, stem, predicted[split], version_2=data.format == "squad2")


def tune_and_answer(
    run: Evaluation,
    model: LanguageModel,
    data: QuestionSet[SpanQuestion],
    settings: SquadSettings,
    segmenter: Segmenter,
    positions: QuestionPositions,
    kept: KeptTunings,
) -> dict[str, list[SpanPrediction]]:
    """What a copy of the model that was tuned on the set says on each split."""
    reading = SpanReading(
        max_length=settings.max_length,
        stride=settings.stride,
        max_question=settings.max_question,
        max_answer=settings.max_answer,
        one_paragraph=positions == "released",
    )
    key = tuning_name(
        tuning.__name__,
        data.train,
        *(model.fingerprint, model.seed, positions, segmenter.provenance),
    )
    weights = kept.path(model.seed, f"{key}.safetensors")
    windows, cut = question_windows(model, data.train, reading, segmenter.spans)
    run.say(
        f"{data.name}: {len(data.train):,} questions in {len(windows):,} windows; {cut.questions:,} questions lost "
        f"their end, {cut.lost:,} answers have no token, {cut.split:,} are whole in no window"
    )
    with run.bar(f"{model.name} on {data.name}: steps of tuning") as shown:
        tuned = TuningSettings.of(settings, model.seed)
        reader = load_or_tune(lambda: SpanModel(model), windows, tuned, weights, shown.set)
    found = {}
    for split, questions in data.judged.items():
        asked, _ = question_windows(model, questions, reading, segmenter.spans)
        with run.bar(f"{model.name} on {data.name} {split}: windows", len(asked)) as shown:
            found[split] = answer(reader, questions, asked, reading, shown.advance)
    return found
