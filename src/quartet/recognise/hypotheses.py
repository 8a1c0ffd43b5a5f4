"""Hypotheses as a search gives them, and their lists as a file: the JSON of mlm-scoring, an entry a line.

:mod:`quartet.nbest.formats.mlm_scoring` reads it, a person can too, and a difference shows where it is. Translations:

``{"dev-000001": {"ref": …, "source": …, "hyp_1": {"score": …, "text": …, "log_probability": …, "tokens": …}, …}, …}``

The number is the line of the source file; `log_probability` is the sum over the `tokens` of the hypothesis, whatever
the search ranked by. Transcripts:

``{utterance: {"ref": …, "seconds": …, "hyp_1": {"score": …, "text": …, "tokens": …}, …}, …}``

"ref" is absent where no reference is known; `tokens` counts the end of the text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from quartet.files import atomic_path
from quartet.recognise.audio import RATE
from quartet.recognise.utterances import Utterance

if TYPE_CHECKING:
    from quartet.recognise.parallel_text import ParallelText

#: Decimals of a log-probability: beyond them the network's own arithmetic differs between batches.
DECIMALS = 6


@dataclass(frozen=True)
class Translation:
    """One translation: plain text, its score (see `beam`), its log-probability, and its tokens with [EOS]."""

    text: str
    score: float
    log_probability: float
    tokens: int


@dataclass(frozen=True)
class Transcript:
    """One hypothesis.

    Attributes:
        text: its words, single spaces between them.
        score: see `speech`.
        ids: its tokens, with the end of the text where it has `ended`.
    """

    text: str
    score: float
    ids: tuple[int, ...]
    ended: bool = True


class ScoredHypothesis(Protocol):
    """A hypothesis of a search."""

    @property
    def text(self) -> str: ...

    @property
    def score(self) -> float: ...


HypothesisT = TypeVar("HypothesisT", bound=ScoredHypothesis)


def best_of_each_text(found: Sequence[HypothesisT]) -> list[HypothesisT]:
    """Best first, and of equal texts the best one only: other tokens may make the same words."""
    best: dict[str, HypothesisT] = {}
    for each in sorted(found, key=lambda each: (-each.score, each.text)):
        best.setdefault(each.text, each)
    return list(best.values())


def write_translations(
    path: Path, split: str, text: ParallelText, lists: Sequence[Sequence[Translation]]
) -> None:
    """Write the lists of the pairs of `text`, in its order; the same lists give the same bytes."""
    entries: dict[str, Any] = {}
    for number, (source, reference, translations) in enumerate(
        zip(text.source, text.target, lists, strict=True), start=1
    ):
        entry: dict[str, Any] = {"ref": reference, "source": source}
        for rank, each in enumerate(translations, start=1):
            entry[f"hyp_{rank}"] = {
                "score": round(each.score, DECIMALS),
                "text": each.text,
                "log_probability": round(each.log_probability, DECIMALS),
                "tokens": each.tokens,
            }
        entries[f"{split}-{number:06d}"] = entry
    _write(path, entries)


def write_transcripts(
    path: Path,
    utterances: Sequence[Utterance],
    samples: Sequence[int],
    lists: Sequence[Sequence[Transcript]],
) -> None:
    """Write the lists of utterances, in their order; the same lists give the same bytes.

    Args:
        samples: of each utterance's audio.
    """
    entries: dict[str, Any] = {}
    for utterance, count, transcripts in zip(utterances, samples, lists, strict=True):
        entry: dict[str, Any] = {} if utterance.reference is None else {"ref": utterance.reference}
        entry["seconds"] = round(count / RATE, 3)
        for rank, each in enumerate(transcripts, start=1):
            score = round(each.score, DECIMALS)
            entry[f"hyp_{rank}"] = {"score": score, "text": each.text, "tokens": len(each.ids)}
        entries[utterance.name] = entry
    _write(path, entries)


def _write(path: Path, entries: Mapping[str, Any]) -> None:
    """Write an object, an entry a line in its order, atomically; the same entries give the same bytes.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    rows = (
        f"{json.dumps(name)}: {json.dumps(entry, ensure_ascii=False, allow_nan=False)}"
        for name, entry in entries.items()
    )
    with atomic_path(path) as temporary:
        temporary.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
