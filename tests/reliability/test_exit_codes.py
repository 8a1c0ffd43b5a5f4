"""A malformed input of each kind, given to the program as a user would: exit code 2, and one line on stderr."""

from __future__ import annotations

import importlib.metadata
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.run import main
from quartet import cli
from stages.download import download
from stages.nbest import nbest
from stages.segment import segment
from stages.tasks import tasks
from stages.vectors import vectors
from tests.imports import ROOT
from tests.reliability.malformed import every_case, params
from tests.reliability.malformed.case import Case, as_json

#: Cases, and the command `quartet` for each; {} is the case's folder.
COMMANDS: dict[str, list[str]] = {
    "checkpoint/card: cut short": ["score", "--model", "{}"],
    "checkpoint/tta: cut in the data": ["embed", "--model", "{}"],
    "checkpoint/tta: NaN": ["score", "--model", "{}"],
    "ngram/folder: another ARPA file": ["score", "--model", "{}"],
    "hugging-face/bert: weights that are cut short": ["score", "--model", "{}"],
    "nbest/rescored: cut short": ["compare", "{}/out.jsonl", "{}/out.jsonl"],
    "nbest/moses: a score that is NaN": [
        *("rescore", "--model", "{}", "--nbest", "{}/nbest.txt", "--format", "moses"),
        *("--out", "{}/out", "--lm-weight", "0.5"),
    ],
    "encoded/cache: text": ["score", "--model", str(ROOT / "no-such-model"), "--cache", "{}/scores.db"],
}

#: Cases of evaluation sets: the entry under tasks, and the file of its one role.
TASKS: dict[str, tuple[str, str | None, str, str]] = {
    "sts/stsb: two columns": ("sts", "stsb", "dev", "dev.csv"),
    "glue/rte: an unknown label": ("glue", "rte", "dev", "dev.tsv"),
    "nli/snli: no hypothesis": ("nli", "snli", "dev", "dev.jsonl"),
    "squad/squad1: an answer elsewhere": ("squad", "squad1", "dev", "dev.json"),
    "race/race: three options": ("race", None, "dev", "dev.jsonl"),
    "blimp/blimp: an archive that is cut short": ("blimp", None, "pairs", "pairs.zip"),
    "similarity/words: NaN": ("word-similarity", None, "pairs", "words.tsv"),
}


def case_named(name: str) -> Case:
    """The case with this id."""
    return {case.id: case for case in every_case()}[name]


def told(run: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> str:
    """The one error on stderr of what ends with code 2, behind the lines that say what it reads and has read."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        run()
    assert stop.value.code == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line]
    said = (" reads ", " items of ", " not available: ")
    assert all(any(word in line for word in said) for line in lines[:-1]), lines
    assert lines[-1].startswith("error: ")
    return lines[-1]


def settings(folder: Path, *changes: tuple[params.Way, object]) -> None:
    """Write params.yaml: the preset tiny with a few other values."""
    content = params.valid()
    for way, value in changes:
        content = params.changed(way, value, content)
    (folder / "params.yaml").write_bytes(as_json(content))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_ends_with_2(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case_named(name).write(tmp_path)
    arguments = [part.replace("{}", str(tmp_path)) for part in COMMANDS[name]]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a heron\n"), encoding="utf-8"))
    told(lambda: cli.main(arguments), capsys)


@pytest.mark.parametrize("name", TASKS)
def test_the_stage_tasks_ends_with_2(name: str, workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kind, form, role, file = TASKS[name]
    case_named(name).write(workspace)
    entry = {"kind": kind, "license": "MIT", "files": {role: {"source": file, "sha256": None}}}
    settings(workspace, (("tasks", "mine"), entry if form is None else {**entry, "format": form}))
    assert file in told(lambda: main(tasks, []), capsys)
    assert not list(workspace.glob("artifacts/tiny/tasks/*/mine"))


def test_the_stage_nbest_ends_with_2(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case_named("nbest/kaldi: a gap").write(workspace)
    lists = {
        **params.valid()["nbest"]["sample-speech"],
        "format": "kaldi",
        "folder": ".",
        "dev": "text",
        "test": "text",
    }
    settings(workspace, (("nbest", "mine"), lists))
    assert "u1-2 is missing" in told(lambda: main(nbest, ["mine"]), capsys)
    assert not list(workspace.glob("artifacts/tiny/nbest/*"))


@pytest.mark.parametrize("name", ["cut in the middle", "a bomb of entities"])
def test_the_stage_segment_ends_with_2(
    name: str, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case_named(f"corpus/wikipedia: {name}").write(workspace)
    source = ("corpora", "wikipedia-sample", "source"), "dump.xml.bz2"
    settings(
        workspace,
        source,
        (("corpora", "wikipedia-sample", "sha256"), None),
        (("corpora", "wikipedia-sample", "limit"), 0),
    )
    download("wikipedia-sample")
    assert "dump.xml.bz2" in told(lambda: main(segment, ["wikipedia-sample"]), capsys)
    assert not list(workspace.glob("artifacts/tiny/segments/*"))


def test_the_stage_download_ends_with_2(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "a.txt").write_text("hello\n")
    source = ("corpora", "wikipedia-sample", "source"), "a.txt"
    settings(workspace, source, (("corpora", "wikipedia-sample", "sha256"), "0" * 64))
    assert "the wrong content" in told(lambda: main(download, ["wikipedia-sample"]), capsys)


def test_the_stage_vectors_ends_with_2(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = {"source": "nowhere.txt", "sha256": None, "format": "glove", "lowercase": True}
    settings(workspace, (("vectors", "mine"), entry))
    assert "nowhere.txt" in told(lambda: main(vectors, ["mine"]), capsys)


@pytest.mark.parametrize("name", ["params/yaml: a key twice", "params/unknown: models.tta.surprise"])
def test_broken_settings_end_any_stage_with_2(
    name: str, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case_named(name).write(workspace)
    assert "params.yaml" in told(lambda: main(nbest, ["sample-speech"]), capsys)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        (
            "checkpoint/tta: cut in the header",
            ["-c", "from quartet.cli import main; main()", "score", "--model", "."],
        ),
        ("params/yaml: an open quote", ["-m", "stages.nbest", "sample-speech"]),
        ("params/missing: models", ["-m", "pipeline.preset"]),
    ],
)
def test_a_process_of_its_own_ends_with_2(name: str, command: list[str], tmp_path: Path) -> None:
    case_named(name).write(tmp_path)
    places = os.pathsep.join(str(path) for path in (ROOT, ROOT / "src"))
    found = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        input=b"a heron\n",
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": places},
    )
    lines = found.stderr.decode().strip().splitlines()
    assert (found.returncode, len(lines)) == (2, 1), lines
    assert lines[0].startswith("error: ")


def test_the_command_says_the_version_that_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"quartet {importlib.metadata.version('quartet')}\n"
