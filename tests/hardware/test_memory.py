"""Another allocator is known by its functions; glibc's setting holds in a process of its own, not in other tests'."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch  # noqa: F401 - which cannot be imported where ctypes is replaced

from quartet.hardware import memory
from quartet.hardware.processor import describe_processor
from tests.imports import ROOT

PROGRAM = """
import ctypes, resource, sys
from quartet.hardware.memory import keep_freed_memory
if sys.argv[1] == "keep":
    assert keep_freed_memory()
c = ctypes.CDLL(None)
c.malloc.restype, c.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
c.free.argtypes, c.memset.argtypes = [ctypes.c_void_p], [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
SIZE = 24 << 20
def step():
    blocks = [c.malloc(SIZE) for _ in range(8)]
    for block in blocks:
        c.memset(block, 1, SIZE)
    for block in reversed(blocks):
        c.free(block)
for _ in range(4):
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library than glibc")
def test_kept_memory_is_not_mapped_again() -> None:
    """Of 5 x 192 MiB, in pages of 4 KiB or (fewer faults) larger ones; by the C library, whatever is preloaded."""
    own = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    faults = {
        way: int(
            subprocess.run(
                [sys.executable, "-c", PROGRAM, way], capture_output=True, text=True, check=True, env=own
            ).stdout
        )
        for way in ("keep", "default")
    }
    assert faults["keep"] < faults["default"] / 10, faults


@pytest.fixture
def asked_anew() -> Iterator[None]:
    memory.allocator.cache_clear()
    yield
    memory.allocator.cache_clear()


@pytest.mark.usefixtures("asked_anew")
@pytest.mark.parametrize(
    ("functions", "name"),
    [(("mallopt",), ""), (("mallopt", "mallctl"), "jemalloc"), (("mallopt", "tc_malloc"), "tcmalloc")],
)
def test_what_allocates_is_said_beside_the_processor(
    functions: tuple[str, ...], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int]] = []

    def accept(key: int, value: int) -> int:
        told.append((key, value))
        return 1

    process = SimpleNamespace(**dict.fromkeys(functions, accept))
    monkeypatch.setattr(ctypes, "CDLL", lambda _: process)
    assert memory.allocator() == name
    assert describe_processor(2).startswith("cpu (2 threads, ")
    before_the_kind, _, _ = describe_processor(2).partition("; ")
    assert before_the_kind.endswith(f", {name}") == bool(name)
    assert memory.keep_freed_memory() == bool(told) == (not name), "glibc's settings are glibc's alone"


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_make_tells_a_shell_how_to_preload_it_or_where_to_get_it() -> None:
    def make(library: str) -> subprocess.CompletedProcess[str]:
        command = ["make", "-s", "allocator", f"JEMALLOC={library}"]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    found = make("/there/libjemalloc.so.2")
    assert found.returncode == 0
    command, library, *settings = found.stdout.split()
    assert (command, library) == ("export", "LD_PRELOAD=/there/libjemalloc.so.2")
    assert [setting.partition("=")[0] for setting in settings] == ["MALLOC_CONF"]
    absent = make("")
    assert (absent.returncode, absent.stdout) == (2, "")
    assert absent.stderr.startswith("error: there is no libjemalloc.so.2; install it")
