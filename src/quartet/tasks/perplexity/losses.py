"""Each test document's loss under a model, kept so that two models can be held against each other over the same ones.

Most of the spread of a perplexity is the documents', and common to both models: their difference has an interval that
is many times as narrow as either's own.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError

from quartet.errors import InputError, first_mistake
from quartet.files import read_jsonl, write_jsonl
from quartet.results import Measure
from quartet.statistics.differences import paired_difference
from quartet.statistics.intervals import Floats, Statistic, ratio


@dataclass(frozen=True, kw_only=True)
class DocumentLosses:
    """What one training of a model made of D documents.

    Attributes:
        split: as of the model's rows: ``test``, or how many tokens the model read at once, e.g. ``32-tokens``.
        seed: of the training.
        dataset, tokenizer: of the documents.
        pseudo: whether the losses are of pseudo-log-probabilities.
        nats: (D,) each document's summed negative log-probability.
        tokens: (D,) how many tokens each has.
    """

    seed: int
    split: str
    dataset: str
    tokenizer: str
    pseudo: bool
    nats: tuple[float, ...]
    tokens: tuple[int, ...]

    __pydantic_config__ = ConfigDict(extra="forbid", allow_inf_nan=False)

    def comparable(self, other: DocumentLosses) -> bool:
        """Whether both are one kind of loss on the same tokens, read alike."""
        ours, theirs = ((one.dataset, one.split, one.tokenizer, one.pseudo) for one in (self, other))
        return ours == theirs


def loss_difference(
    ours: Sequence[DocumentLosses], theirs: Sequence[DocumentLosses], samples: int, seed: int
) -> Measure:
    """Our loss minus theirs in nats per token, with its interval and p: documents are resampled.

    Args:
        ours, theirs: one for each training, in the order of the seeds.

    Raises:
        ValueError: they are not of the same tokens, or there is none.
    """
    first = ours[0]
    if any(not first.comparable(one) or first.tokens != one.tokens for one in (*ours, *theirs)):
        raise ValueError("the losses are not of the same tokens")
    tokens_D = np.array(first.tokens, dtype=np.float64)
    read_D = tokens_D > 0
    if not read_D.any():
        raise ValueError("no token in any document")
    losses: list[list[Statistic]] = [
        [partial(ratio, above=np.array(one.nats)[read_D], below=tokens_D[read_D]) for one in each]
        for each in (ours, theirs)
    ]
    return paired_difference(
        losses[0],
        losses[1],
        int(read_D.sum()),
        n=sum(first.tokens),
        unit="documents",
        samples=samples,
        seed=seed,
    )


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
