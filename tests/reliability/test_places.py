"""Every path of a command is looked at before any work: no input is lost, and no scores that took hours."""

from __future__ import annotations

import io
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

import quartet
from quartet import cli
from quartet.errors import InputError
from quartet.paths import check_paths
from quartet.scoring.cache import ScoreCache
from tests.nbest.lists import Words

LISTS = {
    "u1": {"ref": "a b", "hyp_1": {"score": -1.0, "text": "a c"}, "hyp_2": {"score": -1.5, "text": "a b"}}
}
RESCORE = ("rescore", "--nbest", "lists.json", "--lm-weight", "0.5")


def database(path: Path) -> None:
    """One of something else."""
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE runs (name TEXT)")


def folder_of_files(folder: Path) -> None:
    """What the cases below name."""
    (folder / "lists.json").write_text(json.dumps(LISTS))
    (folder / "hard.json").hardlink_to(folder / "lists.json")
    (folder / "link.json").symlink_to("lists.json")
    (folder / "notes.txt").write_text("mine\n")
    (folder / "circle").symlink_to("circle")
    (folder / "folder").mkdir()
    (folder / "model").mkdir()
    (folder / "model" / "config.json").write_text("{}")
    (folder / "lm.arpa").write_text("\\data\\\n")
    database(folder / "mlflow.db")
    os.mkfifo(folder / "pipe")


#: What is wrong: the command's arguments, and what is said of it.
REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "the name of a packed file": (
        (*RESCORE, "--out", "best.jsonl.gz"),
        "what is written is plain; name best.jsonl, and pack it then",
    ),
    "a folder as output": ((*RESCORE, "--out", "folder"), "--out: folder is a folder"),
    "an input as output": (
        (*RESCORE, "--out", "lists.json"),
        "--out: lists.json is one of the files to read",
    ),
    "by a hard link": ((*RESCORE, "--out", "hard.json"), "--out: hard.json is one of the files to read"),
    "by a link": ((*RESCORE, "--out", "link.json"), "--out: link.json is one of the files to read"),
    "below a file": ((*RESCORE, "--out", "notes.txt/out"), "--out notes.txt/out: is no path"),
    "a circle of links": ((*RESCORE, "--out", "circle"), "--out circle: is no path"),
    "too long a name": ((*RESCORE, "--out", "x" * 300), "is no path"),
    "two outputs": ((*RESCORE, "--out", "o", "--text-out", "./o"), "--text-out: o is that of --out"),
    "standard output twice": (
        (*RESCORE, "--out", "-", "--ref-out", "-"),
        "--ref-out: /dev/stdout is that of",
    ),
    "the model's file": (
        (*RESCORE, "--model", "model", "--out", "model/config.json"),
        "--out: model/config.json is one of the model's files",
    ),
    "the model itself": ((*RESCORE, "--model", "lm.arpa", "--out", "lm.arpa"), "one of the model's files"),
    "the input as cache": (
        (*RESCORE, "--out", "o", "--cache", "lists.json"),
        "--cache: lists.json is one of the files to read",
    ),
    "the output as cache": ((*RESCORE, "--out", "o", "--cache", "o"), "--cache: o is that of --out"),
    "a text as cache": ((*RESCORE, "--out", "o", "--cache", "notes.txt"), "notes.txt is no file of scores"),
    "another database": ((*RESCORE, "--out", "o", "--cache", "mlflow.db"), "mlflow.db is no file of scores"),
    "a pipe as cache": ((*RESCORE, "--out", "o", "--cache", "pipe"), "--cache: pipe is no file"),
    "a folder as cache": ((*RESCORE, "--out", "o", "--cache", "folder"), "--cache: folder is a folder"),
    "standard output as cache": ((*RESCORE, "--out", "o", "--cache", "-"), "--cache: - is no file"),
    "no lists": (("rescore", "--nbest", "none", "--lm-weight", "0", "--out", "o"), "none: no such file"),
    "a folder of lists": (
        ("rescore", "--nbest", "folder", "--lm-weight", "0", "--out", "o"),
        "folder: is a folder",
    ),
    "no references": (
        (*RESCORE, "--references", "none", "--out", "o"),
        "none: no such file (--references)",
    ),
    "no lists to tune on": (
        ("rescore", "--nbest", "lists.json", "--tune", "none", "--out", "o"),
        "none: no such file (--tune)",
    ),
    "costs that are an output": (
        (*RESCORE, "--format", "kaldi", "--scores", "notes.txt", "--out", "notes.txt"),
        "--out: notes.txt is one of the files to read",
    ),
    "standard input twice": (
        ("rescore", "--nbest", "-", "--tune", "-", "--out", "o"),
        "--tune: /dev/stdin can be read but once",
    ),
    "a pipe twice": (
        ("rescore", "--nbest", "pipe", "--tune", "pipe", "--out", "o"),
        "--tune: pipe can be read but once",
    ),
    "texts that are not there": (("score", "none"), "none: no such file (TEXTS)"),
    "texts as cache": (
        ("score", "notes.txt", "--cache", "notes.txt"),
        "--cache: notes.txt is one of the files",
    ),
    "texts to embed": (("embed", "folder", "--model", "model"), "folder: is a folder"),
    "results that are not there": (("compare", "none", "notes.txt"), "none: no such file (A.jsonl)"),
    "one standard input for two": (("compare", "-", "-"), "B.jsonl: /dev/stdin can be read but once"),
    "an export to a file": (("export", "model", "notes.txt", "--fp16"), "OUT: notes.txt is a file"),
    "an export to standard output": (("export", "model", "-", "--fp16"), "OUT: - is no folder"),
    "an export to a pipe": (("export", "model", "pipe", "--fp16"), "OUT: pipe is no folder"),
    "an export to a disk": (("export", "model", "/dev", "--fp16"), "OUT: /dev is a disk's own folder"),
    "no lists to check": (
        ("export", "model", "new", "--fp16", "--check", "none"),
        "none: no such file (--check)",
    ),
}


