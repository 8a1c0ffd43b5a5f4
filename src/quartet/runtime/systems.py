"""What the run-time study times: each model in the ways in which it can be read."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import torch
from torch import Tensor

from quartet.config.model import Reads
from quartet.objectives.mlm import MaskedLM
from quartet.results import ONE_BY_ONE, system_name
from quartet.scoring.language_model import LanguageModel

#: ``sts``: contextual vectors; ``rerank``: log-likelihoods. The two uses of the paper's Figure 4.
Use = Literal["sts", "rerank"]


class OneByOneModel(LanguageModel):
    """A masked model as it was published: each masked copy in a pass of its own, with its own logits at that token.

    Every token goes through all layers. The weights may be shared with another :class:`LanguageModel`.
    """

    @classmethod
    def of(cls, model: LanguageModel) -> OneByOneModel:
        """The same model, read so."""
        plain = cls(model.network, model.tokenizer, model.card, model.device, model.precision)
        assert isinstance(plain.objective, MaskedLM)
        plain.objective.plain = True
        return plain

    def _target_logprobs(self, vectors_ND: Tensor, targets_N: Tensor) -> Tensor:
        ones = zip(vectors_ND.split(1), targets_N.split(1), strict=True)
        each = [super(OneByOneModel, self)._target_logprobs(*one) for one in ones if len(one[1])]
        return torch.cat([vectors_ND.new_zeros(0), *each])


class TimedModel(Protocol):
    """What can be timed: texts in, vectors or scores out."""

    def embed(self, texts: Sequence[str]) -> np.ndarray: ...

    def score(self, texts: Sequence[str]) -> list[float]: ...


@dataclass(frozen=True)
class TimedSystem:
    """A model, read in one way.

    Attributes:
        of: the model's name. A masked model comes twice: once it reads its masked copies in batches, once each in a
            pass of its own, to the end at every token (``<model>-one-by-one``).
        objective, reads: a masked system is compared with the LAE systems that read the same input.
        batched: False for the one-by-one reading, which lists are not timed with.
        tokens: how many tokens a text has, special tokens left out.
        room: tokens that one input holds, special tokens left out; None: no limit.
        device: ``cpu`` or ``cuda``.
    """

    of: str
    model: TimedModel
    objective: str
    reads: Reads
    batched: bool
    tokens: Callable[[str], int]
    room: int | None
    device: str
    scale: str
    seed: int | None

    @property
    def name(self) -> str:
        """The system's shown name."""
        return system_name(self.of, "" if self.batched else ONE_BY_ONE)

    def reading(self, use: Use) -> str:
        """How it is read for a use: ``sts``, ``one-by-one/sts``, ..."""
        return use if self.batched else f"{ONE_BY_ONE}/{use}"

    def call(self, use: Use, texts: Sequence[str]) -> Callable[[], object]:
        """Read the texts for a use, tokenisation included."""
        if use == "sts":
            return lambda: self.model.embed(texts)
        return lambda: self.model.score(texts)


def systems_of(model: LanguageModel) -> list[TimedSystem]:
    """The ways in which one of our models is read; the masked ones share the network and have settings of their own."""

    def system(read: LanguageModel, batched: bool) -> TimedSystem:
        config = model.card.model
        return TimedSystem(
            of=model.name,
            model=read,
            objective=config.objective,
            reads=config.reads,
            batched=batched,
            tokens=lambda text: len(model.tokenizer.encode(text)),
            room=None if config.reads == "streams" else config.max_length - 2,
            device=model.device,
            scale=model.scale,
            seed=model.seed,
        )

    found = [system(model, batched=True)]
    if model.masks:
        found.insert(0, system(OneByOneModel.of(model), batched=False))
    return found


def on_device(model: LanguageModel, device: str) -> LanguageModel:
    """A copy of the model, weights and all, on a device."""
    return LanguageModel(copy.deepcopy(model.network), model.tokenizer, model.card, device)
