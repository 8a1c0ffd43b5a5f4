"""Each test document's loss under a model, kept so that two models can be held against each other over the same ones.

Most of the spread of a perplexity is the documents', and common to both models: their difference has an interval that
is many times as narrow as either's own.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError

from quartet.errors import InputError, first_mistake
from quartet.files import read_jsonl, write_jsonl
from quartet.results import Measure
from quartet.statistics.intervals import Floats, bootstrap_ratio


@dataclass(frozen=True, kw_only=True)
class DocumentLosses:
    """What one training of a model made of D documents.

    Attributes:
        seed: of the training.
        dataset, tokenizer: of the documents.
        pseudo: whether the losses are of pseudo-log-probabilities.
        nats: (D,) each document's summed negative log-probability.
        tokens: (D,) how many tokens each has.
    """

    seed: int
    dataset: str
    tokenizer: str
    pseudo: bool
    nats: tuple[float, ...]
    tokens: tuple[int, ...]

    __pydantic_config__ = ConfigDict(extra="forbid", allow_inf_nan=False)

    def comparable(self, other: DocumentLosses) -> bool:
        """Whether both are one kind of loss on the same tokens."""
        return (self.dataset, self.tokenizer, self.pseudo) == (other.dataset, other.tokenizer, other.pseudo)

    def difference(self, other: DocumentLosses, samples: int, seed: int) -> Measure:
        """The loss of this one minus the other's, in nats per token, with its interval: documents are resampled.

        Raises:
            ValueError: they are not of the same tokens, or there is none.
        """
        if not self.comparable(other) or self.tokens != other.tokens:
            raise ValueError("the losses are not of the same tokens")
        tokens_D = np.array(self.tokens, dtype=np.float64)
        read_D = tokens_D > 0
        if not read_D.any():
            raise ValueError("no token in any document")
        above_D = (np.array(self.nats) - np.array(other.nats))[read_D]
        below_D = tokens_D[read_D]
        return bootstrap_ratio(above_D, below_D, sum(self.tokens), samples, seed)


def nats_of(logprobs: Sequence[Floats]) -> tuple[float, ...]:
    """Each document's summed negative log-probability, of the log-probabilities of its tokens."""
    return tuple(float(-np.sum(values, dtype=np.float64)) for values in logprobs)


_LOSSES: TypeAdapter[DocumentLosses] = TypeAdapter(DocumentLosses)


def write_losses(path: Path, losses: Iterable[DocumentLosses]) -> None:
    """Write one JSON line a training."""
    write_jsonl(path, (dataclasses.asdict(one) for one in losses))


def read_losses(path: Path) -> list[DocumentLosses]:
    """Read what :func:`write_losses` wrote.

    Raises:
        InputError: the file is absent, or a line is no such losses.
    """
    found = []
    for number, row in read_jsonl(path):
        try:
            one = _LOSSES.validate_json(json.dumps(row), strict=True)
        except ValidationError as error:
            key, reason = first_mistake(error)
            raise InputError(f"{path}:{number}", f"not losses ({key}: {reason})") from error
        if len(one.nats) != len(one.tokens):
            raise InputError(f"{path}:{number}", f"{len(one.nats)} losses of {len(one.tokens)} documents")
        found.append(one)
    return found
