"""finetune@<model>: cross-validated fine-tuning on every labelled set."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.run import main
from pipeline.settings import load
from pipeline.task_sets import sets_of
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import stage_run
from pipeline.trained_models import trained_models
from quartet.results import Result, rows_of, write_results
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.classification.data import LabelledText
from quartet.tasks.classification.metrics import FitPredict, classification_measures, cross_validate
from quartet.training.finetune import fit_predict
from quartet.training.tuning import TuningSettings


def finetune(name: str) -> None:
    """Write the rows of the model `name` on every set."""
    params = load()
    layout = Layout(params.experiment)
    rows: list[Result] = []
    with stage_run(params, "finetune", name):
        sets = list(sets_of("classification", params, layout))
        for model in trained_models(params, name):
            for dataset, examples in sets:
                assert isinstance(examples, list)
                gold = [example.label for example in examples]
                with bar(f"{name} on {dataset}: folds", total=params.finetune.folds) as shown:
                    fit_and_predict = tuner(model, params, sorted(set(gold)), shown.advance)
                    predicted = cross_validate(
                        examples, fit_and_predict, params.finetune.folds, params.seeds[0]
                    )
                measures = classification_measures(gold, predicted, max(gold), params.bootstrap, model.seed)
                rows += rows_of(
                    measures,
                    experiment=params.experiment,
                    table="classification",
                    model=name,
                    dataset=dataset,
                    split="cross-validation",
                    device=model.device,
                    scale=model.scale,
                    seed=model.seed,
                )
                say(f"{name} on {dataset}: accuracy {100 * measures['accuracy'].value:.1f} %")
        write_results(layout.rows("finetune", name), rows)


def tuner(
    model: LanguageModel, params: Params, labels: Sequence[str], advance: Callable[[], None]
) -> FitPredict:
    """Fine-tuning of the model as the callable that cross-validation wants; `advance` is called after each fold."""
    settings = TuningSettings.of(params.finetune, model.seed)

    def fit_and_predict(train: Sequence[LabelledText], texts: Sequence[str]) -> list[str]:
        classes = [labels.index(example.label) for example in train]
        found = fit_predict(model, [example.text for example in train], classes, texts, settings)
        advance()
        return [labels[index] for index in found]

    return fit_and_predict


if __name__ == "__main__":
    main(finetune)
