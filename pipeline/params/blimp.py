"""The section ``blimp:`` of params.yaml, typed."""

from __future__ import annotations

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from quartet.config.types import Size


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Blimp:
    """How much of BLiMP is scored.

    Attributes:
        limit: pairs of each paradigm, the first ones (0: all 1,000).
    """

    limit: Size
