"""Fine-tuning on a task of GLUE: a pooler and a linear layer on a pre-trained encoder (Bai et al. 2021, Tables 3, 4).

The pooler is BERT's dense layer with tanh. BERT trains it on the prediction of the next sentence; our models, like
SegaBERT, do without that task, so it starts from random values as the last layer does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.config.finetuning import Pooling
from quartet.data.batch import Batch, Row, Tensors, collate
from quartet.errors import InputError
from quartet.kernels.dropout import Dropout
from quartet.scoring.device import token_budget
from quartet.scoring.language_model import LanguageModel
from quartet.scoring.windows import TextWindow, batches_within
from quartet.text.tokenizer import is_own
from quartet.training.tuning import TaskModel, TuningSettings, seed_new_layers, tune

#: An input with the index of its label, or its score.
LabelledRow = tuple[Row, float]
#: By the number of epochs: by split, the predictions as :mod:`quartet.tasks.glue.metrics` has them.
Predictions = dict[int, dict[str, list[float]]]


@dataclass(frozen=True)
class _Item(Tensors):
    batch: Batch
    gold_B: Tensor


class GlueModel(TaskModel[LabelledRow, _Item]):
    """Encoder, pooling, dense layer with tanh, dropout, linear layer.

    Cross-entropy over the labels; for scores (`labels` 0) the mean squared error of one output. New matrices are drawn
    as the network's own were (``init_std``) and dropout is its own.
    """

    def __init__(self, model: LanguageModel, labels: int, pooling: Pooling) -> None:
        super().__init__(model)
        config = model.card.model
        self.labels = labels
        self.pooling = pooling
        self.pooler = nn.Linear(config.dim, config.dim)
        self.dropout = Dropout(config.dropout)
        self.output = nn.Linear(config.dim, max(1, labels))
        for layer in (self.pooler, self.output):
            nn.init.normal_(layer.weight, std=config.init_std)
            nn.init.zeros_(layer.bias)

    def pooled(self, batch: Batch) -> Tensor:
        """(B, D): what stands for each input."""
        context_BTD = self.contextual(batch)
        if self.pooling == "mean":
            own_BT1 = (is_own(batch.ids_BT) & batch.real_BT)[..., None]
            return (context_BTD * own_BT1).sum(1) / own_BT1.sum(1).clamp(min=1)
        return self.special(context_BTD, batch)

    def forward(self, batch: Batch) -> Tensor:
        """(B, labels) logits, or (B, 1) scores."""
        pooled_BD = torch.tanh(self.pooler(self.pooled(batch)))
        output: Tensor = self.output(self.dropout(pooled_BD))
        return output

    def batch(self, examples: Sequence[LabelledRow]) -> _Item:
        rows = collate([row for row, _ in examples], self.model.tokenizer.pad_id)
        gold = [value for _, value in examples]
        return _Item(
            self.shaped(rows), torch.tensor(gold, dtype=torch.long if self.labels else torch.float32)
        )

    def loss(self, item: _Item) -> Tensor:
        output = self(item.batch)
        if self.labels:
            return F.cross_entropy(output, item.gold_B)
        return F.mse_loss(output[:, 0], item.gold_B)

    def predict(self, rows: Sequence[Row]) -> list[float]:
        """The index of the likeliest label of each input, or its score; inputs of like length are read together.

        Raises:
            InputError: an output is not a finite number.
        """
        found: list[float] = [0] * len(rows)
        windows = [TextWindow(number, 0, len(row.ids), row) for number, row in enumerate(rows)]
        with torch.inference_mode():
            for group in batches_within(windows, token_budget(self.model.device), specials=0):
                batch = collate([window.row for window in group], self.model.tokenizer.pad_id)
                output = self(batch.to(self.model.device))
                if not output.isfinite().all():
                    raise InputError(
                        self.model.name,
                        "its fine-tuning diverged: the outputs are not finite",
                        "lower the learning rate, or let it rise over more steps",
                    )
                chosen_B = output.argmax(1) if self.labels else output[:, 0]
                for window, value in zip(group, chosen_B.tolist(), strict=True):
                    found[window.text] = value
        return found


def fine_tune(
    model: LanguageModel,
    labels: int,
    train: Sequence[LabelledRow],
    others: Mapping[str, Sequence[Row]],
    settings: TuningSettings,
    pooling: Pooling,
    read_after: Sequence[int],
) -> Predictions:
    """Fine-tune a copy of the model, and predict the other splits after some of its epochs.

    The same seed gives the same predictions on the same machine, whatever `read_after`: predicting draws nothing.

    Args:
        labels: how many there are; 0 where a score is predicted.
        others: the inputs to predict, by split.
        read_after: numbers of epochs, up to ``settings.epochs``.

    Raises:
        ValueError: there are no training examples.
        InputError: the training diverged.
    """
    seed_new_layers(settings)
    task = GlueModel(model, labels, pooling)
    found: Predictions = {}

    def predict(done: int) -> None:
        if done in read_after:
            found[done] = {split: task.predict(rows) for split, rows in others.items()}

    tune(task, train, settings, after_epoch=predict)
    return found
