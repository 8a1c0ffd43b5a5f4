"""reports/README.md lists every committed report, with the trainings, devices and hours that its records say."""

from __future__ import annotations

import pytest

from quartet.results import Result, read_results
from tests.committed import committed, timings
from tests.imports import ROOT

REPORTS = ROOT / "reports"
ROWS = {
    cells[0].split("]")[0].removeprefix("["): cells
    for line in (REPORTS / "README.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| [")
    for cells in [[cell.strip() for cell in line.strip("|").split("|")]]
}


def trainings(name: str) -> list[Result]:
    """How long each training of a language model took: one row a model and seed."""
    return [
        row
        for row in read_results(timings(name))
        if (row.table, row.system, row.metric) == ("duration", "pretrain", "seconds")
        and row.split.startswith("train/")
    ]


def test_every_report_is_listed() -> None:
    assert set(ROWS) == {path.parent.name for path in committed("reports").glob("*/results.jsonl")}


@pytest.mark.parametrize("name", ROWS)
def test_trainings_devices_and_hours_are_those_of_the_records(name: str) -> None:
    _, _, count, device, hours, _ = ROWS[name]
    rows = trainings(name)
    assert int(count) == len(rows)
    assert set(device.split(" and ")) == {row.device for row in rows}
    assert float(hours) == round(sum(row.value for row in rows) / 3600, 1)
