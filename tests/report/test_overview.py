"""The pictures of the first screen: drawn where there is something, the same bytes each time."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from quartet.report import overview
from quartet.report.tables import PICTURES
from tests.report.synthetic import facts, loss_curves, results, row, timings, wer_curves

LENGTHS = [
    row("input-length", name, "wikipedia-sample", f"{tokens}-tokens", "ppl", value - tokens / 3, 9_000, 5.0)
    for name, value in (("transformer-xl", 220.0), ("segatron-xl", 190.0))
    for tokens in (25, 50, 100)
]


def test_each_is_drawn_and_the_same_again(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        rows = [*results(), *LENGTHS]
        done = overview.draw(tmp_path / name, loss_curves(), wer_curves(), rows, facts())
        done["overview-times"] = overview.draw_times(
            tmp_path / name / "overview-times.svg", timings(), facts()
        )
        assert done == dict.fromkeys(PICTURES, True)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_without_figures_nothing_is_drawn(tmp_path: Path) -> None:
    assert not any(overview.draw(tmp_path, {}, {}, [], facts()).values())
    assert not overview.draw_times(tmp_path / "times.svg", [], facts())
    assert list(tmp_path.iterdir()) == []


def test_the_paper_stands_beside_ours_on_its_own_set_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(overview, "save", lambda figure, path: drawn.append(figure))
    for dataset in ("lee", "stsb"):
        rows = [row("sts", name, dataset, "test", "pearson", 0.5, 900, 0.1, None)
                for name in ("tta/context", "bilm/context", "tta/embed", "word2vec")]  # fmt: skip
        overview.draw(tmp_path, {}, {}, rows, facts())
    texts = [{text.get_text() for text in figure.legends[0].get_texts()} for figure in drawn]
    assert texts == [{"ours, with its 95 % interval"}, {"ours, with its 95 % interval", "the paper"}]
    labels = [label.get_text() for label in drawn[1].axes[0].get_yticklabels()]
    assert labels == ["bilm", "tta", "word2vec"], "the embedding layer is left to the section"


@pytest.mark.parametrize(("ending", "columns"), [("", 3), ("-released", 2), ("-released-reset-books", 1)])
def test_the_legend_is_no_wider_than_the_figure(
    ending: str, columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(overview, "save", lambda figure, path: drawn.append(figure))
    rows = [row("input-length", f"{name}{ending}", "wikipedia-sample", "25-tokens", "ppl", 200.0, 9_000, 5.0)
            for name in ("segatron-xl", "transformer-xl", "segatron-xl-sentences")]  # fmt: skip
    overview.draw(tmp_path, {}, {}, rows, facts())
    drawn[0].draw_without_rendering()
    (legend,) = drawn[0].legends
    extent = legend.get_window_extent()
    assert drawn[0].bbox.x0 <= extent.x0
    assert extent.x1 <= drawn[0].bbox.x1
    places = {round(text.get_window_extent().x0) for text in legend.get_texts()}
    assert (len(legend.get_texts()), len(places)) == (3, columns)
