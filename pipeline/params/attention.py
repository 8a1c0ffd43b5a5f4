"""The section ``attention:`` of params.yaml, typed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from quartet.config.types import Count, Size


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Attention:
    """Where the models' attention goes on test documents.

    Attributes:
        layers: numbers from 1, ``first`` and ``last``.
        head: a head's number from 1, or the ``mean`` over all.
        tokens: of a document's beginning that are read, special tokens included; a model's own maximum where that is
            less.
        documents: how many are measured, the first ones (0: all).
        document: the number of the one that is drawn, from 0.
    """

    layers: Annotated[list[Literal["first", "last"] | Count], Field(min_length=1)]
    head: Literal["mean"] | Count
    tokens: Annotated[int, Field(ge=4)]
    documents: Size
    document: Size

    def numbers(self, layers: int) -> list[int]:
        """The layers of a network that has so many, rising, none twice."""
        named = {"first": 1, "last": layers}
        return sorted({named[one] if isinstance(one, str) else one for one in self.layers})
