"""A model's fine-tuning on labelled texts, cross-validated: one linear layer on the mean of its last layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.config.finetuning import FinetuneSettings
from quartet.data.batch import Batch, Tensors
from quartet.results import EvaluatedSystem
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.classification.data import LabelledText
from quartet.tasks.classification.metrics import FitPredict, judge
from quartet.tasks.evaluation import Evaluation
from quartet.text.tokenizer import is_own
from quartet.training.tuning import TaskModel, TuningSettings, load_or_tune


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


TextWithLabel = tuple[str, int]


@dataclass(frozen=True)
class _Item(Tensors):
    batch: Batch
    labels_B: Tensor


class _Classifier(TaskModel[TextWithLabel, _Item]):
    """A linear layer on the mean over each text's own tokens."""

    def __init__(self, model: LanguageModel, classes: int) -> None:
        super().__init__(model)
        self.output = nn.Linear(model.card.model.dim, classes)

    def forward(self, batch: Batch) -> Tensor:
        """(B, classes) logits."""
        own_BT1 = (is_own(batch.ids_BT) & batch.real_BT)[..., None]
        mean_BD = (self.contextual(batch) * own_BT1).sum(1) / own_BT1.sum(1).clamp(min=1)
        logits: Tensor = self.output(mean_BD)
        return logits

    def batch(self, examples: Sequence[TextWithLabel]) -> _Item:
        labels_B = torch.tensor([label for _, label in examples])
        return _Item(self.shaped(self.model.batch([text for text, _ in examples])), labels_B)

    def loss(self, item: _Item) -> Tensor:
        return F.cross_entropy(self(item.batch), item.labels_B)


def fit_predict(
    model: LanguageModel,
    train_texts: Sequence[str],
    train_labels: Sequence[int],
    test_texts: Sequence[str],
    settings: TuningSettings,
) -> list[int]:
    """Fine-tune a copy of the model on labelled texts and label others.

    Texts over the model's length lose their ends. The same seed gives the same labels on the same machine.

    Args:
        train_labels: classes from 0.
    """
    examples = list(zip(train_texts, train_labels, strict=True))
    classifier = load_or_tune(lambda: _Classifier(model, max(train_labels) + 1), examples, settings)
    predictions: list[int] = []
    with torch.inference_mode():
        for at in range(0, len(test_texts), settings.batch_size):
            batch = model.batch(test_texts[at : at + settings.batch_size]).to(model.device)
            predictions += classifier(batch).argmax(1).tolist()
    return predictions
