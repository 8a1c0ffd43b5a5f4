"""The pictures: each entry drawn, the same bytes each time, nothing where there is nothing."""

from __future__ import annotations

import dataclasses
import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from quartet.report import figures, spec
from quartet.report.drawing import MARKERS, PALETTE, averaged, look
from quartet.report.facts import PretrainedFacts
from quartet.report.spec import sections
from quartet.results import Result
from tests.report.rendered import article, picture, picture_data
from tests.report.synthetic import facts, loss_curves, results, row, timings, wer_curves

LENGTHS = [
    row("input-length", name, "wikipedia-sample", f"{tokens}-tokens", "ppl", value - tokens / 3, 9_000, 5.0)
    for name, value in (("transformer-xl", 220.0), ("segatron-xl", 190.0))
    for tokens in (25, 50, 100)
]
PICTURES = {name for section in sections().values() for name in section.pictures}


def draw_all(folder: Path) -> set[str]:
    """Every picture of the invented run, and of one on a GPU."""
    cuda = [dataclasses.replace(one, split="test-cuda") for one in timings()]
    data = picture_data([*results(), *LENGTHS], training=loss_curves(), weights=wer_curves(),
                        maps={"segabert": article()})  # fmt: skip
    folder.mkdir()
    return {
        *figures.draw(folder, data),
        *figures.draw(folder, picture_data([*timings(), *cuda]), timed=True),
    }


def test_every_entry_is_drawn_with_the_same_bytes(tmp_path: Path) -> None:
    assert draw_all(tmp_path / "a") == PICTURES
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "black", "svg.hashsalt": "other"}):
        draw_all(tmp_path / "b")  # whatever the user's own settings
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
        assert b"matplotlib" not in path.read_bytes().lower().partition(b"<defs>")[0][:2000]


PICTURE = {"plot": "bars", "shows": "something"}


@pytest.mark.parametrize("twice", ["section", "picture"])
def test_a_name_of_a_section_or_picture_is_of_one_alone(monkeypatch: pytest.MonkeyPatch, twice: str) -> None:
    numbers = itertools.count()

    def entries(_: object) -> dict[str, Any]:
        number = next(numbers)
        section = {"title": "A title", "order": number, "intro": "", "body": []}
        name, shown = (twice, f"{number}") if twice == "section" else (f"{number}", twice)
        return {name: {**section, "pictures": {shown: PICTURE}}}

    monkeypatch.setattr(spec, "read_entries", entries)
    with pytest.raises(ValueError, match=f"{twice} is the name"):
        spec.sections.__wrapped__()


