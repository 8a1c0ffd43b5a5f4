"""Readers under fire: whatever bytes a file holds, it is read or refused with InputError; nothing else comes out.

QUARTET_FUZZ_SECONDS=600 python -m pytest -s tests/slow/reliability/test_fuzz.py     (`make soak`)
"""

from __future__ import annotations

import os
import random
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings

from quartet.errors import InputError
from tests.reliability.malformed.case import check_line
from tests.reliability.strategies import inputs

#: Seconds for each reader; where it is not set, what the test says, with the same inputs each time.
SECONDS = float(os.environ.get("QUARTET_FUZZ_SECONDS", "0"))
#: Seconds of computing that one input may take.
PATIENCE = 8.0
#: Bytes of memory that one input may take, libraries that are loaded for the first time included.
ALLOWED = 1 << 30

_COMMON = settings(
    deadline=None,
    database=None,
    derandomize=False,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
)
settings.register_profile("fuzz", parent=_COMMON, max_examples=60)
settings.register_profile("soak", parent=_COMMON, max_examples=2_000)
PROFILE = settings.get_profile("soak" if SECONDS else "fuzz")


@dataclass(frozen=True)
class Target:
    """A reader.

    Attributes:
        name: of the file that it reads.
        seeds: files to start from, the first a well-formed one.
        read: opens the folder that holds the file.
        text: some inputs are any text, and not only any bytes.
    """

    name: str
    seeds: tuple[bytes, ...]
    read: Callable[[Path], object]
    text: bool = True


@dataclass
class Tally:
    """What became of the inputs of a reader."""

    inputs: int = 0
    read: int = 0
    refused: int = 0
    seconds: float = 0.0
    failed: bool = False

    def __str__(self) -> str:
        return f"{self.inputs:>9,} inputs, {self.read:>8,} read, {self.refused:>8,} refused, {self.seconds:>6.1f} s"


def attempt(target: Target, folder: Path, data: bytes, tally: Tally) -> None:
    """Have a reader read some bytes.

    Raises:
        AssertionError: it took too long or too much memory, or what it refused them with is not one clear line.
        BaseException: whatever else came out of it: a bug.
    """
    (folder / target.name).write_bytes(data)
    begun, memory = time.process_time(), _memory()
    tally.inputs += 1
    try:
        target.read(folder)
        tally.read += 1
    except InputError as error:
        tally.refused += 1
        _check(error, folder)
    except BaseException:
        tally.failed = True
        raise
    assert time.process_time() - begun < PATIENCE, f"{time.process_time() - begun:.0f} s"
    assert _memory() - memory < ALLOWED, f"{(_memory() - memory) >> 20} MiB of memory"


def _check(error: InputError, folder: Path) -> None:
    """Raise AssertionError unless the error is one line that names a place and a reason."""
    check_line(error, folder, "")


def _memory() -> int:
    """The most bytes of memory that this process has had so far."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def fuzz(target: Target, seconds: float) -> Tally:
    """Try inputs for so many seconds; the first that fails ends it, made small."""
    tally, begun = Tally(), time.monotonic()
    draws: random.Random = random.SystemRandom() if SECONDS else random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def check(data: bytes) -> None:
            if time.monotonic() - begun >= seconds and tally.inputs and not tally.failed:
                return  # the rest of the round; after a failure hypothesis goes on, to make the input small
            attempt(target, folder, data, tally)

        given_inputs = given(inputs(target.seeds, target.text))
        while time.monotonic() - begun < seconds:
            once = given_inputs(
                lambda data: check(data)
            )  # hypothesis takes a function for one run of its settings
            seed(draws.getrandbits(64))(PROFILE(once))()
    tally.seconds = time.monotonic() - begun
    return tally
