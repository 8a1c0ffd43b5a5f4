"""The report's sections as data, typed: those of a task in its folder's report.yaml, the others in sections.yaml.

A new table is an entry there.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter

#: In the folder of a task: what the report says of it. `quartet.code` counts it for the report alone.
SECTIONS = "report.yaml"


class Entry:
    """A mapping of a YAML file, which has no other keys than its fields."""

    __pydantic_config__ = ConfigDict(extra="forbid")


@dataclass(frozen=True, kw_only=True)
class ColumnSpec(Entry):
    """A column of a table. In all its texts {dataset}, {split}, {m} and {for} stand for those of the table.

    Attributes:
        head: in the table's head.
        metric: of the figure; of several the first that there is, or all of them as `text` says.
        format: a name of `quartet.report.numbers.FORMATS`, one for each metric.
        text: how several figures make one entry, e.g. "{0} ({1})"; {n} is the items behind the last.
        table, dataset, split: where the figure is, if not on the table's; split "any": on the first split that has it.
        each: a column for each of these values, as {for}; "sets" and "groups" are those of the table, "lengths" its
            splits that are ranges of words, as {words}.
        without: sets for which `each` makes no column.
        caption: whether the caption counts its items.
        bounds: whether its interval is shown.
        computed: a name of `quartet.report.computed_cells.CELLS` in the place of a figure.
    """

    head: str
    metric: str | tuple[str, ...] = ()
    format: str | tuple[str, ...] = "hundredfold"
    text: str = ""
    table: str = ""
    dataset: str = "{dataset}"
    split: str = "{split}"
    each: Literal["sets", "groups", "lengths"] | tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    caption: bool = True
    bounds: bool = True
    computed: str = ""

    @property
    def metrics(self) -> tuple[str, ...]:
        """Its metrics."""
        return (self.metric,) if isinstance(self.metric, str) else self.metric

    @property
    def formats(self) -> tuple[str, ...]:
        """A format for each of its metrics."""
        return (self.format,) * len(self.metrics) if isinstance(self.format, str) else self.format

    def filled(self, **values: str) -> ColumnSpec:
        """The same with its texts filled in."""
        return dataclasses.replace(
            self,
            head=fill(self.head, values),
            dataset=fill(self.dataset, values),
            split=fill(self.split, values),
            metric=tuple(fill(one, values) for one in self.metrics),
        )


@dataclass(frozen=True, kw_only=True)
class TableSpec(Entry):
    """A table, or one for each set of the results.

    Attributes:
        columns: see `ColumnSpec`.
        title: over the table; {origin} is what the facts say of a set of lists.
        table: of the results, if not the section's.
        each: what there is a table for: each set and split, each set, or all sets together.
        measures: the values of {m}, a table for each that the results have.
        sets, without: the sets that it is of; none: all.
        parts: endings of sets that are parts of another set, which have no table of their own.
        readings, without_readings: of the systems.
        rows: metrics of which a system must have one; none: those of the columns that the caption counts.
        above: a model whose systems stand on top of every table, and make none by themselves.
        given, missing: a metric that the set must have, or must not have.
        head: of the first column.
        unit: of the items behind the figures.
        notes: names of `quartet.report.computed_cells.NOTES`: what is said of some of its rows.
    """

    columns: tuple[ColumnSpec, ...]
    title: str = "**`{dataset}`** {split}"
    table: str = ""
    each: Literal["group", "set", "all"] = "group"
    measures: dict[str, str] = dataclasses.field(default_factory=lambda: {"": ""})
    sets: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    readings: tuple[str, ...] | None = None
    without_readings: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    above: str = ""
    given: str = ""
    missing: str = ""
    head: str = "system"
    unit: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BlockSpec(Entry):
    """Lines that no table of systems makes: a name of `quartet.report.computed_cells.BLOCKS`."""

    block: str


@dataclass(frozen=True, kw_only=True)
class SetColumn(Entry):
    """A figure of one set.

    Attributes:
        head: what the paper calls the set.
        dataset, metric: where the figure is.
        part: what the split is called after its name, e.g. "_matched".
        words: the metric's name.
    """

    head: str
    dataset: str
    metric: str
    words: str
    part: str = ""


@dataclass(frozen=True, kw_only=True)
class AverageSpec(Entry):
    """Figures of several sets side by side with their plain mean, × 100, above the rows of the paper's table.

    Attributes:
        papers: the published table of each split.
        average: the columns, in the paper's order.
        note: said below.
    """

    papers: dict[str, str]
    average: tuple[SetColumn, ...]
    note: str


@dataclass(frozen=True, kw_only=True)
class PartsSpec(Entry):
    """A table a set whose rows are the set's parts in groups, and whose columns are the systems; values × 100.

    Attributes:
        parts: the parts of each group. Parts that no group lists stand below them, as "others".
        group: what the set of a group's own figure is called: "{dataset}/{group}/{name of the group}".
        metric: of the figures.
        title: over the table; {n} is the number of parts.
        interval: what [low, high] of a group are; those of parts are left out.
        unit: of the items behind the figures.
        note: said below; {widest} is half of the widest interval of a part.
    """

    parts: dict[str, tuple[str, ...]]
    group: str
    metric: str
    title: str
    interval: str
    unit: str
    note: str


@dataclass(frozen=True, kw_only=True)
class PictureSpec(Entry):
    """A picture. Which of the keys from `metric` on it reads is said by the function that draws its kind of plot.

    Attributes:
        plot: a name of `quartet.report.figures.PLOTS`.
        shows: what it shows, in words.
        first: its place on the first screen, by importance; 0: it stands in its section.
        metric: of the figures.
        x, y: what stands at the axes.
        unit: of the items behind the figures.
        models: groups of models, a panel each.
        readings, without_readings: of the systems.
        bars: the readings that have a colour: its number in `quartet.report.drawing.PALETTE`, and the reading's name.
        device: "cpu" or "cuda".
        objectives: of the models; "" where it is not known.
        beside: what the paper's own figures are called; "": they are not shown.
        exhibit: a table or figure of a paper, as (paper, place).
        ticks, legend: the most numbers at the x axis, the most columns of the legend.
    """

    plot: str
    shows: str
    first: int = 0
    metric: str = ""
    x: str = ""
    y: str = ""
    unit: str = ""
    models: tuple[tuple[str, ...], ...] = ()
    readings: tuple[str, ...] = ()
    without_readings: tuple[str, ...] = ()
    bars: dict[str, tuple[int, str]] = dataclasses.field(default_factory=dict)
    device: Literal["cpu", "cuda"] = "cpu"
    objectives: tuple[str, ...] = ()
    beside: str = ""
    exhibit: tuple[str, str] = ("", "")
    ticks: int = 0
    legend: int = 3


@dataclass(frozen=True, kw_only=True)
class SectionSpec(Entry):
    """A section.

    Attributes:
        title: its heading.
        order: its place in the report, by rising numbers.
        intro: what a reader must know.
        interval: what [low, high] are; "" where they have none.
        body: its tables and blocks, in order.
        pictures: its pictures, by the names of their files.
        first: whether its first table stands in the README, by importance; 0: it does not.
        timed: it differs from run to run, and stands on the page of times.
    """

    title: str
    order: int
    intro: str
    interval: str = ""
    body: tuple[TableSpec | AverageSpec | PartsSpec | BlockSpec, ...]
    pictures: dict[str, PictureSpec] = dataclasses.field(default_factory=dict)
    first: int = 0
    timed: bool = False


def fill(text: str, values: dict[str, str]) -> str:
    """A text with the values that it names in braces; other braces stay."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


@cache
def sections() -> dict[str, SectionSpec]:
    """The sections by the table of results that each shows, in the order of the report; read once.

    The keys that begin with _ are parts that several entries of a file share.

    Raises:
        ValueError: two sections, or two pictures of whatever sections, have one name.
    """
    tasks = sorted(files("quartet.tasks").iterdir(), key=lambda folder: folder.name)
    adapter = TypeAdapter(dict[str, SectionSpec])
    found: dict[str, SectionSpec] = {}
    for file in (files("quartet.report") / "sections.yaml", *(folder / SECTIONS for folder in tasks)):
        if file.is_file():
            raw = read_entries(file)
            own = adapter.validate_python({name: raw[name] for name in raw if not name.startswith("_")})
            pictures = [name for one in (*found.values(), *own.values()) for name in one.pictures]
            twice = found.keys() & own.keys() | {name for name in pictures if pictures.count(name) > 1}
            if twice:  # the second would stand in the place of the first
                raise ValueError(f"{file}: {', '.join(sorted(twice))} is the name of another entry already")
            found |= own
    return dict(sorted(found.items(), key=lambda item: item[1].order))


def read_entries(file: Traversable) -> Any:
    """A YAML file of the package as plain data."""
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))
