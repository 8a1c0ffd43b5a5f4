"""squad@<model>: fine-tuning to find answers in paragraphs, and how many are found."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from pipeline.fetch import punkt_choice
from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.questions import QuestionSet, passages, readings, squad_sets
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import stage_run
from pipeline.trained_models import trained_models
from quartet.files import atomic_dir, keep_only
from quartet.results import Result, rows_of, system_name, write_results
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.squad.data import SpanQuestion
from quartet.tasks.squad.metrics import SpanPrediction, squad_measures, write_predictions
from quartet.text.segmenter import Segmenter, load_segmenter
from quartet.training import span_qa
from quartet.training.span_qa import SpanReading, answer, question_windows, tuned_reader
from quartet.training.tuned_weights import tuning_name
from quartet.training.tuning import TuningSettings

#: By split, the questions and what is said of them.
PredictionsBySplit = dict[str, tuple[list[SpanQuestion], list[SpanPrediction]]]


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
                segmenter = load_segmenter(
                    punkt_choice(params, layout),
                    "english",
                    partial(passages, data.train),
                    curated=params.segmentation.curated,
                )
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
    key = tuning_name(
        span_qa.__name__,
        settings.decisive,
        data.train,
        *(model.fingerprint, model.seed, positions, segmenter.provenance),
    )
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


if __name__ == "__main__":
    main(squad)
