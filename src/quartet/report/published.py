"""What the two papers print, for setting beside our own figures: published.yaml, typed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter

from quartet.report.spec import Entry, read_entries
from quartet.results import INTACT, system_name


@dataclass(frozen=True, kw_only=True)
class Paper(Entry):
    """A paper.

    Attributes:
        name: how a sentence names it.
        short: how a place in it is named where there is little room, as in "T-TA Table 3".
        cite: its reference.
        scale: what its figures were made with.
        sentences: how many its models read, where it says so.
    """

    name: str
    short: str
    cite: str
    scale: tuple[str, ...]
    sentences: int | None


@dataclass(frozen=True, kw_only=True)
class PublishedTable(Entry):
    """A printed table, or the numbers that stand for a figure.

    Attributes:
        paper: a key of `PublishedFigures.papers`.
        place: where it stands in the paper, e.g. "Table 3".
        title: what was measured on what, for a table's head.
        unit: of its numbers.
        columns: their names.
        rows: by system, one number a column; None where the paper gives none.
    """

    paper: str
    place: str
    title: str
    unit: str
    columns: tuple[str, ...]
    rows: dict[str, tuple[float | None, ...]]

    def __post_init__(self) -> None:
        for system, numbers in self.rows.items():
            if len(numbers) != len(self.columns):
                raise ValueError(f"{system}: {len(numbers)} numbers for {len(self.columns)} columns")

    def get(self, system: str, column: str) -> float | None:
        """The number of a system in a column; None where the paper has no such row or gives none.

        Raises:
            ValueError: there is no such column.
        """
        index = self.columns.index(column)
        return self.rows[system][index] if system in self.rows else None

    def column(self, name: str) -> dict[str, float]:
        """The numbers of a column by system, of those that have one."""
        return {system: value for system in self.rows if (value := self.get(system, name)) is not None}


@dataclass(frozen=True)
class PublishedFigures(Entry):
    """Both papers' figures, by name."""

    papers: dict[str, Paper]
    tables: dict[str, PublishedTable]

    def __post_init__(self) -> None:
        for name, table in self.tables.items():
            if table.paper not in self.papers:
                raise ValueError(f"{name}: no paper {table.paper}")


def published_number(name: str, column: str, model: str, reading: str = "") -> float | None:
    """The number of a published table beside a system: of its own row, and of the column for its reading.

    Args:
        name: a key of `PublishedFigures.tables`.
        column: its column, or the split that it shares with one for each reading.
    """
    table = published_figures().tables[name]
    rows, kind = [model], reading
    if reading == "embed":  # where nothing is masked
        rows.append(system_name(model, INTACT))
    elif reading in ("cls", "eos"):  # the papers have rows for these
        rows, kind = [f"{model}-{reading}"], "context"
    elif reading.startswith(INTACT):
        rows, kind = [system_name(model, INTACT)], "context"
    columns = [one for one in (column, f"{column}-{kind or 'embed'}") if one in table.columns]
    values = (table.get(row, one) for row in rows for one in columns)
    return next((value for value in values if value is not None), None)


@cache
def published_figures() -> PublishedFigures:
    """The figures that come with the package; read once."""
    entries = read_entries(files("quartet.report") / "published.yaml")
    return TypeAdapter(PublishedFigures).validate_python(entries)
