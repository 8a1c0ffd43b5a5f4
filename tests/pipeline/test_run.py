"""How a stage runs: a mistake is one line and code 2, who starts its processes, and what may not change meanwhile."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from pipeline.layout import Layout
from pipeline.run import (
    LAUNCHED,
    RANKS,
    InputSnapshot,
    choose_device,
    device_name,
    is_follower,
    launch,
    main,
    set_threads,
)
from pipeline.settings import read_params
from quartet.config.loading import read_yaml
from quartet.config.training import TrainerSettings
from quartet.errors import InputError
from quartet.nbest import formats
from stages import nbest as stage
from tests.conftest import ROOT


def fine(name: str) -> None:
    """A stage that works."""
    print(f"worked on {name}")


def several(name: str, port: str = "", *others: str) -> None:
    """A command."""


def mistaken(name: str) -> None:
    """A stage whose input is wrong."""
    raise InputError(f"{name}.txt:3", "no number", "write one")


def without_space(name: str) -> None:
    """A stage that fills the disk."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)


def wrong(name: str) -> None:
    """A stage with a bug."""
    raise KeyError(name)


def test_a_stage_takes_the_command_lines_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    main(fine, ["tta"])
    assert capsys.readouterr().out == "worked on tta\n"


@pytest.mark.parametrize("debug", [False, True])
def test_a_users_mistake_is_one_line_and_code_2(capsys: pytest.CaptureFixture[str], debug: bool) -> None:
    with pytest.raises(SystemExit) as left:
        main(mistaken, ["in", "--debug"] if debug else ["in"])
    assert left.value.code == 2
    error = capsys.readouterr().err
    assert error.endswith("error: test_run: in.txt:3: no number; write one\n")
    assert ("Traceback" in error) is debug
    assert debug or error.count("\n") == 1


def test_the_environment_can_ask_for_the_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTET_DEBUG", "1")
    with pytest.raises(SystemExit):
        main(mistaken, ["in"])
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["a", "b"]])
def test_wrong_arguments_are_said(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(fine, arguments)
    assert left.value.code == 2
    assert "the arguments are <name> [--debug], not" in capsys.readouterr().err


def test_help_says_what_the_module_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    main(fine, ["--help"])
    assert capsys.readouterr().out == f"usage: python -m {__name__} <name> [--debug]\n\n{__doc__}\n"
    main(several, ["-h"])
    assert "<name> [<port>] [<others> ...] [--debug]\n" in capsys.readouterr().out


def test_a_full_disk_is_a_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(without_space, ["out.bin"])
    assert left.value.code == 2
    assert "out.bin: No space left on device; free some space" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("function", "into", "last"),
    [
        (
            "fine",
            "> /dev/full",
            "error: fine: standard output: No space left on device; free some space and run it again",
        ),
        ("fine", "| true", ""),
        ("wrong", "> /dev/full", "KeyError: 'x'"),
        ("wrong", "| true", "KeyError: 'x'"),
    ],
)
def test_what_standard_output_does_not_take(tmp_path: Path, function: str, into: str, last: str) -> None:
    """A full disk is a line, a pipe that is broken off none, and a bug is not hidden behind either."""
    script = (
        tmp_path / "stage.py"
    )  # on its own: this module imports DVC, which puts a stream of its own there
    bodies = ["def fine(name): print(name)", "def wrong(name): print(name); raise KeyError(name)"]
    script.write_text("\n".join(["from pipeline.run import main", *bodies, f"main({function}, ['x'])"]))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    command = f"{sys.executable} {script} {into}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1:] == ([last] if last else [])
    assert function == "wrong" or done.stderr.count("\n") == bool(last)


def test_a_bug_is_not_hidden() -> None:
    with pytest.raises(KeyError):
        main(wrong, ["x"])


def test_the_device_that_is_asked_for_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device("auto") == choose_device("cpu") == "cpu"
    with pytest.raises(InputError, match=r"params.yaml: device: cuda is not available here"):
        choose_device("cuda")


