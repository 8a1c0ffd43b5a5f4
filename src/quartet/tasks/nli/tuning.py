"""Siamese fine-tuning: two sentences read alone by one encoder, their vectors compared by one linear layer.

Reimers and Gurevych (2019), "classification objective", as Bai et al. (2021) follow it for Table 5: the labels of
entailment teach the encoder vectors whose cosine then stands for likeness of meaning. Here a vector is the mean over a
sentence's own tokens; theirs counts [CLS] and [SEP] too. A sentence has paragraph index 0 and sentence index 0, as the
Segatron paper has it for single sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.arguments import checked_texts
from quartet.data.batch import Batch, Tensors
from quartet.models.architectures import build_for
from quartet.scoring.language_model import LanguageModel
from quartet.text.tokenizer import is_own
from quartet.training.tuning import TaskModel, TuningSettings, seed_new_layers

#: Two sentences and the number of their label.
LabelledPair = tuple[str, str, int]


@dataclass(frozen=True)
class _Item(Tensors):
    """A batch whose first half are the first sentences and whose second half are the second ones."""

    batch: Batch
    labels_B: Tensor


class SiameseModel(TaskModel[LabelledPair, _Item]):
    """softmax(W (u, v, |u - v|)) over the labels, u and v the mean vectors of the two sentences.

    Attributes:
        encoder: the copy of the network as a model of its own, to embed texts with.
    """

    def __init__(self, model: LanguageModel, classes: int, max_length: int | None = None) -> None:
        """Args:
        classes: how many labels there are.
        max_length: tokens that are read of a sentence in training, specials included; None: the model's.
        """
        super().__init__(model)
        self.max_length = max_length
        self.output = nn.Linear(3 * model.card.model.dim, classes)
        self.encoder = LanguageModel(self.network, model.tokenizer, model.card, model.device)

    def pooled(self, batch: Batch) -> Tensor:
        """(B, D): the mean over each row's own tokens; zeros where there is none."""
        own_BT1 = (is_own(batch.ids_BT) & batch.real_BT)[..., None]
        return (self.contextual(batch) * own_BT1).sum(1) / own_BT1.sum(1).clamp(min=1)

    def compared(self, u_BD: Tensor, v_BD: Tensor) -> Tensor:
        """(B, classes) logits of two sentences' vectors."""
        logits: Tensor = self.output(torch.cat([u_BD, v_BD, (u_BD - v_BD).abs()], dim=1))
        return logits

    def batch(self, examples: Sequence[LabelledPair]) -> _Item:
        texts = [*(first for first, _, _ in examples), *(second for _, second, _ in examples)]
        labels_B = torch.tensor([label for _, _, label in examples])
        return _Item(self.shaped(self.model.batch(texts, self.max_length)), labels_B)

    def loss(self, item: _Item) -> Tensor:
        u_BD, v_BD = self.pooled(item.batch).chunk(2)
        return F.cross_entropy(self.compared(u_BD, v_BD), item.labels_B)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """(len(texts), D): see :func:`embed`; of the encoder as it is now."""
        return embed(self.encoder, texts)

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[int]:
        """The number of the likeliest label of each pair; a sentence that occurs often is read once."""
        if not pairs:
            return []
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        place = {text: index for index, text in enumerate(texts)}
        vectors = torch.from_numpy(self.embed(texts)).float()
        first, second = (torch.tensor([place[pair[side]] for pair in pairs]) for side in (0, 1))
        with torch.inference_mode():
            device = self.output.weight.device
            parts = [
                self.compared(vectors[u].to(device), vectors[v].to(device)).argmax(1).cpu()
                for u, v in zip(first.split(4096), second.split(4096), strict=True)
            ]
        labels: list[int] = torch.cat(parts).tolist()
        return labels


def embed(model: LanguageModel, texts: Sequence[str]) -> np.ndarray:
    """(len(texts), D): the mean of the last layer over each text's own tokens, the input intact, each text read once.

    A text over the model's length is read in parts and the mean is over all of them.
    """
    texts = checked_texts(texts)
    distinct = list(dict.fromkeys(texts))
    place = {text: index for index, text in enumerate(distinct)}
    vectors: np.ndarray = model.embed(distinct, "context", masked=False)[[place[text] for text in texts]]
    return vectors


def untrained_model(model: LanguageModel, settings: TuningSettings) -> LanguageModel:
    """The model before its pre-training: the same architecture with new random weights, for a control."""
    seed_new_layers(settings)
    card = replace(model.card, steps=0, best_step=0)
    network = build_for(card.model, model.tokenizer)
    return LanguageModel(network, model.tokenizer, card, model.device)
