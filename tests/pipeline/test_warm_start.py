"""A process by a fork is the one that a plain start is, for who started it, signals it, or waits for it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from pipeline import warm_start
from pipeline.tracking.repro import process_start
from pipeline.warm_start import STANDS_IN, WARM_START
from tests.imports import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="forks are told apart by Linux alone")

#: A module that nothing else here imports.
PRELOADED = "colorsys"
SHOW = f"""
import json, os, sys
print(json.dumps({{
    "preloaded": {PRELOADED!r} in sys.modules, "parent": os.getppid(), "name": __name__, "spec": __spec__.name,
    "argv": sys.argv, "command": sys.orig_argv, "folder": os.getcwd(), "environment": dict(os.environ),
    "path": sys.path, "input": sys.stdin.read(), "file": __file__,
}}))
print("said", file=sys.stderr)
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
"""
WAIT = """
import os, pathlib, signal, sys, time
def stop(number, frame):
    pathlib.Path("stopped").write_text(str(number))
    sys.exit(7)
if sys.argv[1] == "handles":
    signal.signal(signal.SIGTERM, stop)
pathlib.Path("process.new").write_text(str(os.getpid()))
pathlib.Path("process.new").rename("process")
try:
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(0.5)
    pathlib.Path("ended").touch()
"""

ENDS = """
import atexit, sys, threading, time
threading.Thread(target=lambda: (time.sleep(0.3), print("the thread", flush=True))).start()
atexit.register(lambda: print("the end", end=""))
print("said", end="\\n", flush=True)
if sys.argv[1] == "raises":
    raise ValueError("as it is")
if sys.argv[1] != "returns":
    sys.exit(None if sys.argv[1] == "none" else int(sys.argv[1]) if sys.argv[1].isdigit() else sys.argv[1])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "scripts"
    package.mkdir()
    (package / "__init__.py").write_text("from pipeline.warm_start import hand_over\n\nhand_over()\n")
    (package / "show.py").write_text(SHOW)
    (package / "wait.py").write_text(WAIT)
    (package / "ends.py").write_text(ENDS)
    (package / "fails.py").write_text("raise ValueError('as it is')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
    monkeypatch.delenv(WARM_START, raising=False)
    return tmp_path


@contextmanager
def forking() -> Iterator[tuple[int, dict[str, str]]]:
    """The process, and the environment of who would find it, as soon as it listens."""
    with warm_start.server([PRELOADED]) as (number, variables):
        while not Path(variables[WARM_START]).exists():
            time.sleep(0.01)
        yield number, {**os.environ, **variables}


def python(
    *command: str, environment: dict[str, str] | None = None, said: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command],
        check=False,
        input=said,
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )


@contextmanager
def waiting(
    environment: dict[str, str], how: str
) -> Iterator[tuple[subprocess.Popen[bytes], psutil.Process]]:
    """A process that waits, and the fork in its place."""
    with subprocess.Popen([sys.executable, "-m", "scripts.wait", how], env=environment) as process:
        while not Path("process").exists():
            time.sleep(0.01)
        fork = psutil.Process(int(Path("process").read_text()))
        assert fork.pid != process.pid
        yield process, fork


def gone(process: psutil.Process) -> bool:
    return not psutil.wait_procs([process], timeout=10)[1]


def test_a_fork_sees_what_a_plain_start_sees(folder: Path) -> None:
    plain = python("scripts.show", "3", "b c", environment=dict(os.environ), said="typed")
    with forking() as (number, environment):
        by_fork = python("scripts.show", "3", "b c", environment=environment, said="typed")
    assert by_fork.returncode == plain.returncode == 3
    assert by_fork.stderr == plain.stderr == "said\n"
    of_plain, of_fork = json.loads(plain.stdout), json.loads(by_fork.stdout)
    assert (of_plain.pop("preloaded"), of_fork.pop("preloaded")) == (False, True)
    assert (of_plain.pop("parent"), of_fork.pop("parent")) == (os.getpid(), number)
    assert int(of_fork["environment"].pop(STANDS_IN)) not in (os.getpid(), number)
    assert of_fork == of_plain
    assert of_plain["input"] == "typed"


