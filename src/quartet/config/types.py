"""What all settings share: the kinds of numbers and texts with their bounds, and how strictly they are checked."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field

#: Of every class of settings: unknown keys are refused, and defaults are checked too.
STRICT = ConfigDict(extra="forbid", validate_default=True)
#: A whole number from 1.
Count = Annotated[int, Field(ge=1)]
#: A whole number from 0, where 0 often means "none" or "all".
Size = Annotated[int, Field(ge=0)]
#: What random numbers start from; NumPy's older generators take no more bits.
Seed = Annotated[int, Field(ge=0, lt=1 << 32)]
#: A number above 0.
Positive = Annotated[float, Field(gt=0.0)]
#: A number from 0.
NotNegative = Annotated[float, Field(ge=0.0)]
#: From 0 to 1, both included.
Share = Annotated[float, Field(ge=0.0, le=1.0)]
#: From 0 to 1, neither included.
ProperShare = Annotated[float, Field(gt=0.0, lt=1.0)]
#: From 0, below 1.
Fraction = Annotated[float, Field(ge=0.0, lt=1.0)]
#: A text that is not empty.
Text = Annotated[str, Field(min_length=1)]

Part = TypeVar("Part")


def part(kind: type[Part], whole: Part) -> Part:
    """The fields that an object of a subclass of `kind` has from there: an entry's network without its training."""
    fields: Any = dataclasses.fields(kind)  # type: ignore[arg-type]  # every `kind` is a dataclass
    return kind(**{field.name: getattr(whole, field.name) for field in fields})