def test_another_process_and_order_give_the_same_bytes(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from quartet.report.figures import draw; "
        "from tests.report.rendered import picture_data; from tests.report.synthetic import *; "
        "draw(Path(sys.argv[1]), picture_data(results()[::-1], training=loss_curves()))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    draw_all(tmp_path / "b")
    for name in ("training.svg", "sts.svg"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_without_anything_to_draw_no_file_is_written(tmp_path: Path) -> None:
    one_way = [each for each in timings() if "unilm" not in each.system]
    for timed in (False, True):
        assert not figures.draw(tmp_path, picture_data([], training={"tta": []}), timed=timed)
    assert list(tmp_path.iterdir()) == []
    assert picture("runtime-cuda", picture_data(timings())) is None
    assert picture("runtime-causal", picture_data(one_way)) is None


def test_losses_that_mean_different_things_share_no_panel() -> None:
    panels = figures.training_panels(list(loss_curves()), facts())
    assert [list(column.values()) for column in panels] == [
        [["unilm"], ["transformer-xl", "segatron-xl"]],
        [["bilm"], ["bert-", "segabert"]],
        [["tta"], ["tta-segments"]],
    ]
    unknown = figures.training_panels(["tta", "other"], facts())
    assert [list(column.values()) for column in unknown] == [[["tta"]], [["other"]]]


def test_several_seeds_and_unknown_systems_are_drawn() -> None:
    curves = {
        name: [*points, *((step, loss + 0.1) for step, loss in points)]
        for name, points in loss_curves().items()
    }
    strange = {("lists", "dev", "hf-some"): [(0.0, 10.0), (1.0, 30.0)], ("more", "test", "tta"): [(0.0, 0.0)]}
    unknown = picture_data([], dataclasses.replace(facts(), models=()), training=curves, weights=strange)
    alone = [each for each in timings() if each.system == "tta/sts"][:1]
    assert picture("training", unknown) and picture("rerank", unknown)
    assert picture("runtime", picture_data(alone))


def test_a_row_is_a_set_of_lists_in_the_order_of_the_report() -> None:
    names = [f"lists-{letter}" for letter in "fbeacdgh"]
    curves = {(name, "test", "tta"): [(0.0, 30.0), (1.0, 20.0)] for name in names}
    drawn = picture("rerank", picture_data([], weights=curves))
    assert drawn and [axis.get_title("left").split(",")[0] for axis in drawn.axes] == sorted(names)


def test_the_panel_of_bleu_leaves_room_above() -> None:
    curves = {("mt", "test", "tta"): [(0.0, 30.0), (0.5, 32.0), (1.0, 2.0)]}
    values = {"first-pass": 30.0, "oracle": 38.0}
    rows = [row("rerank", system, "mt", "test", "bleu", value, 9) for system, value in values.items()]
    drawn = picture("rerank", picture_data(rows, weights=curves))
    assert drawn is not None
    low, high = drawn.axes[0].get_ylim()
    assert 20 < low < 30 < 38 < high < 40, "the oracle is in the panel, the fall to 2 is not"
    assert drawn.axes[0].get_ylabel() == "BLEU"


def test_weights_of_an_exact_search_stand_on_an_axis_of_odds() -> None:
    grid = [(weight, 20.0 + weight) for weight in (0.0, 0.5, 1.0)]
    found = [(weight, 20.0 + weight) for weight in (0.0, 0.001, 0.01, 0.2)]
    rows = [row("rerank", "tta", "speech", "test", "weight", 0.0, 9)]
    drawn = [picture("rerank", picture_data(rows, weights={("speech", "test", "tta"): points}))
             for points in (grid, found)]  # fmt: skip
    even, odds = (figure.axes[0] for figure in drawn if figure)
    assert (even.get_xscale(), even.get_xlim()) == ("linear", (0.0, 1.0))
    assert (odds.get_xscale(), odds.get_xlim()) == ("logit", (0.001, 0.2))
    marks = [
        float(np.asarray(line.get_xdata())[0])
        for line in odds.lines
        if line.get_fillstyle() != "none" and len(np.asarray(line.get_xdata())) == 1
    ]
    assert marks == [0.001], "weight 0 is marked at the left end"


def similarities(dataset: str) -> list[Result]:
    systems = ("tta/context", "bilm/context", "tta/embed", "word2vec")
    return [row("sts", name, dataset, "test", "pearson", 0.5, 900, 0.1, None) for name in systems]


def test_the_paper_stands_beside_ours_on_its_own_set_alone() -> None:
    drawn = [picture("overview-sts", picture_data(similarities(dataset))) for dataset in ("lee", "stsb")]
    texts = [{text.get_text() for text in figure.legends[0].get_texts()} for figure in drawn if figure]
    assert texts == [{"ours, with its 95 % interval"}, {"ours, with its 95 % interval", "the paper"}]
    labels = [label.get_text() for label in drawn[1].axes[0].get_yticklabels()] if drawn[1] else []
    assert labels == ["bilm", "tta", "word2vec"], "the embedding layer is left to the section"


@pytest.mark.parametrize(("ending", "columns"), [("", 3), ("-released", 2), ("-released-reset-books", 1)])
def test_the_legend_is_no_wider_than_the_figure(ending: str, columns: int) -> None:
    rows = [row("input-length", f"{name}{ending}", "wikipedia-sample", "25-tokens", "ppl", 200.0, 9_000, 5.0)
            for name in ("segatron-xl", "transformer-xl", "segatron-xl-sentences")]  # fmt: skip
    drawn = picture("overview-lengths", picture_data(rows))
    assert drawn is not None
    drawn.draw_without_rendering()
    (legend,) = drawn.legends
    extent = legend.get_window_extent()
    assert drawn.bbox.x0 <= extent.x0
    assert extent.x1 <= drawn.bbox.x1
    places = {round(text.get_window_extent().x0) for text in legend.get_texts()}
    assert (len(legend.get_texts()), len(places)) == (3, columns)


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
