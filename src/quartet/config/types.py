"""The kinds of numbers and texts that settings may be, with their bounds: once for all sections of params.yaml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

#: A whole number from 1.
Count = Annotated[int, Field(ge=1)]
#: A whole number from 0, where 0 often means "none" or "all".
Size = Annotated[int, Field(ge=0)]
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
