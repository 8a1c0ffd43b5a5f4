"""Writes the blocks of the pages that quote committed reports.

    python -m docs.quoted.blocks      # or: make docs

A block of a page is between ``<!-- NAME:begin -->`` and ``<!-- NAME:end -->``. `make repro` does not touch the pages:
they quote the committed reports, and a user's run has its own report. Run the command before you commit a new report.
A test fails if this was forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from docs.quoted import boundaries
from docs.quoted.tables import EXPERIMENT, PAIRS, TABLES, pairs, sample, study
from pipeline.run import main
from quartet.errors import InputError
from quartet.files import atomic_path, read_json
from quartet.report.blocks.durations import SECONDS, TRAINING
from quartet.report.facts import read_facts
from quartet.results import Result, read_results

#: What a block is made of: the lines that it has now, and the folder of the reports.
Block = Callable[[list[str], Path], list[str]]


def timings(report: Path) -> list[Result]:
    """The durations of a committed report."""
    return read_results(report / "times" / "timings.jsonl")


def sample_results(_: list[str], reports: Path) -> list[str]:
    """The sample's figures."""
    report = reports / EXPERIMENT
    return sample(read_results(report / "results.jsonl"), timings(report), read_facts(report / "facts.json"))


def sample_metrics(lines: list[str], reports: Path) -> list[str]:
    """The output of `dvc metrics show` on the sample, with the systems that the block has now."""
    folder = reports / EXPERIMENT / "metrics"
    found = {
        path.name: {
            f"{column}.{where}": value
            for column, own in read_json(path).items()
            for where, value in own.items()
        }
        for path in sorted(folder.glob("*.json"))
    }
    heads = ["Path", *sorted({head for own in found.values() for head in own})]
    rows = {
        name: [
            f"reports/{EXPERIMENT}/metrics/{name}",
            *(str(round(own[head], 5)) if head in own else "-" for head in heads[1:]),
        ]
        for name, own in found.items()
    }
    name_of = {line: line.split("    ")[0].rpartition("/")[2].strip() for line in lines}
    kept = [heads, *(rows[name] for name in name_of.values() if name in rows)]
    widths = [max(len(row[at]) for row in kept) for at in range(len(heads))]

    def line(row: list[str]) -> str:
        return "    ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()

    shown: list[str] = []
    for old in lines:
        if old.startswith("Path "):
            shown.append(line(heads))
        elif not old.startswith(f"reports/{EXPERIMENT}/"):
            shown.append(old)
        elif name_of[old] in rows:
            shown.append(line(rows[name_of[old]]))
    return shown


def report_list(lines: list[str], reports: Path) -> list[str]:
    """The table of all reports: what was trained, on what and for how long is of their records, the rest stays."""
    table = []
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ["):
            name = cells[0].removeprefix("[").partition("]")[0]
            rows = [
                row
                for row in timings(reports / name)
                if (row.table, row.system, row.metric) == ("duration", "pretrain", SECONDS)
                and row.split.startswith(TRAINING)
            ]
            devices = " and ".join(sorted({row.device for row in rows}))
            cells[2:5] = [str(len(rows)), devices, f"{sum(row.value for row in rows) / 3600:.1f}"]
        table.append(f"| {' | '.join(cells)} |" if line.startswith("| ") else line)
    return table


def _study(name: str) -> Block:
    return lambda _, reports: ["", *(study if name in TABLES else pairs)(name, reports)]


#: By page, the blocks that it must have.
PAGES: dict[str, dict[str, Block]] = {
    "README.md": {"results": _study("results")},
    "docs/results.md": {
        "sample-results": sample_results,
        **{name: _study(name) for name in ("small", "small-pairs")},
    },
    "docs/pipeline.md": {"sample-metrics": sample_metrics},
    "docs/data.md": {"boundaries": lambda *_: boundaries.block()},
    "docs/findings.md": {
        name: _study(name)
        for name in (*TABLES, *PAIRS)
        if name not in ("results", "small", "small-pairs", "tta-books")
    },
    "reports/README.md": {"reports": report_list},
    "weights/README.md": {"tta-books": _study("tta-books")},
}


def refreshed(page: str, text: str, reports: Path) -> str:
    """The text of a page with all its blocks up to date.

    Raises:
        InputError: a block has no marks.
    """
    for name, block in PAGES[page].items():
        begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
        head, first, rest = text.partition(begin)
        old, last, tail = rest.partition(end)
        if not first or not last:
            raise InputError(
                page, f"has not the marks {begin.strip()} and {end}", "put them where the block belongs"
            )
        text = (
            f"{head}{begin}"
            + "".join(f"{line}\n" for line in block(old.splitlines(), reports))
            + f"{end}{tail}"
        )
    return text


def refresh() -> None:
    """Bring every block of every page up to date with the reports of the working tree."""
    for page in PAGES:
        path = Path(page)
        text = path.read_text(encoding="utf-8")
        new = refreshed(page, text, Path("reports"))
        if new != text:
            with atomic_path(path) as temporary:
                temporary.write_text(new, encoding="utf-8")
            print(f"{page}: brought up to date")


if __name__ == "__main__":
    main(refresh)
