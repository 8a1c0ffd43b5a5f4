"""The section of minimal pairs: the whole, the phenomena with their paradigms, and nothing left over."""

from __future__ import annotations

from quartet.results import Result
from tests.report.rendered import shown, table_row
from tests.report.synthetic import row

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
    text, report = shown(measured(), "blimp")
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
    assert "± 3.0" in text, "the widest interval of a paradigm"
    assert [place.dataset for place in report.cells.rest("blimp")] == ["blimp/phenomenon/new"] * 3
