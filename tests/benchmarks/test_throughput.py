"""The speed beside the bare libraries: equal outputs, figures of all rows, and the peak of a made-up corpus."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks import throughput
from benchmarks.memory import made_up
from quartet.errors import InputError
from quartet.files import read_json
from tests.text import corpus


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder of documents."""
    books = tmp_path / "books"
    books.mkdir()
    for document in corpus.documents(10):
        paragraphs = [paragraph.text for paragraph in document.paragraphs]
        (books / f"{document.id}.txt").write_text("\n\n".join([*paragraphs, "Café, he said. [MASK]"]))
    return books


def test_ours_and_the_bare_libraries_find_the_same(texts: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    found = throughput.study(work, texts, 4000, vocabulary=300, rounds=1, workers=2)
    assert [check.what for check in found.checks] == ["sentences", "ids"]
    demanded = [figure for figure in found.figures if figure.demand]
    assert [str(figure.demand) for figure in demanded] == ["at least 0.9"]
    assert all(figure.median > 0 for figure in found.figures)
    assert len(found.figures) == 5
    assert len(found.seconds) == 6
    assert 4000 <= found.sizes["characters"] < 6000, "whole documents"
    assert found.sizes["sentences"] > 50


def test_outputs_that_differ_are_not_timed(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Whole:
        def span_tokenize(self, paragraph: str) -> list[tuple[int, int]]:
            return [(0, len(paragraph))]

    monkeypatch.setattr(throughput, "_bare_punkt", Whole)
    (tmp_path / "work").mkdir()
    with pytest.raises(InputError, match=r"sentences: there are .* numbers: nothing was timed"):
        throughput.study(tmp_path / "work", texts, 0, vocabulary=300, rounds=1, workers=1)


def test_the_command_tells_the_peak_of_a_made_up_corpus(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    options = ["--synthetic-gb", "0.0002", "--vocabulary", "400", "--workers", "1", "--json", str(out)]
    done = CliRunner().invoke(throughput.app, options, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    figures = read_json(out)["figures"]
    own, others, all_together = (
        [figure["median"] for figure in figures if figure["name"].endswith(whose)]
        for whose in ("this process", "the largest other", "all")
    )
    assert len(own) == len(others) == len(all_together) == 3
    assert all(whole >= one > 0 for one, whole in zip(own, all_together, strict=True))
    assert all(figure["unit"] == "MiB" for figure in figures)
    assert 200_000 <= read_json(out)["sizes"]["characters"] < 220_000
    assert "peak of encoding" in done.output


def test_nothing_to_read_is_said() -> None:
    with pytest.raises(InputError, match="--texts: there is nothing to read"):
        CliRunner().invoke(throughput.app, [], catch_exceptions=False)


def test_made_up_text_is_always_the_same_and_as_long_as_asked() -> None:
    some, more = list(made_up(20_000)(Path())), list(made_up(40_000)(Path()))
    assert more[: len(some)] == some
    assert 20_000 <= sum(document.size for document in some) < 20_000 + max(d.size for d in some)
    assert any("Dr." in paragraph.text for document in some for paragraph in document.paragraphs)
