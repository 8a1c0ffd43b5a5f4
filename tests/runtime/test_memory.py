"""The allocator's setting holds in a process of its own, where it changes nothing for the other tests."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import torch
from quartet.runtime.memory import keep_freed_memory
assert keep_freed_memory()
def step():
    blocks = [torch.ones(2_000_000) for _ in range(20)]  # 20 x 8 MB, freed together
    return sum(float(block[0]) for block in blocks)
for _ in range(8):
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    assert step() == 20
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library than glibc")
def test_kept_memory_is_not_mapped_again() -> None:
    """5 x 160 MB in pages of 4 KiB are 195,000 faults where each is mapped anew."""
    output = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    ).stdout
    assert int(output) < 1000