def told(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line of what is refused."""
    with pytest.raises(SystemExit) as stop:
        cli.main(list(arguments))
    assert stop.value.code == 2
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert captured.out == ""
    return line


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_before_any_work_and_nothing_is_touched(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(*given: object) -> object:
        raise AssertionError(f"opened {given}")

    monkeypatch.setattr(quartet, "load", never)
    monkeypatch.setattr("quartet.scorers.open_scorer", never)
    monkeypatch.setattr("quartet.export.writing.load", never)
    monkeypatch.chdir(tmp_path)
    folder_of_files(tmp_path)

    def state() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    before = state()
    arguments, said = REFUSED[name]
    assert said in told(arguments, capsys)
    assert state() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*RESCORE, "--out", "folder/out"), "folder is not yours to write in"),
        ((*RESCORE, "--out", "notes.txt"), "notes.txt cannot be written"),
        (("score", "notes.txt"), "notes.txt: cannot be read (TEXTS)"),
        (("export", "model", "folder/new", "--fp16"), "folder is not yours to write in"),
    ],
)
def test_what_is_not_yours_is_refused(
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder_of_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    access = os.access  # root may everything
    mine = ("folder", "notes.txt")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name not in mine and access(path, mode))
    assert said in told(arguments, capsys)


def test_a_closed_stream_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(InputError, match="/dev/stdin is closed"):
        check_paths([("TEXTS", Path("/dev/stdin"))])
    with pytest.raises(InputError, match="/dev/stdout is closed"):
        check_paths(outputs=[("--out", Path("/dev/stdout"))])
    with pytest.raises(InputError, match="is no open file"):
        check_paths(outputs=[("--out", Path("/dev/fd/987"))])


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """The command with a model that likes short texts, in a folder of files, with a standard input."""

    def run(*arguments: str, text: bytes = b"") -> int:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text), encoding="utf-8"))
        with pytest.raises(SystemExit) as stop:
            cli.main(list(arguments))
        return int(stop.value.code or 0)

    class Rescorer(Words):
        def rescore(self, lists: object, **options: object) -> object:
            return quartet.rescore(self, lists, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(quartet, "load", lambda *given, **named: Rescorer())
    monkeypatch.chdir(tmp_path)
    folder_of_files(tmp_path)
    return run


def test_a_dash_is_standard_input_and_output(
    words: Callable[..., int], tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert words(*RESCORE, "--out", "best.jsonl") == 0
    expected = (tmp_path / "best.jsonl").read_bytes()
    capsysbinary.readouterr()
    lists = (tmp_path / "lists.json").read_bytes()
    assert words("rescore", "--nbest", "-", "--lm-weight", "0.5", "--out", "-", text=lists) == 0
    assert capsysbinary.readouterr().out == expected
    for references in (b"u1 a b\n", b'{"u1": "a b"}'):  # whose kind is told by reading them once more
        assert words(*RESCORE, "--out", "-", "--references", "-", text=references) == 0
        assert capsysbinary.readouterr().out == expected
    assert words("compare", "-", "best.jsonl", text=expected) == 0
    assert capsysbinary.readouterr().out.startswith(b"a: WER, %     50.00\n")


def test_a_cache_may_be_new_empty_or_one_of_scores(words: Callable[..., int], tmp_path: Path) -> None:
    ScoreCache(tmp_path / "old").__exit__(None, None, None)
    (tmp_path / "empty").touch()
    (tmp_path / "link").symlink_to("old")
    for name in ("new", "old", "empty", "link", "old"):
        assert words(*RESCORE, "--out", "o", "--cache", name) == 0
    assert (tmp_path / "link").is_symlink()


def test_the_python_interface_keeps_the_cache_apart_too(tmp_path: Path) -> None:
    folder_of_files(tmp_path)
    lists = tmp_path / "lists.json"
    for cache, said in ((lists, "one of the files to read"), (tmp_path / "notes.txt", "no file of scores")):
        before = cache.read_bytes()
        with pytest.raises(InputError, match=said):
            quartet.rescore(Words(), lists, weight=0.5, cache=cache)
        assert cache.read_bytes() == before
    found = quartet.rescore(Words(), lists, weight=0.5)
    with pytest.raises(InputError, match="is a folder"):
        found.write(tmp_path)