@pytest.mark.parametrize("said", ["0", "many", "-1", ",2"])
def test_no_number_of_threads_is_said(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    with pytest.raises(InputError, match=r"OMP_NUM_THREADS: .* is no number of threads; unset it"):
        set_threads(0)


def test_threads_are_set_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_num_threads()
    try:
        set_threads(1)
        assert torch.get_num_threads() == 1
        assert device_name("cpu").startswith("cpu (1 thread, ")
        for said, threads in (("2", 2), ("3,1", 3), ("", len(os.sched_getaffinity(0)))):
            monkeypatch.setenv("OMP_NUM_THREADS", said)
            set_threads(0)
            assert torch.get_num_threads() == threads
            assert device_name("cpu").startswith(f"cpu ({threads} thread")
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        set_threads(1)
        assert torch.get_num_threads() == 1, "the settings come first"
    finally:
        torch.set_num_threads(before)


def test_numpys_products_in_a_stage_take_one_thread() -> None:
    code = (
        "import stages, numpy, scipy.linalg, threadpoolctl\n"
        "print([pool['num_threads'] for pool in threadpoolctl.threadpool_info() if pool['user_api'] == 'blas'])"
    )
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | {"OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == ["[1,", "1]"], (
        "NumPy's and SciPy's; two, where there are two cores, if not told"
    )


@pytest.mark.parametrize(("place", "said"), [("-m", "False True True"), ("-c", "True True False")])
def test_garbage_is_looked_for_where_a_stage_works_and_not_while_it_is_imported(
    place: str, said: str
) -> None:
    """What was imported is left out of the search; who imports stages/ otherwise sees nothing of this."""
    code = (
        f"import gc, sys; sys.argv[0] = {place!r}\n"
        "import stages; before = gc.isenabled()\n"
        "from pipeline.run import main\n"
        "frozen = gc.get_freeze_count()\n"
        "main(lambda: print(before, gc.isenabled(), gc.get_freeze_count() > frozen), [])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == said


SEVERAL = TrainerSettings(devices=4, nodes=2, launch="srun --kill-on-bad-exit=1")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (LAUNCHED, *RANKS):
        monkeypatch.delenv(name, raising=False)


def test_the_launcher_takes_the_place_of_the_process_once(monkeypatch: pytest.MonkeyPatch) -> None:
    became: list[Any] = []
    monkeypatch.setattr(os, "execvpe", lambda *given: became.append(given))
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", "stages.pretrain", "tta"])
    launch(SEVERAL)
    ((file, command, environment),) = became
    assert file == "srun"
    assert command == ["srun", "--kill-on-bad-exit=1", sys.executable, "-m", "stages.pretrain", "tta"]
    monkeypatch.setenv(LAUNCHED, environment[LAUNCHED])
    launch(SEVERAL)
    monkeypatch.delenv(LAUNCHED)
    launch(TrainerSettings(devices=4))
    launch(TrainerSettings(launch="srun"))
    assert len(became) == 1, "not in what was launched, not without a launcher, not for one device"


def test_a_launcher_that_is_not_there() -> None:
    with pytest.raises(
        InputError, match=r"trainer\.launch: no-such-launcher cannot be started \(No such file"
    ):
        launch(TrainerSettings(devices=2, launch="no-such-launcher -n 2"))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, False),
        ({"LOCAL_RANK": "1"}, True),  # Lightning's own
        ({"RANK": "8", "LOCAL_RANK": "0"}, True),  # torchrun, the second node
        ({"RANK": "0", "LOCAL_RANK": "0"}, False),
        ({"SLURM_PROCID": "8"}, True),
        ({"SLURM_PROCID": "0", "LOCAL_RANK": "3"}, True),  # Lightning's, started within a job
    ],
)
def test_the_first_process_keeps_the_books(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], expected: bool
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert is_follower(SEVERAL) is expected
    assert not is_follower(TrainerSettings()), "whatever the machine's variables say"


def refused(tmp_path: Path, trainer: dict[str, Any]) -> str:
    settings = read_yaml(ROOT / "presets" / "tiny.yaml")
    path = tmp_path / "params.yaml"
    path.write_text(json.dumps({**settings, "trainer": trainer}), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_params(path)
    return str(caught.value)


def test_settings_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    assert "trainer: strategy fsdp needs several devices" in refused(tmp_path, {"strategy": "fsdp"})
    assert "trainer.device: unknown key; the nearest known key is 'devices'" in refused(
        tmp_path, {"device": 2}
    )
    assert "trainer.devices" in refused(tmp_path, {"devices": 0})


def test_no_stage_is_run_again_for_another_machine() -> None:
    """DVC compares what dvc.yaml names under ``params``."""
    tracked = (ROOT / "dvc.yaml").read_text(encoding="utf-8")
    assert not re.search(r"\btrainer\b", tracked)


CHANGES: dict[str, Callable[[Path], object]] = {
    "longer": lambda folder: (folder / "a.txt").write_text("other text"),
    "as long, at once": lambda folder: (
        (folder / "new").write_text("b") and (folder / "new").rename(folder / "a.txt")
    ),
    "added": lambda folder: (folder / "deep" / "c.txt").write_text("c"),
    "removed": lambda folder: (folder / "deep" / "b.txt").unlink(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_any_change_below_a_folder_is_named(tmp_path: Path, change: Callable[[Path], object]) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "deep" / "b.txt").write_text("b")
    inputs = InputSnapshot([tmp_path])
    (tmp_path / "a.txt").read_text()
    inputs.check()
    change(tmp_path)
    with pytest.raises(InputError, match=r"txt: changed while the stage read it"):
        inputs.check()


def test_lists_that_change_while_they_are_read_are_not_taken(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old ones stay as they are, and the next run takes the new ones."""
    source = ROOT / "data" / "nbest" / "sample-speech"
    folder = workspace / "data" / "nbest" / "sample-speech"
    folder.mkdir(parents=True)
    for split in ("dev", "test"):
        lists = json.loads((source / f"{split}.json").read_text())
        (folder / f"{split}.json").write_text(json.dumps(dict(list(lists.items())[:5])))
    stage.nbest("sample-speech")
    made = Layout("tiny").nbest("sample-speech")
    old = {path.name: path.read_bytes() for path in made.iterdir()}
    text = (folder / "dev.json").read_text()

    def slow(*arguments: object) -> object:
        found = formats.read(*arguments)  # type: ignore[arg-type]
        lists = json.loads(text)
        (folder / "dev.json").write_text(json.dumps(dict(list(lists.items())[:4])))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(stage, "read", slow)
        with pytest.raises(InputError, match=r"dev\.json: changed while the stage read it"):
            stage.nbest("sample-speech")
    assert {path.name: path.read_bytes() for path in made.iterdir()} == old
    stage.nbest("sample-speech")
    assert json.loads((made / "manifest.json").read_text())["dev"]["lists"] == 4