def test_many_at_once(folder: Path) -> None:
    with forking() as (number, environment):
        command = [sys.executable, "-m", "scripts.show"]
        started = [
            subprocess.Popen(
                [*command, str(code)], env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
            )
            for code in range(6)
        ]
        said = [json.loads(one.communicate(timeout=60)[0]) for one in started]
    assert [one.returncode for one in started] == list(range(6))
    assert [one["argv"][1] for one in said] == [str(code) for code in range(6)]
    assert {one["parent"] for one in said} == {number}


def test_an_error_has_its_traceback_and_code(folder: Path) -> None:
    with forking() as (_, environment):
        failed = python("scripts.fails", environment=environment)
    assert failed.returncode == 1
    assert failed.stderr.endswith("ValueError: as it is\n")


@pytest.mark.parametrize(("how", "code"), [("handles", 7), ("dies", -signal.SIGTERM)])
def test_a_signal_is_passed_on_and_its_effect_is_told(how: str, code: int, folder: Path) -> None:
    with forking() as (_, environment), waiting(environment, how) as (process, fork):
        process.terminate()
        assert process.wait(timeout=10) == code
        assert gone(fork)
    assert Path("stopped").exists() == (how == "handles")


def test_who_is_killed_takes_its_fork_along_and_a_killed_fork_is_told(folder: Path) -> None:
    with forking() as (_, environment):
        with waiting(environment, "dies") as (process, fork):
            process.kill()
            assert gone(fork)
        Path("process").unlink()
        with waiting(environment, "dies") as (process, fork):
            fork.kill()
            assert process.wait(timeout=10) == -signal.SIGKILL


def test_who_has_a_signal_to_pass_on_when_the_forking_process_is_killed_says_nothing(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """So it is where SIGTERM reaches all of a group, as by `timeout make repro`."""
    with forking() as (number, environment), waiting(environment, "handles") as (process, fork):
        os.kill(number, signal.SIGSTOP)
        process.terminate()
        time.sleep(0.5)
        os.kill(number, signal.SIGKILL)
        assert process.wait(timeout=10) == -signal.SIGKILL
        fork.kill()
    assert capfd.readouterr().err == ""


def test_where_nobody_forks_a_process_starts_by_itself(folder: Path) -> None:
    nobody = {**os.environ, WARM_START: str(folder / "socket")}
    assert json.loads(python("scripts.show", environment=nobody).stdout)["parent"] == os.getpid()
    assert warm_start.run("scripts.show", environment=nobody) is None
    assert warm_start.run("scripts.show", environment=os.environ) is None
    with forking() as (_, environment):
        pass
    assert python("scripts.show", "4", environment=environment).returncode == 4


def test_where_no_fork_can_be_made_a_process_starts_by_itself(folder: Path) -> None:
    refuses = (
        "import os, sys\nfrom pipeline import warm_start\n"
        "def refused():\n    raise BlockingIOError(11, 'no process is left')\n"
        "os.fork = refused\nwarm_start.main(sys.argv[1])\n"
    )
    address = str(Path(tempfile.mkdtemp(prefix="quartet-")) / "socket")
    with subprocess.Popen([sys.executable, "-c", refuses, address], stdin=subprocess.PIPE) as refusing:
        while not Path(address).exists():
            time.sleep(0.01)
        environment = {**os.environ, WARM_START: address}
        for _ in range(2):  # and goes on
            assert json.loads(python("scripts.show", environment=environment).stdout)["parent"] == os.getpid()
        refusing.terminate()
    shutil.rmtree(Path(address).parent)


def test_where_temporary_folders_have_long_names_nothing_forks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    temporary = tmp_path / ("n" * 100)
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with warm_start.server([PRELOADED]) as (number, variables):
        assert (number, variables) == (0, {})
    assert capfd.readouterr() == ("", "")
    assert list(temporary.iterdir()) == []


def test_it_waits_for_its_forks_where_who_started_it_is_killed_and_forks_no_more(folder: Path) -> None:
    owner = (
        "import time\nfrom pipeline import warm_start\n"
        f"with warm_start.server([{PRELOADED!r}]) as (number, variables):\n"
        "    print(number, *variables.values(), flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", owner], stdout=subprocess.PIPE, text=True) as owning:
        assert owning.stdout is not None
        number, address = owning.stdout.readline().split()
        while not Path(address).exists():
            time.sleep(0.01)
        environment = {**os.environ, WARM_START: address}
        with waiting(environment, "handles") as (process, _):
            owning.kill()
            owning.wait()
            while json.loads(python("scripts.show", environment=environment).stdout)["parent"] != os.getpid():
                time.sleep(0.01)
            assert psutil.pid_exists(int(number))
            process.terminate()
            assert process.wait(timeout=10) == 7
    assert not psutil.pid_exists(int(number)) or gone(psutil.Process(int(number)))
    shutil.rmtree(Path(address).parent)  # nobody else does, where who started it was killed


