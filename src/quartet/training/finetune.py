"""Fine-tuning a pre-trained model to label texts: one linear layer on the mean of its last layer."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset

from quartet.data.batch import Batch, is_own
from quartet.scoring.language_model import LanguageModel
from quartet.training import randomness
from quartet.training.config import TrainingConfig
from quartet.training.fit import silence_lightning
from quartet.training.optim import build_optimiser


@dataclass(frozen=True)
class FineTuning:
    """Epochs over the labelled texts, texts a step, peak rate, and the warm-up's share of the steps."""

    epochs: int
    batch_size: int
    learning_rate: float
    warmup: float
    seed: int


class _Classifier(pl.LightningModule):
    """A copy of the network with a linear layer on top, all of it trained."""

    def __init__(self, model: LanguageModel, classes: int, training: TrainingConfig, seed: int) -> None:
        super().__init__()
        self.network = copy.deepcopy(model.network)
        self.objective = model.objective
        self.output = nn.Linear(model.card.model.dim, classes)
        self.training_config = training
        self.seed = seed

    def forward(self, batch: Batch) -> Tensor:
        """(B, classes) logits from the mean over each text's own tokens; an MLM reads the intact input."""
        states = self.objective.states(self.network, batch, masked=False)
        own_BT1 = (is_own(batch.ids_BT) & batch.real_BT)[..., None]
        mean_BD = (states.contextual_BTD * own_BT1).sum(1) / own_BT1.sum(1).clamp(min=1)
        logits: Tensor = self.output(mean_BD)
        return logits

    def training_step(self, item: tuple[Batch, Tensor], batch_idx: int) -> Tensor:
        torch.manual_seed(randomness.seed_of(self.seed, randomness.DROPOUT, self.global_step))
        batch, labels_B = item
        return F.cross_entropy(self(batch), labels_B)

    def configure_optimizers(self) -> Any:
        optimiser, scheduler = build_optimiser(self, self.training_config)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    def transfer_batch_to_device(
        self, item: tuple[Batch, Tensor], device: torch.device, dataloader_idx: int
    ) -> tuple[Batch, Tensor]:
        return item[0].to(device), item[1].to(device)


class _Labelled(IterableDataset[tuple[Batch, Tensor]]):
    """The labelled texts in a new order each epoch."""

    def __init__(
        self, model: LanguageModel, texts: Sequence[str], labels: np.ndarray, settings: FineTuning
    ) -> None:
        self.model = model
        self.texts = texts
        self.labels = labels
        self.settings = settings

    def __iter__(self) -> Iterator[tuple[Batch, Tensor]]:
        for epoch in range(self.settings.epochs):
            order = np.random.default_rng([self.settings.seed, epoch]).permutation(len(self.texts))
            for at in range(0, len(order), self.settings.batch_size):
                chosen = order[at : at + self.settings.batch_size]
                batch = self.model.batch([self.texts[index] for index in chosen])
                yield batch, torch.from_numpy(self.labels[chosen])


def fit_predict(
    model: LanguageModel,
    train_texts: Sequence[str],
    train_labels: Sequence[int],
    test_texts: Sequence[str],
    settings: FineTuning,
) -> list[int]:
    """Fine-tune a copy of the model on labelled texts and label others.

    Texts over the model's length lose their ends. The same seed gives the same labels on the same machine.

    Args:
        train_labels: classes from 0.
    """
    silence_lightning()
    labels = np.asarray(train_labels, dtype=np.int64)
    steps = settings.epochs * -(-len(train_texts) // settings.batch_size)
    training = TrainingConfig(
        steps=steps,
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        warmup=settings.warmup,
    )
    torch.manual_seed(randomness.seed_of(settings.seed, randomness.INITIALISATION))
    classifier = _Classifier(model, int(labels.max()) + 1, training, settings.seed)
    classifier.train()
    device = model.device
    trainer = pl.Trainer(
        accelerator="gpu" if device.startswith("cuda") else "cpu",
        devices=1,
        max_steps=steps,
        max_epochs=1,
        gradient_clip_val=training.clip,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(classifier, DataLoader(_Labelled(model, train_texts, labels, settings), batch_size=None))
    classifier.eval().to(device)
    predictions: list[int] = []
    with torch.inference_mode():
        for at in range(0, len(test_texts), settings.batch_size):
            batch = model.batch(test_texts[at : at + settings.batch_size]).to(device)
            predictions += classifier(batch).argmax(1).tolist()
    return predictions
