"""A stage ends with one line and code 2 for a user's mistake, and shows more only when asked."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest
import torch

from pipeline.run import choose_device, device_name, main, set_threads
from quartet.errors import InputError


def fine(name: str) -> None:
    """A stage that works."""
    print(f"worked on {name}")


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


def test_a_full_disk_is_a_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(without_space, ["out.bin"])
    assert left.value.code == 2
    assert "out.bin: No space left on device; free some space" in capsys.readouterr().err


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
