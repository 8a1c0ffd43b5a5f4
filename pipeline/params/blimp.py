"""The section ``blimp:`` of params.yaml, typed."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

Size = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Blimp:
    """How much of BLiMP is scored.

    Attributes:
        limit: pairs of each paradigm, the first ones (0: all 1,000).
    """

    limit: Size
