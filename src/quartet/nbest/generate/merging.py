"""Hypotheses that read alike are one: other tokens may make the same words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar


class Scored(Protocol):
    """A hypothesis of a search."""

    @property
    def text(self) -> str: ...

    @property
    def score(self) -> float: ...


Found = TypeVar("Found", bound=Scored)


def best_of_each_text(found: Sequence[Found]) -> list[Found]:
    """Best first, and of equal texts the best one only."""
    best: dict[str, Found] = {}
    for each in sorted(found, key=lambda each: (-each.score, each.text)):
        best.setdefault(each.text, each)
    return list(best.values())
