"""`quartet compare`: two systems on the same lists."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quartet.cli.options import (
    BleuLowercaseOption,
    BleuTokenizationOption,
    MetricOption,
)
from quartet.config.choices import MetricName
from quartet.errors import InputError
from quartet.paths import check_paths
from quartet.results import with_interval
from quartet.user_files import STDOUT, dash_is_stdin, open_for_writing

if TYPE_CHECKING:
    from quartet.nbest.system_comparison import SystemComparison


def compare(
    a: Annotated[
        Path,
        typer.Argument(
            metavar="A.jsonl",
            help="What quartet rescore wrote for a system; -: standard input.",
            callback=dash_is_stdin,
            readable=False,
        ),
    ],
    b: Annotated[
        Path,
        typer.Argument(
            metavar="B.jsonl",
            help="What it wrote for another, on the same lists, likewise.",
            callback=dash_is_stdin,
            readable=False,
        ),
    ],
    metric: MetricOption = "wer",
    bleu_tokenize: BleuTokenizationOption = "13a",
    bleu_lowercase: BleuLowercaseOption = False,
    resamples: Annotated[int, typer.Option(help="Resamples of the paired bootstrap.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Of its random draws.")] = 1,
    unit: Annotated[
        str,
        typer.Option(
            metavar="utterance|speaker|PATTERN",
            help="What is resampled: each utterance, those whose names begin alike up to the first - or _, or those "
            "alike in the one group of a regular expression.",
        ),
    ] = "utterance",
    words: Annotated[
        int, typer.Option(min=0, help="How many of the changed words, or characters, to show.")
    ] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")] = False,
) -> None:
    """Compare two systems that rescored the same lists: wins, losses, what changed, and how sure it is."""
    from quartet.config.nbest import BleuSettings
    from quartet.nbest.metrics import metric_named
    from quartet.nbest.rescored_file import read_rescored
    from quartet.nbest.system_comparison import compare as compare_systems
    from quartet.statistics.intervals import LEAST_DRAWS

    check_paths([("A.jsonl", a), ("B.jsonl", b)], [("standard output", STDOUT)])
    if resamples < LEAST_DRAWS:
        raise InputError(
            "--resamples",
            f"{resamples} do not say how sure a difference is",
            f"take {LEAST_DRAWS} or more",
        )
    judge = metric_named(metric, BleuSettings(lowercase=bleu_lowercase, tokenize=bleu_tokenize))
    results = {path: read_rescored(path) for path in (a, b)}
    found = compare_systems(results[a], results[b], judge, resamples, seed, unit)
    if as_json:
        with open_for_writing(STDOUT) as file:
            json.dump({"metric": metric, **as_object(found)}, file, ensure_ascii=False, indent=1)
            file.write("\n")
    else:
        print("\n".join(lines(found, metric, words)))
    for path, result in results.items():
        if any(one.counted is None for one in result):
            print(
                f"{path}: does not say for which metric its texts were made; the figures hold if it was {metric}",
                file=sys.stderr,
            )


def lines(found: SystemComparison, metric: MetricName, words: int) -> list[str]:
    """The comparison in words, a fact a line."""
    from quartet.nbest.metrics import METRICS
    from quartet.nbest.significance import detectable
    from quartet.statistics.intervals import LEAST_UNITS

    unit, parts = METRICS[metric].label, METRICS[metric].parts
    changes = found.changes
    difference = with_interval(found.difference, sign=True)
    p_value, smallest = found.difference.p, detectable(found.difference)
    rows = [
        (f"a: {unit}", with_interval(found.a)),
        (f"b: {unit}", with_interval(found.b)),
        ("b - a", difference + ("" if p_value is None else f", p = {p_value:.4f}")),
        ("detectable", "unknown" if smallest is None else f"{smallest:.2f}"),
        ("utterances", f"{found.utterances:,} with a reference, {found.without_reference:,} without"),
        ("b better", f"{found.wins:,}"),
        ("b worse", f"{found.losses:,}"),
        ("equal", f"{found.ties:,} ({found.same:,} utterances have the same text)"),
        ("fixed", f"{changes.fixed.total():,}{most_frequent(changes.fixed, words)}"),
        ("broken", f"{changes.broken.total():,}{most_frequent(changes.broken, words)}"),
        ("others", f"{changes.added:,} more and {changes.dropped:,} fewer"),
    ]
    notes = [
        f"[low, high]: 95 % bootstrap interval over {found.units}; of the difference over the same ones for both.",
        "detectable: the smallest true difference that these utterances would show 4 times in 5.",
        f"fixed, broken: {parts} of the references that b alone, or a alone, has right; others: {parts} beside these.",
    ]
    if p_value is None:
        notes.append(
            f"No interval of the difference and no p: fewer than {LEAST_UNITS} {found.units.split()[-1]}."
        )
    return [*(f"{head:<14}{text}" for head, text in rows), *notes]


def most_frequent(changes: Counter[tuple[str, str]], limit: int) -> str:
    """The most frequent changes, a's word first: what one has and the other has not is an empty pair of quotes."""
    rows = ordered(changes)[:limit]
    shown = ", ".join(f'"{ours}" -> "{theirs}" {times}' for (ours, theirs), times in rows)
    return f": {shown}" if shown else ""


def ordered(changes: Counter[tuple[str, str]]) -> list[tuple[tuple[str, str], int]]:
    """The most frequent changes first, equally frequent ones by the alphabet."""
    return sorted(changes.items(), key=lambda change: (-change[1], change[0]))


def as_object(found: SystemComparison) -> dict[str, Any]:
    """Everything, for other programs."""
    from quartet.nbest.significance import detectable

    changes = found.changes
    return {
        "utterances": found.utterances,
        "without_reference": found.without_reference,
        "a": dataclasses.asdict(found.a),
        "b": dataclasses.asdict(found.b),
        "difference": dataclasses.asdict(found.difference),
        "detectable": detectable(found.difference),
        "better": found.wins,
        "worse": found.losses,
        "equal": found.ties,
        "same_text": found.same,
        "fixed": as_objects(changes.fixed),
        "broken": as_objects(changes.broken),
        "others_more": changes.added,
        "others_fewer": changes.dropped,
    }


def as_objects(changes: Counter[tuple[str, str]]) -> list[dict[str, Any]]:
    """Changes as objects, the most frequent first."""
    return [{"a": ours, "b": theirs, "times": times} for (ours, theirs), times in ordered(changes)]
