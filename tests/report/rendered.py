"""The whole report of invented results as text, and its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from quartet.report.drawing import PictureData, style
from quartet.report.facts import RunFacts
from quartet.report.figures import PLOTS
from quartet.report.papers.exhibits import exhibits, ours
from quartet.report.papers.series import Series
from quartet.report.run_report import Report
from quartet.report.spec import sections
from quartet.report.table_renderer import section_body
from quartet.report.tables import NO_PICTURES, ReportDocument, document
from quartet.results import Result
from quartet.tasks.attention.maps import DocumentAttention
from tests.report.synthetic import facts


def markdown(rows: Iterable[Result], known: RunFacts, pictures: Mapping[str, str] = NO_PICTURES) -> str:
    """Everything that the pages hold, before it is HTML."""
    return markdown_of(document(rows, known, pictures))


def markdown_of(whole: ReportDocument) -> str:
    """The same of a document that is made."""
    chapters = (whole.claims, whole.findings, *whole.sections, whole.papers, *whole.end)
    return "\n".join([*whole.run, *(line for one in chapters for line in one.markdown())]) + "\n"


def section(text: str, title: str) -> str:
    """A section of the whole."""
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def table_row(text: str, system: str) -> list[str]:
    """The entries of the first row of a system, without its name."""
    line = next(line for line in text.splitlines() if line.startswith(f"| `{system}` |"))
    return [entry.strip() for entry in line.split("|")[2:-1]]


def table_rows(text: str, system: str) -> list[list[str]]:
    """The entries of all rows of a system."""
    lines = [line for line in text.splitlines() if line.startswith(f"| `{system}` |")]
    return [[entry.strip() for entry in line.split("|")[2:-1]] for line in lines]


def shown(rows: list[Result], table: str, known: RunFacts | None = None) -> tuple[str, Report]:
    """A section alone, and the report that knows what it left over."""
    report = Report(rows, known or facts())
    return "\n".join(section_body(report, table, sections()[table])), report


def of(exhibit: str, report: Report) -> list[Series]:
    """Our figures beside an exhibit, "tta Table 1"."""
    (found,) = (one for one in exhibits() if f"{one.paper} {one.place}" == exhibit)
    return ours(report, found)


def picture_data(rows: Iterable[Result], known: RunFacts | None = None, **curves: Any) -> PictureData:
    """What pictures are drawn from; `curves` are the other fields."""
    return PictureData(report=Report(rows, known or facts()), **curves)


def picture(name: str, data: PictureData) -> Figure | None:
    """A picture of a section by its name."""
    found = ((table, one.pictures[name]) for table, one in sections().items() if name in one.pictures)
    ((table, spec),) = found
    with style():
        return PLOTS[spec.plot](data, table, spec)


def article() -> DocumentAttention:
    """Two paragraphs, three sentences, six tokens; a causal model with attention of two layers."""
    weights = np.tril(np.ones((6, 6)))
    weights /= weights.sum(axis=1, keepdims=True)
    places = np.arange(6)
    return DocumentAttention(
        "one", places // 2, places // 4, np.ones(6, dtype=bool), weights > 0, {1: weights, 3: weights}
    )
