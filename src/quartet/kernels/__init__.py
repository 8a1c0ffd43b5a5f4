"""Quick ways to compute what plain PyTorch computes too: each stands beside its plain twin.

A kernel gives its twin's values and gradients up to rounding, in less time or memory (docs/speed.md has how much).
Within :func:`plain` all of them are their twins: to see whether a kernel is to blame for a result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_plain = False


@contextmanager
def plain() -> Iterator[None]:
    """Within, in all threads, every kernel computes as its plain twin does; backward passes too if they begin there."""
    global _plain
    before, _plain = _plain, True
    try:
        yield
    finally:
        _plain = before


def is_plain() -> bool:
    """Whether the plain twins compute."""
    return _plain
