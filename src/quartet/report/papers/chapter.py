"""The papers' tables and figures as Markdown: the claims in a few lines, then each exhibit by itself."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from quartet.report.numbers import NONE, general, listing, p_value
from quartet.report.papers.exhibits import Exhibit, exhibits, ours
from quartet.report.papers.series import (
    VERDICTS,
    Change,
    Contrast,
    Series,
)
from quartet.report.published import PublishedTable, published_figures
from quartet.report.run_report import Report, anchor, code, grid, likes_of_tta, paper_table
from quartet.report.scale import trainings
from quartet.statistics.differences import holm

INTRODUCTION = [
    "Each table and figure of results in the two papers: what the paper reads from it, whether our figures bear that "
    "out, ours beside theirs, and the table as printed. Systems bear this project's names; `-intact` is a masked model "
    "that reads its input without masks. A change of two of our systems is the one that was kept, over the same items; "
    "it is not corrected for the number of comparisons, as that of a claim is. Where none was kept, both figures stand "
    "in its place. A preset's comments say which files it reads; those whose names begin with `paper` have the papers' "
    "sizes.",
    "",
]
NOT_RUN = "Not run in this experiment."
#: From here on a printed number keeps its own decimals (Table 7 of the T-TA paper prints four digits).
MANY = 100
RULE = (
    "The verdict is on the direction of the kept difference over the same items: shown where p < 0.05 after Holm's "
    "correction for all {count} kept p-values of these claims. `p` is so corrected too, of our first set. Sets that "
    "are not the paper's have no verdict."
)
NO_P = (
    "The verdict is on the direction of the kept difference over the same items, by its interval. No p was kept, so "
    "none is corrected. Sets that are not the paper's have no verdict."
)


class Comparison(NamedTuple):
    """A claim on one of our sets.

    Attributes:
        change: ours as it was kept, its p corrected by Holm's method; None where there is none.
        verdict: one of `VERDICTS`.
    """

    series: Series
    change: Change | None
    verdict: str


@dataclass(frozen=True)
class Claim:
    """What a paper claims by an exhibit, on each of our sets that has both systems; on none where it was not run."""

    exhibit: Exhibit
    contrast: Contrast
    comparisons: tuple[Comparison, ...]

    @property
    def verdict(self) -> str:
        """The verdicts with the number of sets that have them. The worst is first: it decides the colour."""
        verdicts = [one.verdict for one in self.comparisons]
        counts = sorted(Counter(verdicts).items(), key=lambda item: VERDICTS.index(item[0]))
        every = len(verdicts)
        return ", ".join(words + (f" ({count} of {every})" if every > 1 else "") for words, count in counts)


def judged(report: Report, shown: Sequence[Exhibit]) -> list[Claim]:
    """Every claim of these exhibits; all their kept differences are one family, corrected by Holm's method."""
    found = [
        (exhibit, contrast, [one for one in ours(report, exhibit) if contrast.applies(one)])
        for exhibit in shown
        for contrast in contrasts(report, exhibit)
        if contrast.headline
    ]
    changes = [contrast.ours(series) for _, contrast, own in found for series in own]
    corrected = iter(holm([change.p for change in changes if change and change.p is not None]))
    family = iter(
        change._replace(p=next(corrected)) if change and change.p is not None else change
        for change in changes
    )

    def comparison(contrast: Contrast, series: Series) -> Comparison:
        change = next(family)
        return Comparison(series, change, contrast.verdict(series, change.p if change else None))

    return [
        Claim(exhibit, contrast, tuple(comparison(contrast, series) for series in own))
        for exhibit, contrast, own in found
    ]


def claims(family: Sequence[Claim]) -> list[str]:
    """What the papers claim, one line each, with what was found here; then what was not run."""
    rows, absent = [], []
    for claim in family:
        exhibit, contrast = claim.exhibit, claim.contrast
        place = f"{published_figures().papers[exhibit.paper].short} {exhibit.place}"
        link = f"[{place}](#{anchor(title(exhibit))})"
        if claim.comparisons:
            first, change, _ = claim.comparisons[0]
            p = NONE if change is None or change.p is None else p_value(change.p)
            beside = f" ({first.printed_on})" if contrast.printed(first) is not None else ""
            paper = f"{contrast.printed_text(first)}{beside}"
            ours_text = contrast.ours_text(first)
            rows.append([contrast.headline, claim.verdict, ours_text, p, first.ours_on, paper, link])
        elif contrast in exhibit.contrasts:
            absent.append(f"{contrast.headline} ({link})")
    heads = ["the papers' claim", "verdict", "ours", "p", "our first set", "paper", "details"]
    count = sum(
        one.change is not None and one.change.p is not None for claim in family for one in claim.comparisons
    )
    rule = RULE.replace("{count}", str(count)) if count else NO_P
    lines = [*grid(heads, rows), rule, ""] if rows else []
    return [*lines, f"Not run here: {'; '.join(absent)}.", ""] if absent else lines


def contrasts(report: Report, exhibit: Exhibit) -> list[Contrast]:
    """What a table is printed to show; T-TAs that came trained stand beside ours where no model of ours is compared."""
    found = []
    for contrast in exhibit.contrasts:
        found.append(contrast)
        if (contrast.first, contrast.second) == ("tta", "first-pass"):
            found += [
                dataclasses.replace(
                    contrast,
                    first=name,
                    headline=f"{contrast.headline}: {code(name)}, trained on other text and at another size",
                )
                for name in likes_of_tta(report)
            ]
    return found


