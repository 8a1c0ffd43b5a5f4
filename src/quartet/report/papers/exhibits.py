"""What a table or figure of a paper is: what it shows, how it is run here, and what finds our figures beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter

from quartet.report.papers import computed
from quartet.report.papers.ours import SeriesSpec, find
from quartet.report.papers.series import Contrast, Series
from quartet.report.run_report import Report
from quartet.report.spec import Entry, read_entries


@dataclass(frozen=True, kw_only=True)
class Exhibit(Entry):
    """A table or figure of a paper, an entry of exhibits.yaml.

    Attributes:
        paper: a key of `PublishedFigures.papers`.
        place: what the paper calls it, e.g. "Table 3".
        title: what is measured on what.
        finds: what the paper reads from it, in our words.
        tables: the keys of `PublishedFigures.tables` that hold its numbers; none where it prints a picture alone.
        presets: whole settings that run it, the smallest first; none where no stage measures it.
        keys: the keys of params.yaml that switch it on.
        ours: where our figures are, or the name of what finds them in `FINDERS`.
        contrasts: the comparisons that it is printed for.
        section: the title of the section that shows all our figures of the kind.
        rows, without: of the published rows, those that it has (none: all) and those that it leaves to another.
    """

    paper: str
    place: str
    title: str
    finds: str
    presets: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    ours: str | tuple[SeriesSpec, ...]
    contrasts: tuple[Contrast, ...]
    section: str
    tables: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def has(self, row: str) -> bool:
        """Whether a row of its published tables belongs to it."""
        return (not self.rows or row in self.rows) and row not in self.without


@cache
def exhibits() -> tuple[Exhibit, ...]:
    """Every table and figure of results in the two papers, in their order; read once."""
    entries = read_entries(files("quartet.report.papers") / "exhibits.yaml")
    return TypeAdapter(tuple[Exhibit, ...]).validate_python(entries)


#: What finds our figures where exhibits.yaml cannot say where they are.
FINDERS: dict[str, Callable[[Report], list[Series]]] = {
    "glue-dev": lambda report: computed.glue(report, "dev"),
    "glue-test": lambda report: computed.glue(report, "test"),
    "wikitext": computed.wikitext,
    "positions": computed.positions,
    "times-on-cpu": lambda report: computed.times(report, "cpu"),
    "times-on-gpu": lambda report: computed.times(report, "cuda"),
    "times-one-way": computed.times_one_way,
}


def ours(report: Report, exhibit: Exhibit) -> list[Series]:
    """Our figures beside those of an exhibit."""
    return FINDERS[exhibit.ours](report) if isinstance(exhibit.ours, str) else find(report, exhibit.ours)
