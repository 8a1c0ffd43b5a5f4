"""Work on several processes: the order of the items, few of them read ahead, and no failure that goes unsaid."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.text import parallel
from quartet.text.parallel import AHEAD, ONE_CORE, in_order

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start processes after the first item."""
    monkeypatch.setattr(parallel, "PATIENCE", 0.0)


def work(item: int) -> tuple[int, int]:
    """The item and who worked on it; what is wrong with it, if it is 13, and nothing more if it is 17."""
    if item == 13:
        raise InputError("item 13", "brings bad luck", "leave it out")
    if item == 17:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01 * (item % 3))
    return item, os.getpid()


def settings(_: int) -> dict[str, str | None]:
    """What a process may use."""
    return {name: os.environ.get(name) for name in ONE_CORE}


def test_results_come_in_order_from_several_processes_and_little_is_read_ahead() -> None:
    read = []

    def items() -> Iterator[int]:
        for number in range(100, 160):
            read.append(number)
            yield number

    found, others = [], set()
    for item, process in in_order(work, items(), workers=2):
        found.append((item, process))
        others |= children(os.getpid())
        assert len(read) - len(found) <= 2 * AHEAD
    assert [item for item, _ in found] == list(range(100, 160))
    assert found[0][1] == os.getpid(), "a little work needs no other process"
    assert {process for _, process in found[1:]} <= others
    assert len(others) == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_a_mistake_comes_after_the_results_before_it(workers: int) -> None:
    found = []
    with pytest.raises(InputError) as error:
        for item, _ in in_order(work, range(10, 40), workers):
            found.append(item)
    assert found == [10, 11, 12]
    assert str(error.value) == "item 13: brings bad luck; leave it out"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failure_of_the_source_comes_after_its_items(workers: int) -> None:
    def items() -> Iterator[int]:
        yield from range(4)
        raise InputError("source", "is cut short")

    found = []
    with pytest.raises(InputError, match="source: is cut short"):
        for item, _ in in_order(work, items(), workers):
            found.append(item)
    assert found == [0, 1, 2, 3]


def test_a_killed_process_is_a_line_that_says_so() -> None:
    with pytest.raises(InputError, match=r"ended before it was done \(killed, or out of memory\)"):
        list(in_order(work, [0, 1, 17, 2], workers=2))


def test_processes_use_one_core_each_and_end_with_the_iterator() -> None:
    with closing(in_order(settings, range(1000), workers=2)) as results:
        next(results)
        assert next(results) == ONE_CORE
    assert children(os.getpid()) == set()


SCRIPT = """
import sys
from itertools import repeat
from pathlib import Path
from quartet.files import atomic_dir
from quartet.text import parallel
parallel.PATIENCE = 0.0
with atomic_dir(Path(sys.argv[1])) as folder, open(folder / "results", "w") as file:
    for result in parallel.in_order(abs, repeat(-1), workers=2):
        print(result, file=file)
        print(result, flush=True)
"""


def test_a_killed_program_takes_its_processes_along_and_leaves_no_result(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    program = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert program.stdout is not None
    assert program.stdout.readline() == program.stdout.readline() == "1\n", "the second is another's"
    workers = children(program.pid)
    program.kill()
    program.wait()
    program.stdout.close()
    assert len(workers) == 2
    ends = time.monotonic() + 20
    while any(map(alive, workers)):
        assert time.monotonic() < ends, "they wait for ever"
        time.sleep(0.05)
    assert not (tmp_path / "out").exists()


def children(process: int) -> set[int]:
    """The processes that share its work."""
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return {int(child) for child in found if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text()}


def alive(process: int) -> bool:
    """Whether it runs: neither gone nor waiting to be buried."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
