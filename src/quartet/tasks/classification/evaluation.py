"""A model's fine-tuning on labelled texts, cross-validated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from quartet.config.finetuning import FinetuneSettings
from quartet.results import EvaluatedSystem
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.classification.data import LabelledText
from quartet.tasks.classification.protocol import FitPredict, judge
from quartet.tasks.classification.tuning import fit_predict
from quartet.tasks.evaluation import Evaluation
from quartet.training.tuning import TuningSettings


def evaluate(
    run: Evaluation,
    model: LanguageModel,
    sets: Iterable[tuple[str, Sequence[LabelledText]]],
    settings: FinetuneSettings,
) -> None:
    """Add the rows of a model on every set."""
    system = EvaluatedSystem(model.name, model.device, model.scale, model.seed)
    for dataset, examples in sets:
        labels = sorted({example.label for example in examples})
        with run.bar(f"{model.name} on {dataset}: folds", settings.folds) as shown:
            tuned = tuner(model, settings, labels, shown.advance)
            judge(run, system, dataset, examples, tuned, settings.folds)


def tuner(
    model: LanguageModel, settings: FinetuneSettings, labels: Sequence[str], advance: Callable[[], None]
) -> FitPredict:
    """Fine-tuning of the model as the callable that cross-validation wants; `advance` is called after each fold."""
    tuning = TuningSettings.of(settings, model.seed)

    def fit_and_predict(train: Sequence[LabelledText], texts: Sequence[str]) -> list[str]:
        classes = [labels.index(example.label) for example in train]
        found = fit_predict(model, [example.text for example in train], classes, texts, tuning)
        advance()
        return [labels[index] for index in found]

    return fit_and_predict
