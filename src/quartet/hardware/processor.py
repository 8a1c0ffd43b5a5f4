"""Which processor this is."""

from __future__ import annotations

import platform
from functools import cache

from quartet.hardware.memory import allocator

#: Where Linux describes its processors.
CPUINFO = "/proc/cpuinfo"


@cache
def model_name() -> str:
    """The processor's model in words, such as ``AMD EPYC 7B13``; its architecture where the system tells no more."""
    return _described("model name") or platform.processor() or platform.machine() or "unknown processor"


def describe_processor(threads: int) -> str:
    """What computes, in words: ``cpu (2 threads, <model>)``, and what allocates, where it is not the C library."""
    parts = [f"{threads} thread{'' if threads == 1 else 's'}", model_name(), allocator()]
    return f"cpu ({', '.join(filter(None, parts))})"


@cache
def is_intel() -> bool:
    """Whether Intel made it, so that MKL takes its quick ways on it."""
    return "GenuineIntel" in (_described("vendor_id") or platform.processor())


def _described(key: str) -> str:
    """The first value of a key in Linux's description; empty elsewhere."""
    try:
        with open(CPUINFO, encoding="utf-8") as file:
            for line in file:
                if line.startswith(key):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return ""
