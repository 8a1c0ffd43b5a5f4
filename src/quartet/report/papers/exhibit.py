"""What a table or a figure of a paper is: what it shows, how it is run here, and what stands beside it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter

from quartet.report.papers.series import Contrast


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """A table or figure of a paper, an entry of exhibits.yaml.

    Attributes:
        paper: a key of `PublishedFigures.papers`.
        place: what the paper calls it, e.g. "Table 3".
        title: what is measured on what.
        finds: what the paper reads from it, in our words.
        tables: the keys of `PublishedFigures.tables` that hold its numbers; none where it prints a picture alone.
        presets: whole settings that run it, the smallest first; none where no stage measures it.
        keys: the keys of params.yaml that switch it on.
        ours: what finds our figures, by its name in `quartet.report.papers.exhibits.FINDERS`.
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
    ours: str
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
    from ruamel.yaml import YAML

    text = files("quartet.report.papers").joinpath("exhibits.yaml").read_text(encoding="utf-8")
    return TypeAdapter(tuple[Exhibit, ...]).validate_python(YAML(typ="safe", pure=True).load(text))
