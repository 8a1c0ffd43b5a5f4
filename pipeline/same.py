"""Whether a run found what the committed report says.

    python -m pipeline.same reports/sample                 # this working tree's results against the last commit's
    python -m pipeline.same reports/sample /elsewhere/reports/sample   # or against those of another folder
    python -m pipeline.same reports/sample --tolerance     # within the tolerances below

On one kind of processor (`quartet.hardware.processor`) a run gives the same bytes. On another kind sums are rounded in
another order; a training makes the differences larger, step by step. So where the two reports name different kinds (in
facts.json), or with ``--tolerance``, each row may differ by as much as `TOLERANCES` says. Exit code 0: the same; 1: the
first rows that differ are printed, with the reason; 2: there is nothing to compare.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from quartet.errors import InputError
from quartet.report.facts import read_facts
from quartet.results import Result, read_results

#: Rows that are printed.
SHOWN = 10
RESULTS, FACTS = "results.jsonl", "facts.json"
#: Systems that no training reaches: their rows must be equal but for `LAST_DIGITS`, whatever the metric.
UNTRAINED = re.compile(r"first-pass|oracle|majority|no-answer|random-span|unigram(/.*)?|ngram-\d+")

#: Relative: NumPy sums up in another order where it has other instructions (5e-16).
LAST_DIGITS = 1e-12


@dataclass(frozen=True)
class Tolerance:
    """How far a value, and each end of its interval, may move; the largest of the four counts.

    Attributes:
        metrics: a pattern of all the metric's name.
        share: of the width of the committed row's own 95 % interval.
        relative: of the committed value.
        absolute: in the metric's unit.
        per_case: in the metric's unit, for each of the row's `n` cases.
    """

    metrics: str
    share: float = 0.0
    relative: float = 0.0
    absolute: float = 0.0
    per_case: float = 0.0

    def allows(self, row: Result) -> float:
        """The largest difference that a committed row may have."""
        width = 0.0 if row.ci_low is None or row.ci_high is None else row.ci_high - row.ci_low
        return max(self.share * width, self.relative * abs(row.value), self.absolute, self.per_case * row.n)


#: The first that fits a metric counts. In brackets: the most that was seen between runs of the preset `sample` that
#: differ by the kind of processor alone (docs/determinism.md); tests/fixtures/other_kind has the rows that moved most.
TOLERANCES = (
    # Counts and settings. No rounding reaches them.
    Tolerance(
        "parameters|tokens|steps|epochs|batch-size|learning-rate|cut|in-train|oov|coverage|passage-read|entropy"
    ),
    # Choices among nearly equal ones (a weight of the grid, a seed of a search) and what counts decisions.
    Tolerance("weight|weight-best-on-test|share", absolute=0.1),  # 0.047
    Tolerance("better|worse", per_case=0.1),  # 0.057 of the lists
    # Decisions: one that is nearly a tie may fall the other way. Two systems move independently of each other.
    Tolerance("wer|cer|bleu", share=0.25),  # 0.12
    Tolerance("(wer|cer|bleu)-difference", share=0.25, absolute=1.0),  # 0.67
    Tolerance("(wer|cer|bleu)-(detectable|best-on-test)", relative=0.1, absolute=1.0),  # 0.53
    Tolerance(r".*-difference", share=1.0),  # 0.39
    Tolerance(r"accuracy.*|ties|em.*|f1.*|matthews|noans", share=0.5),  # 0.35
    # Correlations, ranks among them: two that are equal but for rounding change places.
    Tolerance(r"(spearman|pearson).*", share=0.5),  # 0.33
    # The mean of perplexities hangs on the few sentences that are predicted worst.
    Tolerance(r"p?ppl(-word)?-mean", share=3.0),  # 1.3
    # Everything else is continuous: losses, perplexities, shares of attention.
    Tolerance(r".*", share=1.0, relative=0.03),  # 0.75; 0.011 of a loss without an interval
)


def tolerance(row: Result) -> float:
    """How far a committed row may move on another kind of processor."""
    if UNTRAINED.fullmatch(row.system):
        return LAST_DIGITS * abs(row.value)
    return next(one for one in TOLERANCES if re.fullmatch(one.metrics, row.metric)).allows(row)


def differences(found: Sequence[Result], expected: Sequence[Result], exact: bool) -> Iterator[str]:
    """One line for each row that is not as it should be, in the order of the rows.

    Args:
        found: the rows of the run.
        expected: the committed ones.
        exact: whether the rows must be equal.
    """
    ours, theirs = ({row.key: row for row in rows} for rows in (found, expected))
    for key in sorted(ours.keys() | theirs.keys()):
        name = " ".join(str(part) for part in key[:5] if part) + (f", seed {key[5]}" if key[5] >= 0 else "")
        if key not in ours:
            yield f"{name}: missing"
        elif key not in theirs:
            yield f"{name}: not in the committed results"
        elif why := _moved(ours[key], theirs[key], 0.0 if exact else tolerance(theirs[key])):
            yield f"{name}: {why}"


def _moved(ours: Result, theirs: Result, allowed: float) -> str:
    """What differs by more than is allowed between two rows of one key; empty if nothing does."""
    for field in (one.name for one in fields(Result)):
        mine, committed = getattr(ours, field), getattr(theirs, field)
        if mine == committed:
            continue
        if field == "p" and allowed and None not in (mine, committed):
            continue  # it follows from the difference, whose sign may change: it moved by 0.81
        if field not in ("value", "ci_low", "ci_high") or mine is None or committed is None:
            return f"{field} is {mine}, committed {committed}"
        if (moved := abs(mine - committed)) > allowed:
            return f"{field} {mine:g}, committed {committed:g}: moved by {moved:.3g}, allowed {allowed:.3g}"
    return ""


def kinds(facts: Path) -> tuple[str, ...]:
    """The kinds of processor, and GPUs, that computed a run; empty where they were not noted.

    Raises:
        InputError: the file is broken.
    """
    return read_facts(facts).processors if facts.is_file() else ()


def committed_results(folder: Path, into: Path) -> Path:
    """The results of a report's folder as last committed, and its facts where there are any, as files in `into`.

    Raises:
        InputError: the results are not committed, or this is no git checkout.
    """
    for name in (RESULTS, FACTS):
        shown = subprocess.run(
            ["git", "show", f"HEAD:./{name}"], cwd=folder, capture_output=True, check=False
        )
        if shown.returncode == 0:
            (into / name).write_bytes(shown.stdout)
        elif name == RESULTS:
            raise InputError(
                folder / name,
                "git has no committed version of it",
                "name the folder to compare with: python -m pipeline.same FOLDER OTHER",
            )
    return into


def compare(folder: Path, other: Path, tolerant: bool) -> int:
    """Print how the results of two folders compare; the exit code."""
    if (folder / RESULTS).read_bytes() == (other / RESULTS).read_bytes():
        print(f"{folder}: the same, byte for byte")
        return 0
    ours, theirs = kinds(folder / FACTS), kinds(other / FACTS)
    elsewhere = bool(ours and theirs and ours != theirs)
    exact = not tolerant and not elsewhere
    found, expected = read_results(folder / RESULTS), read_results(other / RESULTS)
    wrong = list(differences(found, expected, exact))
    rows = len({row.key for row in (*found, *expected)})
    where = f" (here {' and '.join(ours)}; there {' and '.join(theirs)})" if elsewhere else ""
    if not wrong:
        moved = sum(1 for _ in differences(found, expected, True))
        print(f"{folder}: {moved} of {rows} rows differ, all within their tolerances{where}")
        return 0
    print(f"{folder}: {len(wrong)} of {rows} rows differ{'' if exact else ' by more than they may'}{where}")
    for line in itertools.islice(wrong, SHOWN):
        print(f"  {line}")
    if exact:
        print("On another kind of processor compare with --tolerance.")
    return 1


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: see the module."""
    parser = argparse.ArgumentParser(
        prog="python -m pipeline.same", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("folder", type=Path, help="a report of this working tree, e.g. reports/sample")
    parser.add_argument(
        "other", type=Path, nargs="?", help="the folder to compare with; else the last commit's"
    )
    parser.add_argument(
        "--tolerance", action="store_true", help="rows may differ by as much as the module says"
    )
    given = parser.parse_args(arguments)
    try:
        for folder in filter(None, (given.folder, given.other)):
            if not (folder / RESULTS).is_file():
                raise InputError(
                    folder / RESULTS, "no such file", "run the pipeline, or name a report's folder"
                )
        with tempfile.TemporaryDirectory() as kept:
            other = given.other or committed_results(given.folder, Path(kept))
            return compare(given.folder, other, given.tolerance)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
