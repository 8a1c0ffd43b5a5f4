"""The sections of SQuAD, RACE and attention, and the picture of the maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from quartet.results import Result
from tests.report.rendered import article, picture, picture_data, shown, table_rows
from tests.report.synthetic import SHARES, row

SYSTEMS = {"random-span": 0.06, "segabert": 0.31, "segabert/released": 0.3, "bert-": 0.25}


def squad_rows() -> list[Result]:
    rows = []
    for system, value in SYSTEMS.items():
        for dataset, metrics in (
            ("squad1", ("em", "f1")),
            ("squad2", ("em", "f1", "em-hasans", "f1-hasans", "noans")),
        ):
            rows += [row("squad", system, dataset, "dev", metric, value, 700, 0.02) for metric in metrics]
        if system != "random-span":
            for metric in ("em-best", "f1-best"):
                rows.append(row("squad", system, "squad2", "dev", metric, value + 0.05, 700, 0.02))
            for metric in ("em-threshold", "f1-threshold"):
                rows.append(row("squad", system, "squad2", "dev", metric, -1.25, 700, 0.3))
    return rows


def race_rows() -> list[Result]:
    rows = []
    for system, value in {"majority": 0.25, "bag-of-words": 0.29, "segabert": 0.36}.items():
        for dataset, n in (("race", 1400), ("race-middle", 400), ("race-high", 1000)):
            rows.append(row("race", system, dataset, "dev", "accuracy", value, n, 0.02))
    rows.append(row("race", "segabert", "race", "dev", "passage-read", 0.4, 1400))
    return rows


def attention_rows() -> list[Result]:
    values = {"segabert/layer-1": 0.5, "segabert/layer-2": 0.33, "segabert/uniform": 0.32}
    return [
        row("attention", system, "wikipedia-sample", "test", metric, value, 1260, 0.03)
        for system, value in values.items()
        for metric in SHARES
    ]


@pytest.mark.parametrize(
    ("table", "rows"), [("squad", squad_rows), ("race", race_rows), ("attention", attention_rows)]
)
def test_every_figure_is_shown_in_its_section(table: str, rows: Callable[[], list[Result]]) -> None:
    text, report = shown(rows(), table)
    assert report.rest(table) == []
    assert "95 % bootstrap interval" in text


def test_squad_has_a_table_a_version() -> None:
    text, _ = shown(squad_rows(), "squad")
    first, second = table_rows(text, "segabert")
    assert first == ["31.0 [29.0, 33.0]", "31.0 [29.0, 33.0]"]
    assert second[-2:] == ["-1.25", "-1.25"]


def test_race_has_a_row_a_system_and_a_column_a_level() -> None:
    text, _ = shown(race_rows(), "race")
    assert table_rows(text, "segabert") == [
        ["36.0 [34.0, 38.0]", "36.0 [34.0, 38.0]", "36.0 [34.0, 38.0]", "40.0"]
    ]
    assert "n = 400 to 1,400 questions" in text


def test_the_maps_show_boundaries_labels_and_a_scale() -> None:
    figure: Any = picture("attention", picture_data([], maps={"segabert": article()}))
    panel = figure.axes[0]
    assert panel.get_title(loc="left") == "segabert, layer 1"
    assert "key" in panel.get_xlabel()
    assert "query" in panel.get_ylabel()
    assert {round(float(line.get_xdata()[0]), 1) for line in panel.lines} >= {1.5, 3.5}
    assert len(panel.lines) == 2 * (2 + 1), "two boundaries of sentences, one of paragraphs, on both axes"
    assert [axis.get_ylabel() for axis in figure.axes[2:]] == ["attention probability"] * 2
    assert panel.images[0].get_array().mask.sum() == 15, "what may not be seen has no colour"
