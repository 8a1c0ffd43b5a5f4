"""The papers' tables and figures as Markdown: the claims in a few lines, then each exhibit by itself."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence

from quartet.report.numbers import NONE, general, listing
from quartet.report.papers.exhibits import Exhibit, exhibits, ours
from quartet.report.papers.series import Contrast, Series
from quartet.report.published import PublishedTable, published_figures
from quartet.report.run_report import Report, anchor, code, grid, likes_of_tta, paper_table

INTRODUCTION = [
    "Each table and figure of results in the two papers: what the paper reads from it, whether our figures bear that "
    "out, ours beside theirs, and the table as printed. Systems bear this project's names; `-intact` is a masked model "
    "that reads its input without masks. A difference of two of our systems over the same items has a paired interval "
    "where it was measured, else one from the far ends of the two systems' intervals, which is wider than it need be. "
    "A preset's comments say which files it reads; those whose names begin with `paper` have the papers' sizes.",
    "",
]
NOT_RUN = "Not run in this experiment."
#: From here on a printed number keeps its own decimals (Table 7 of the T-TA paper prints four digits).
MANY = 100
#: As many scales as a sentence gives.
FEW = 3
RULE = (
    "The verdict is on the direction, by the 95 % interval of our change: shown where all of it is on one side, not "
    "shown where it reaches over both."
)


def claims(report: Report, shown: Sequence[Exhibit]) -> list[str]:
    """What the papers claim by these exhibits, one line each, with what was found here; then what was not run."""
    rows, absent = [], []
    for exhibit in shown:
        found = ours(report, exhibit)
        for contrast in contrasts(report, exhibit):
            if contrast.headline:
                place = f"{published_figures().papers[exhibit.paper].short} {exhibit.place}"
                link = f"[{place}](#{anchor(title(exhibit))})"
                compared = [series for series in found if contrast.ours(series)]
                if compared:
                    rows.append([contrast.headline, *_claim(contrast, compared), link])
                elif contrast in exhibit.contrasts:
                    absent.append(f"{contrast.headline} ({link})")
    heads = ["the papers' claim", "paper", "ours", "our set", "verdict", "details"]
    lines = grid(heads, rows) if rows else []
    lines += [f"{RULE} Sets and sizes are not the paper's: see the details.", ""] if rows else []
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


def _claim(contrast: Contrast, compared: Sequence[Series]) -> list[str]:
    """What is printed, ours of the first set, that set, and the verdict over all sets."""
    first = compared[0]
    change = contrast.ours(first)
    assert change is not None
    printed = contrast.printed(first)
    verdicts = Counter(contrast.verdict(series) for series in compared)
    verdict = contrast.verdict(first)
    if len(compared) > 1:
        verdict = ", ".join(
            f"{words} ({count} of {len(compared)})" for words, count in verdicts.most_common()
        )
    return [
        _direction(contrast) if printed is None else contrast.text(printed, None, first),
        contrast.text(*change, first),
        first.ours_on,
        verdict,
    ]


def _direction(contrast: Contrast) -> str:
    """The direction of a picture without numbers."""
    return {1: "higher", -1: "lower", 0: "alike", None: NONE}[contrast.claimed]


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
            change = contrast.ours(series)
            if change is None:
                continue
            printed = contrast.printed(series)
            rows.append(
                [
                    f"{code(contrast.first)} against {code(contrast.second)}",
                    series.ours_on,
                    contrast.text(*change, series),
                    _direction(contrast) if printed is None else contrast.text(printed, None, series),
                    contrast.verdict(series),
                ]
            )
    if not rows:
        return []
    heads = ["change", "our set", "ours", "paper", "verdict"]
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
    scales = list(dict.fromkeys(_scales(report, found)))
    more = f", and {len(scales) - FEW} more" if len(scales) > FEW else ""
    ours = f"{'; '.join(scales[:FEW])}{more}" if scales else "as in the table of models"
    return [f"Scale: ours {ours}. The paper's: {'; '.join(paper.scale)}.", ""]


def _scales(report: Report, found: Sequence[Series]) -> Iterator[str]:
    """Those of this run's own models."""
    trained = {one.name for one in report.facts.pretrained}
    for series in found:
        for system, cell in series.ours.items():
            if report.model(system) not in trained:
                yield from (row.scale for row in cell.rows if "parameters" in row.scale)


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
