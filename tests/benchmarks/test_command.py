"""The command prints a table, keeps its figures, and says in one line what is wrong with what it was given."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.peers.__main__ import (
    ON_GPU,
    STUDIES,
    BenchmarkName,
    ResultsFile,
    _chosen,
    _is_demanded,
    _sentences,
    main,
)
from benchmarks.peers.benchmark_result import BenchmarkFigure, BenchmarkResult, at_least
from benchmarks.peers.models import DEMANDED
from benchmarks.peers.table import BEGIN, END
from quartet.errors import InputError
from quartet.files import read_json, write_jsonl
from tests.benchmarks.peers_setup import SENTENCES
from tests.imports import ROOT
from tests.small_corpus import documents


def test_every_row_has_its_comparison() -> None:
    assert list(STUDIES) == list(BenchmarkName)


def test_the_page_tells_how_to_repeat_every_row_and_has_room_for_the_table() -> None:
    page = (ROOT / "docs" / "speed.md").read_text()
    assert all(f"| `{row.value}` |" in page for row in BenchmarkName)
    assert page.count(BEGIN) == page.count(END) == 1


def test_the_peers_have_our_pytorch() -> None:
    pins = [
        (ROOT / name).read_text().splitlines() for name in ("requirements.txt", "benchmarks/requirements.txt")
    ]
    ours, theirs = ([line for line in lines if line.startswith("torch==")] for lines in pins)
    assert ours == theirs != []


def test_rows_without_their_peer_are_left_out_by_name_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert [row.value for row in _chosen([], None, "cpu")] == [
        "sentence",
        "list",
        "products",
        "growth",
        "peak",
        "segatron",
    ]
    assert "left out, for want of --peers-python: minicons, vectors, trainer" in capsys.readouterr().err
    everywhere = [row for row in BenchmarkName if not row.value.startswith("card-")]
    assert _chosen([], Path("python"), "cpu") == everywhere
    on_gpu = _chosen([], Path("python"), "cuda")
    assert set(on_gpu) == set(BenchmarkName), "what a card can do is asked of a card"
    assert on_gpu[: len(ON_GPU)] == list(ON_GPU), "what is demanded of it first"
    assert _chosen([BenchmarkName.card_spans], None, "cpu") == [BenchmarkName.card_spans], "or by name"
    assert _chosen([BenchmarkName.peak, BenchmarkName.list], None, "cpu") == [
        BenchmarkName.peak,
        BenchmarkName.list,
    ]
    with pytest.raises(InputError, match="--only: trainer: there is no peer; give --peers-python"):
        _chosen([BenchmarkName.peak, BenchmarkName.trainer], None, "cpu")


def test_texts_are_lines_or_segmented_documents(tmp_path: Path) -> None:
    lines, segmented, empty = tmp_path / "a.txt", tmp_path / "a.jsonl", tmp_path / "b.txt"
    lines.write_text("one two\n\n  three \n")
    assert _sentences(lines) == ["one two", "three"]
    write_jsonl(segmented, (document.to_json() for document in documents(8, 5)))
    assert _sentences(segmented) == SENTENCES
    empty.write_text("\n")
    with pytest.raises(InputError, match="holds no sentence"):
        _sentences(empty)


def ran(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    """The exit code of the command."""
    monkeypatch.setattr(sys, "argv", ["peers", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_the_command_prints_a_table_and_keeps_its_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, page, out = tmp_path / "texts", tmp_path / "speed.md", tmp_path / "speed.json"
    texts.write_text("\n".join(SENTENCES))
    page.write_text(f"{BEGIN}{END}")
    command = ["--texts", str(texts), "--shape", "tiny", "--only", "products", "--rounds", "1"]
    command += ["--json", str(out), "--markdown", str(page)]
    assert ran(monkeypatch, *command, "--words", "5000") == 2
    assert "words, 250000 are needed" in capsys.readouterr().err and not out.exists()
    assert ran(monkeypatch, *command, "--words", "2", "--hypotheses", "2") == 0
    assert "products" in capsys.readouterr().out
    study = read_json(out)["products"]
    assert study["sizes"]["texts"] == 2
    assert study["machine"]["device"].startswith("cpu (")
    assert study["figures"][0]["demand"] is None, "nothing is demanded of other sizes"
    assert "T-TA / its matrix products" in page.read_text()


def test_a_shape_or_a_device_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "texts").write_text("one two")
    for option, value in (("--shape", "huge"), ("--device", "abacus")):
        assert ran(monkeypatch, "--texts", str(tmp_path / "texts"), option, value) == 2
        assert value in capsys.readouterr().err


def test_a_row_is_in_the_file_before_it_has_ended(tmp_path: Path) -> None:
    figures = [BenchmarkFigure.of("one", [3.0], at_least(2))]
    found = BenchmarkResult(figures)
    record = ResultsFile(tmp_path / "a.json", {"device": "cuda (a card)"}, 1, {BenchmarkName.card_spans})
    for row in (BenchmarkName.card_spans, BenchmarkName.growth):
        record.begin(row)
        record(found)
    figures.append(BenchmarkFigure.of("two", [1.0], at_least(2)))
    record.begin(BenchmarkName.card_spans)
    record(found)
    kept = read_json(tmp_path / "a.json")
    assert [figure["met"] for figure in kept["card-spans"]["figures"]] == [True, False]
    assert [figure["demand"] for figure in kept["growth"]["figures"]] == [None]


def test_a_gpu_is_asked_for_less_than_a_cpu() -> None:
    assert {row for row in BenchmarkName if _is_demanded(row, DEMANDED, "cuda")} == set(ON_GPU)
    assert all(_is_demanded(row, DEMANDED, "cpu") for row in BenchmarkName)
    assert not any(_is_demanded(row, "tiny", device) for row in BenchmarkName for device in ("cpu", "cuda"))
    assert [row for row in BenchmarkName if _is_demanded(row, "bert-base", "cuda")] == [BenchmarkName.trainer]
