"""Who allocates memory: the C library, which is told to keep what tensors give back, or another in its place."""

from __future__ import annotations

import ctypes
from functools import cache

#: Functions that only these libraries have, by which they are known.
ALLOCATORS = {"jemalloc": "mallctl", "tcmalloc": "tc_malloc"}

#: glibc's numbers of the two settings (malloc.h).
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3

#: The largest threshold that the call takes: in effect, memory at the heap's end is never given back.
NEVER = 2**31 - 1

#: The largest block that glibc lets the heap hold. Larger ones are mapped afresh: in the heap they would leave holes.
LARGEST = 32 << 20


@cache
def allocator() -> str:
    """What allocates instead of the C library, as ``LD_PRELOAD`` has it: a key of `ALLOCATORS`, or empty."""
    try:
        process = ctypes.CDLL(None)
    except (OSError, TypeError):
        return ""
    return next((name for name, function in ALLOCATORS.items() if hasattr(process, function)), "")


def keep_freed_memory() -> bool:
    """Let freed memory be used again instead of going back to the system; for the whole process.

    glibc gives the heap's free end back, and the system zeroes every page of it at the next touch. A training step
    frees and asks for the same tensors again and again: the pages' faults took about a tenth of its time. The process
    keeps the most memory that its smaller blocks ever used, which it needs again at the next step.

    Returns:
        Whether it was done; other C libraries and allocators have no such call, and keep their ways.
    """
    if allocator():
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, LARGEST) and mallopt(M_TRIM_THRESHOLD, NEVER))
