"""Makes every malformed input, has the program read it, and prints how many of each kind were refused."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.reliability.malformed import GENERATORS, Case, every_case


def write(cases: tuple[Case, ...], folder: Path) -> None:
    """Put each input into a folder of its own below `folder`."""
    for number, case in enumerate(cases, start=1):
        case.write(folder / case.kind / f"{number:04}")
    print(f"{len(cases)} malformed inputs -> {folder}")


def try_all(cases: tuple[Case, ...], show: bool) -> int:
    """Read each input; print the counts, and each that was not refused in one clear line.

    Returns:
        How many were not.
    """
    made, refused, slowest = Counter[str](), Counter[str](), (0.0, "")
    for case in cases:
        made[case.kind.partition("/")[0]] += 1
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            try:
                error = case.refusal(Path(folder))
            except Exception as other:  # what a user would have seen as a traceback, or a wrong reading
                print(f"NOT REFUSED {case.id}: {type(other).__name__}: {other!s:.300}")
                continue
            slowest = max(slowest, (time.process_time() - start, case.id))
        refused[case.kind.partition("/")[0]] += 1
        if show:
            print(f"{case.id}\n    {error!s}".replace(f"{folder}/", ""))
    for kind in made:
        print(f"{kind:<12} {made[kind]:>5} inputs, {refused[kind]:>5} refused in one line")
    print(f"{'in all':<12} {made.total():>5} inputs, {refused.total():>5} refused in one line")
    print(f"slowest: {slowest[0]:.2f} s of computing, {slowest[1]}")
    return made.total() - refused.total()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="write them here, and read nothing")
    parser.add_argument("--only", nargs="*", default=[], choices=GENERATORS, help="some generators")
    parser.add_argument("--show", action="store_true", help="print each line")
    given = parser.parse_args()
    chosen = every_case(*given.only)
    if given.folder:
        write(chosen, given.folder)
    else:
        sys.exit(1 if try_all(chosen, given.show) else 0)
