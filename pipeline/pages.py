"""Make the pages of reports again from what lies beside them: results.jsonl, facts.json and figures/.

    python -m pipeline.pages reports/small ...

For reports whose run is not at hand, after a change of how they are written: no figure is computed.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path

from pipeline.run import main
from quartet.files import atomic_path
from quartet.report.facts import RunFacts, read_facts
from quartet.report.html.page import pages
from quartet.report.numbers import listing
from quartet.report.run_report import Report
from quartet.report.tables import ReportDocument, document, readme, times
from quartet.results import Result, read_results

#: The device of a duration that was kept before durations said it.
NOT_NOTED = "not noted"


def write_pages(folder: Path, whole: ReportDocument, pictures: Path) -> None:
    """README.md, index.html and tables.html of a folder.

    Args:
        pictures: the folder in which the paths of the pictures start.
    """
    for name, text in {"README.md": readme(whole), **pages(whole, pictures)}.items():
        with atomic_path(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def write_times(folder: Path, rows: Iterable[Result], facts: RunFacts) -> None:
    """The pages of the times of a report; their pictures stand within the pages alone."""
    from quartet.report import figures
    from quartet.report.drawing import PictureData

    rows = list(rows)
    with tempfile.TemporaryDirectory() as kept:
        drawn = figures.draw(Path(kept), PictureData(report=Report(rows, facts)), timed=True)
        texts = {"README.md": readme(times(rows, facts)), **pages(times(rows, facts, drawn), Path(kept))}
    for name, text in texts.items():
        with atomic_path(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def remake(folder: Path) -> None:
    """The pages of one report, and of its times.

    Raises:
        InputError: results.jsonl or facts.json is absent or broken.
    """
    facts, found = read_facts(folder / "facts.json"), read_results(folder / "results.jsonl")
    drawn = {path.stem: f"figures/{path.name}" for path in sorted((folder / "figures").glob("*.svg"))}
    write_pages(folder, document(found, facts, drawn), folder)
    timings = folder / "times" / "timings.jsonl"
    if timings.is_file():
        timed = read_results(timings)
        device = computed_on([*timed, *found], [model.name for model in facts.models])
        write_times(timings.parent, timed, dataclasses.replace(facts, device=device, processors=()))


def computed_on(rows: list[Result], models: Collection[str]) -> str:
    """The devices of the trainings of `models`: "a, b and c"; empty of no rows.

    By their durations; where these were not kept, as after `dvc pull`, by what they found ("cpu"); else of all rows.
    """
    lasted = [row for row in rows if row.system == "pretrain" and row.split.startswith("train/")]
    trainings = lasted or [row for row in rows if row.table == "training" and row.system in models]
    devices = {row.device: None for row in trainings or rows}
    named = [device for device in devices if device != NOT_NOTED]
    return (
        listing([*named, *["a device that was not noted"] * (len(named) < len(devices))]) if devices else ""
    )


def pages_again(folder: str, *others: str) -> None:
    """The reports that the command line names."""
    for each in (folder, *others):
        remake(Path(each))
        print(f"{each}: pages made again")


if __name__ == "__main__":
    main(pages_again)
