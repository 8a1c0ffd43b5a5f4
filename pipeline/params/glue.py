"""The section ``glue:`` of params.yaml, typed."""

from __future__ import annotations

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from quartet.training.glue_config import Grid, Protocol


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Glue(Protocol):
    """Fine-tuning on the sets of the kind ``glue``: a :class:`Protocol`, and what is tried.

    Attributes:
        default: the grid of a set that is not under `tasks`.
        tasks: the grids of others, by the set's name under ``tasks:`` of params.yaml.
    """

    default: Grid
    tasks: dict[str, Grid] = Field(default_factory=dict)

    def grid(self, name: str) -> Grid:
        """The grid of the set `name`."""
        return self.tasks.get(name, self.default)
