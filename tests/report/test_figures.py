"""The pictures: drawn, the same bytes each time, nothing where there is nothing."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from quartet.report import figures, runtime_figure
from quartet.report.drawing import MARKERS, PALETTE, averaged, look
from quartet.report.facts import PretrainedFacts
from tests.report.synthetic import facts, loss_curves, results, row, timings, wer_curves

Draw = Callable[[Path], bool]
DRAW: dict[str, Draw] = {
    "training": lambda path: figures.training_curves(path, loss_curves(), facts()),
    "rerank": lambda path: figures.wer_curves(path, wer_curves(), results(), facts()),
    "sts": lambda path: figures.sts_bars(path, results(), facts()),
    "runtime": lambda path: runtime_figure.bidirectional(path, timings(), facts()),
    "runtime-causal": lambda path: runtime_figure.one_pass(path, timings(), facts()),
}


@pytest.mark.parametrize("name", DRAW)
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_the_same_numbers_give_the_same_bytes(name: str, suffix: str, tmp_path: Path) -> None:
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    assert DRAW[name](first)
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "black", "svg.hashsalt": "other"}):
        assert DRAW[name](second)  # whatever the user's own settings
    assert first.read_bytes() == second.read_bytes()
    assert b"matplotlib" not in first.read_bytes().lower().partition(b"<defs>")[0][:2000]


def test_another_process_gives_the_same_bytes(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.report.test_figures import DRAW; "
        "DRAW['training'](Path(sys.argv[1]))"
    )
    for name in ("a.svg", "b.svg"):
        subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], check=True)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_the_order_of_the_input_does_not_matter(tmp_path: Path) -> None:
    DRAW["sts"](tmp_path / "a.svg")
    figures.sts_bars(tmp_path / "b.svg", results()[::-1], facts())
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_without_anything_to_draw_no_file_is_written(tmp_path: Path) -> None:
    path = tmp_path / "none.svg"
    assert not figures.training_curves(path, {"tta": []}, facts())
    assert not figures.wer_curves(path, {}, results(), facts())
    assert not figures.sts_bars(path, timings(), facts())
    assert not runtime_figure.bidirectional(path, results(), facts())
    assert not runtime_figure.bidirectional(path, timings(), facts(), "cuda")
    assert not runtime_figure.one_pass(
        path, [each for each in timings() if "unilm" not in each.system], facts()
    )
    assert list(tmp_path.iterdir()) == []


def test_losses_that_mean_different_things_share_no_panel() -> None:
    panels = figures.training_panels(list(loss_curves()), facts())
    assert [list(column.values()) for column in panels] == [
        [["unilm"], ["transformer-xl", "segatron-xl"]],
        [["bilm"], ["bert-", "segabert"]],
        [["tta"], ["tta-segments"]],
    ]
    unknown = figures.training_panels(["tta", "other"], facts())
    assert [list(column.values()) for column in unknown] == [[["tta"]], [["other"]]]


def test_several_seeds_and_unknown_systems_are_drawn(tmp_path: Path) -> None:
    curves = {
        name: [*points, *((step, loss + 0.1) for step, loss in points)]
        for name, points in loss_curves().items()
    }
    assert figures.training_curves(tmp_path / "a.svg", curves, dataclasses.replace(facts(), models=()))
    alone = [each for each in timings() if each.system == "tta/sts"][:1]
    assert runtime_figure.bidirectional(tmp_path / "b.svg", alone, facts())
    strange = {("lists", "dev", "hf-some"): [(0.0, 10.0), (1.0, 30.0)], ("more", "test", "tta"): [(0.0, 0.0)]}
    assert figures.wer_curves(tmp_path / "c.svg", strange, [], facts())


def test_a_row_is_a_set_of_lists_in_the_order_of_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(figures, "save", lambda figure, path: drawn.append(figure))
    names = [f"lists-{letter}" for letter in "fbeacdgh"]
    curves = {(name, "test", "tta"): [(0.0, 30.0), (1.0, 20.0)] for name in names}
    assert figures.wer_curves(tmp_path / "a.svg", curves, [], facts())
    assert [axis.get_title("left").split(",")[0] for axis in drawn[0].axes] == sorted(names)


def test_the_panel_of_bleu_leaves_room_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(figures, "save", lambda figure, path: drawn.append(figure))
    curves = {("mt", "test", "tta"): [(0.0, 30.0), (0.5, 32.0), (1.0, 2.0)]}
    values = {"first-pass": 30.0, "oracle": 38.0}
    rows = [row("rerank", system, "mt", "test", "bleu", value, 9) for system, value in values.items()]
    assert figures.wer_curves(tmp_path / "a.svg", curves, rows, facts())
    axis = drawn[0].axes[0]
    low, high = axis.get_ylim()
    assert 20 < low < 30 < 38 < high < 40, "the oracle is in the panel, the fall to 2 is not"
    assert axis.get_ylabel() == "BLEU"


def test_weights_of_an_exact_search_stand_on_an_axis_of_odds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(figures, "save", lambda figure, path: drawn.append(figure))
    grid = [(weight, 20.0 + weight) for weight in (0.0, 0.5, 1.0)]
    found = [(weight, 20.0 + weight) for weight in (0.0, 0.001, 0.01, 0.2)]
    rows = [row("rerank", "tta", "speech", "test", "weight", 0.0, 9)]
    for points in (grid, found):
        assert figures.wer_curves(tmp_path / "a.svg", {("speech", "test", "tta"): points}, rows, facts())
    even, odds = (figure.axes[0] for figure in drawn)
    assert (even.get_xscale(), even.get_xlim()) == ("linear", (0.0, 1.0))
    assert (odds.get_xscale(), odds.get_xlim()) == ("logit", (0.001, 0.2))
    marks = [
        float(np.asarray(line.get_xdata())[0])
        for line in odds.lines
        if line.get_fillstyle() != "none" and len(np.asarray(line.get_xdata())) == 1
    ]
    assert marks == [0.001], "weight 0 is marked at the left end"


def test_points_that_share_a_step_are_averaged() -> None:
    assert averaged([(2, 4.0), (1, 1.0), (2, 6.0)]) == [(1, 1.0, 1.0, 1.0), (2, 5.0, 4.0, 6.0)]


def test_models_look_different_and_what_is_no_model_is_grey() -> None:
    known = facts()
    looks = [look(model.name, known) for model in known.models]
    assert len({colour for colour, _ in looks}) == len({mark for _, mark in looks}) == len(looks)
    known = dataclasses.replace(
        known, models=known.models[:3], pretrained=(PretrainedFacts(name="tta-books"),)
    )
    looks = [look(name, known) for name in (*(model.name for model in known.models), "tta-books")]
    assert len({colour for colour, _ in looks}) == len({mark for _, mark in looks}) == len(looks)
    assert len(PALETTE) == len(MARKERS)
    assert look("ngram-5", known) not in looks
    assert look("ngram-5", known)[0] not in {colour for colour, _ in looks}


def test_other_kinds_of_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.png or \.svg"):
        figures.sts_bars(tmp_path / "a.jpg", results(), facts())