def test_a_command_in_a_fork_has_its_code_and_says_it_where_it_should(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    with forking() as (_, environment):
        with Path("file").open("w", encoding="utf-8") as file:
            assert warm_start.run("scripts.show", "5", environment=environment, stdout=file) == 5
        assert capfd.readouterr() == ("", "said\n")
        assert warm_start.run("scripts.show", "6", environment=environment) == 6
    assert json.loads(Path("file").read_text())["argv"][1:] == ["5"]
    assert json.loads(capfd.readouterr().out)["argv"][1:] == ["6"]


def test_who_is_interrupted_ends_after_its_fork(folder: Path) -> None:
    """Ctrl-C reaches both: the fork takes a while to end, and its end is waited for."""
    waits = (
        "import os, signal\nfrom pipeline import warm_start\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's `&` lets it be ignored
        "warm_start.run('scripts.wait', 'takes-its-time', environment=os.environ)\n"
    )
    with forking() as (_, environment):
        command = [sys.executable, "-c", waits]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            while not Path("process").exists():
                time.sleep(0.01)
            fork = psutil.Process(int(Path("process").read_text()))
            for one in (process.pid, fork.pid):
                os.kill(one, signal.SIGINT)
            assert "KeyboardInterrupt" in process.communicate(timeout=30)[1]
            assert Path("ended").exists()
        assert gone(fork)


def test_a_fork_was_started_when_the_process_was_that_it_stands_in_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = psutil.Process().create_time()
    assert process_start() == own
    with subprocess.Popen(["sleep", "60"]) as other:
        monkeypatch.setenv(STANDS_IN, str(other.pid))
        assert process_start() == psutil.Process(other.pid).create_time() > own
        other.kill()


@pytest.mark.parametrize(
    ("how", "code"),
    [("returns", 0), ("none", 0), ("0", 0), ("7", 7), ("260", 4), ("a line", 1), ("raises", 1)],
)
def test_a_fork_ends_when_its_threads_have_and_all_is_said(folder: Path, how: str, code: int) -> None:
    plain = python("scripts.ends", how, environment=dict(os.environ))
    with forking() as (_, environment):
        by_fork = python("scripts.ends", how, environment=environment)
    assert (by_fork.returncode, by_fork.stdout) == (plain.returncode, plain.stdout)
    assert (plain.returncode, plain.stdout) == (code, "said\nthe thread\nthe end")
    assert by_fork.stderr.splitlines()[-1:] == plain.stderr.splitlines()[-1:]


@pytest.mark.parametrize("closes", ["sys.stdout.close()", "sys.stderr.close()", "sys.stdout = None"])
def test_a_fork_without_a_standard_stream_keeps_its_code(folder: Path, closes: str) -> None:
    (folder / "scripts" / "closes.py").write_text(f"import sys\n\n{closes}\nsys.exit(7)\n")
    with forking() as (_, environment):
        done = python("scripts.closes", environment=environment)
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")


def test_a_fork_takes_no_module_apart(folder: Path) -> None:
    """That of PyTorch, Lightning, MLflow and DVC takes longer than most stages work."""
    source = "class Kept:\n    def __del__(self):\n        print('taken apart')\n\n\nkept = Kept()\n"
    (folder / "scripts" / "keeps.py").write_text(source)
    assert python("scripts.keeps", environment=dict(os.environ)).stdout == "taken apart\n"
    with forking() as (_, environment):
        done = python("scripts.keeps", environment=environment)
    assert (done.returncode, done.stdout) == (0, "")
