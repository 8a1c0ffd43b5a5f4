"""Standard streams that are closed, full, broken off or of few letters end in no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.imports import ROOT

COUNTED = {"metric": "wer", "lowercase": True, "strip_punctuation": True}
ROW = {
    "utt": "u1",
    "ref": "é ö",
    "best": "é u",
    "hypotheses": [{"text": "é u", "lm": -1.0}],
    "counted": COUNTED,
}
OTHER = {**ROW, "best": "é ö", "hypotheses": [{"text": "é ö", "lm": -1.0}]}
COMPARE = "quartet compare a.jsonl b.jsonl"
#: The help of all commands, one after the other.
HELP = """
import sys
from quartet.cli import main
for name in ("", "rescore", "score", "embed", "compare", "export"):
    sys.argv = ["quartet", *name.split(), "--help"]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
"""
#: With buffers a write fails when the process ends, without them at once.
BUFFERS = pytest.mark.parametrize("buffers", ["", "1"], ids=["buffered", "unbuffered"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two results with letters beyond ASCII."""
    for name, row in (("a.jsonl", ROW), ("b.jsonl", OTHER)):
        (tmp_path / name).write_text(json.dumps(row) + "\n", encoding="utf-8")
    (tmp_path / "texts").write_text("the cat sat\n", encoding="utf-8")
    return tmp_path


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A command line of a shell, in which `quartet` is this one."""
    code = "from quartet.cli import main; main()"
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; quartet() {{ {sys.executable} -c '{code}' \"$@\"; }}; {command}"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


#: What a command reads or writes -> what it says. Buffers matter where it writes.
READS = {
    "quartet score <&-": "/dev/stdin is closed",
    "quartet embed --model . <&-": "/dev/stdin is closed",
    "quartet score - <&-": "/dev/stdin is closed",
    "quartet rescore --nbest - --lm-weight 0 --out o <&-": "/dev/stdin is closed",
}
WRITES = {
    "quartet score texts >&-": "/dev/stdout is closed",
    f"{COMPARE} >&-": "/dev/stdout is closed",
    f"{COMPARE} > /dev/full": "No space left on device",
    f"{COMPARE} --json > /dev/full": "/dev/stdout: cannot be written (No space left on device)",
}


@pytest.mark.parametrize(
    ("command", "said", "buffers"),
    [(*case, "") for case in (READS | WRITES).items()] + [(*case, "1") for case in WRITES.items()],
)
def test_one_line_and_code_two(command: str, said: str, buffers: str, folder: Path) -> None:
    done = shell(command, folder, PYTHONUNBUFFERED=buffers)
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("error: ")
    assert said in line
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}],
)
def test_letters_that_standard_output_has_not(environment: dict[str, str], folder: Path) -> None:
    """Words are written out, JSON is UTF-8 whatever the terminal is."""
    done = shell(COMPARE, folder, **environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb'"u" -> "\xf6" 1' in done.stdout
    done = shell(f"{COMPARE} --json", folder, **environment)
    assert json.loads(done.stdout.decode("utf-8"))["fixed"] == [{"a": "u", "b": "ö", "times": 1}]
    done = shell(f"{sys.executable} -c '{HELP}'", folder, **environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"Usage: ") == 6
    done = shell("quartet score é", folder, **environment)
    assert done.returncode == 2
    assert b"no such file" in done.stderr


def test_nothing_that_is_said_goes_into_the_output_where_stderr_is_closed(folder: Path) -> None:
    done = shell("quartet score nowhere 2>&-", folder)
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")


@BUFFERS
def test_a_pipe_that_is_broken_off_is_no_error_of_ours(buffers: str, folder: Path) -> None:
    done = shell(f"{COMPARE} | true", folder, PYTHONUNBUFFERED=buffers)
    assert done.stderr == b""
    assert done.returncode != 2


def test_the_shells_pipes_are_files(folder: Path) -> None:
    done = shell("quartet compare <(cat a.jsonl) <(gzip -c b.jsonl)", folder)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"a: WER, %     50.00\n")