def title(exhibit: Exhibit) -> str:
    """The heading of an exhibit."""
    return f"{published_figures().papers[exhibit.paper].name}, {exhibit.place}: {exhibit.title}"


def body(report: Report, exhibit: Exhibit) -> list[str]:
    """What the paper finds, how ours bears it out, our figures beside theirs, and the table as printed."""
    found = ours(report, exhibit)
    lines = [exhibit.finds, ""]
    if found:
        lines += [
            *_changes(report, exhibit, found),
            *_levels(report, exhibit, found),
            *_scale(report, exhibit, found),
        ]
        lines += [f"All our figures of the kind: [{exhibit.section}](#{anchor(exhibit.section)}).", ""]
    else:
        lines += [f"{NOT_RUN} {how(exhibit)}", ""]
    for name in exhibit.tables:
        lines += _printed(exhibit, *paper_table(name))
    return lines


def how_section(section: str) -> str:
    """How a section's part is run, where a table or figure of the papers has its figures there; else empty."""
    return next((f" {how(exhibit)}" for exhibit in exhibits() if exhibit.section == section), "")


def how(exhibit: Exhibit) -> str:
    """The commands and the keys that run it."""
    if not exhibit.presets:
        return "No stage of the pipeline measures it."
    commands = " or ".join(code(f"make repro PRESET={name}") for name in exhibit.presets)
    keys = listing([code(key) for key in exhibit.keys])
    return f"To run it: {commands}; or set {keys} in `params.yaml`, and `make repro`."


def _changes(report: Report, exhibit: Exhibit, found: Sequence[Series]) -> list[str]:
    rows = []
    for contrast in contrasts(report, exhibit):
        for series in found:
            if contrast.applies(series):
                rows.append(
                    [
                        f"{code(contrast.first)} against {code(contrast.second)}",
                        contrast.verdict(series),
                        contrast.ours_text(series),
                        series.ours_on,
                        contrast.printed_text(series),
                        series.printed_on or NONE,
                    ]
                )
    if not rows:
        return []
    heads = ["change", "verdict", "ours", "our set", "paper", "the paper's set"]
    return [
        f"What it is printed to show{_on(found).replace(' on', ', here on', 1)}:",
        "",
        *_without_constant(heads, rows, found),
    ]


def _levels(report: Report, exhibit: Exhibit, found: Sequence[Series]) -> list[str]:
    rows = []
    for series in found:
        for row, cell in series.ours.items():
            if not exhibit.has(row):
                continue
            printed = series.printed.get(row)
            rows.append(
                [
                    report.label(row),
                    series.ours_on,
                    series.text(row),
                    general(cell.n),
                    NONE if printed is None else series.number(printed),
                    series.printed_on if printed is not None else NONE,
                    series.distance(row),
                ]
            )
    heads = ["system", "our set", "ours", "n", "paper", "the paper's set", "ours - paper"]
    printed = any(series.printed for series in found)
    bounded = any(cell.bounds for series in found for cell in series.ours.values())
    title = f"Our figures{_on(found)}" + (", with 95 % intervals" if bounded else "")
    if printed:
        title += ", beside the paper's"
        title += f" on {found[0].printed_on}" if len(found) == 1 else ""
    lines = [f"{title}:", "", *_without_constant(heads, rows, found)]
    if printed and not any(series.same for series in found):
        lines += ["None of these sets is the paper's own, so no difference to its figures is taken.", ""]
    return lines


def _on(found: Sequence[Series]) -> str:
    """Our set, where there is but one."""
    return f" on {found[0].ours_on}" if len(found) == 1 else ""


def _without_constant(heads: list[str], rows: list[list[str]], found: Sequence[Series]) -> list[str]:
    """A table; the names of the sets are in its title where there is but one."""
    keep = [place for place, head in enumerate(heads) if len(found) > 1 or not head.endswith(" set")]
    return grid([heads[place] for place in keep], [[row[place] for place in keep] for row in rows])


def _scale(report: Report, exhibit: Exhibit, found: Sequence[Series]) -> list[str]:
    """How large ours is beside theirs."""
    paper = published_figures().papers[exhibit.paper]
    models = dict.fromkeys(model for series in found for model in series.models)
    ours = "; ".join(trainings(report, models)) or "as in the table of models"
    return [f"Scale: ours {ours}. The paper's: {'; '.join(paper.scale)}.", ""]


def _printed(exhibit: Exhibit, table: PublishedTable, where: str) -> list[str]:
    """The table as the paper prints it."""
    columns = [_as_printed(column) for column in zip(*table.rows.values(), strict=True)]
    rows = [
        [code(system), *entries]
        for system, *entries in zip(table.rows, *columns, strict=True)
        if exhibit.has(system)
    ]
    return [
        f"As printed ({where}; {table.title}; {table.unit}):",
        "",
        *grid(["published", *table.columns], rows),
    ]


def _as_printed(column: Sequence[float | None]) -> list[str]:
    """The numbers of a column with equally many decimals, as far as the paper gives them."""
    texts = [NONE if value is None else f"{value:g}" for value in column]
    short = [
        text for value, text in zip(column, texts, strict=True) if value is not None and abs(value) < MANY
    ]
    places = max((len(text.partition(".")[2]) for text in short), default=0)
    return [
        f"{value:.{places}f}" if value is not None and text in short else text
        for value, text in zip(column, texts, strict=True)
    ]
