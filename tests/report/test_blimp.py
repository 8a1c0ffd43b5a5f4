"""The section of minimal pairs: the whole, the phenomena with their paradigms, and who is above a coin."""

from __future__ import annotations

from quartet.report.cells import Cells
from quartet.report.page import Report
from quartet.report.sections import blimp
from quartet.results import Result
from tests.report.synthetic import facts, row
from tests.report.test_tables import table_row

PARADIGMS = {
    "wh_island": "island_effects",
    "passive_1": "argument_structure",
    "passive_2": "argument_structure",
    "mine": "new",
}


def measured() -> list[Result]:
    """Three systems: one above a coin, one below it, one that is not told from it."""
    rows = []
    for system, value in (("unilm", 0.6), ("tta", 0.51), ("ngram", 0.45), ("unilm/mean", 0.58)):
        rows += [
            row("blimp", system, "blimp", "test", "accuracy", value, 4000, 0.02),
            row("blimp", system, "blimp", "test", "accuracy-micro", value + 0.01, 4000, 0.02),
            row("blimp", system, "blimp", "test", "ties", 0.0015, 4000, 0.001),
            row("blimp", system, "blimp/field/syntax", "test", "accuracy", value, 4000, 0.02),
        ]
        if "/" not in system:
            rows += [
                row("blimp", system, f"blimp/{part}", "test", "accuracy", value, 1000, 0.03)
                for part in (*PARADIGMS, *(f"phenomenon/{name}" for name in set(PARADIGMS.values())))
            ]
    return rows


def test_the_whole_and_every_paradigm_below_its_phenomenon() -> None:
    report = Report(Cells(measured()), facts())
    text = "\n".join(blimp.body(report))
    assert "**`blimp`**, 4 paradigms:" in text
    assert table_row(text, "unilm") == ["60.0 [58.0, 62.0]", "61.0", "60.0 [58.0, 62.0]", "0.15"]
    assert table_row(text, "unilm/mean")[0] == "58.0 [56.0, 60.0]"
    assert "|  | `ngram` | `unilm` | `tta` |" in text
    heads = [
        line.split(" | ")[0] for line in text.split("By phenomenon")[1].splitlines() if line.startswith("| ")
    ]
    assert heads[1:] == [
        "| **argument structure**", "| `passive_1`", "| `passive_2`", "| **island effects**", "| `wh_island`",
        "| **others**", "| `mine`",
    ]  # fmt: skip
    assert table_row(text, "passive_2") == ["45.0", "60.0", "51.0"]
    assert "up to ± 3.0." in text
    assert [place.dataset for place in report.cells.rest("blimp")] == ["blimp/phenomenon/new"] * 3


def test_who_is_shown_to_be_above_a_coin() -> None:
    (said,) = blimp.findings(Report(Cells(measured()), facts()))
    assert "4,000 pairs" in said
    assert "`unilm` is highest, 60.0 [58.0, 62.0]; shown to be above a coin: `unilm`." in said
    only = [each for each in measured() if each.system == "ngram"]
    assert "none is shown to be above a coin" in blimp.findings(Report(Cells(only), facts()))[0]
    assert blimp.findings(Report(Cells([]), facts())) == []
