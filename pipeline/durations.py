"""How long stages took when they last ran, whatever their settings were: here, else as the experiment's report says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.stages import instances
from pipeline.tracking.stage import BETWEEN, START_UP, TELLING, TOTAL
from quartet.files import read_jsonl
from quartet.results import read_results

#: Of what a stage notes, the parts that make up its time in a run.
WHOLE = (TOTAL, START_UP, TELLING, BETWEEN)
HERE = "their last runs on this machine"


@dataclass(frozen=True)
class Duration:
    """Of a stage instance.

    Attributes:
        source: `HERE`, or the report that says it and its processor.
    """

    seconds: float
    source: str


def noted(layout: Layout, stage: str, variant: str) -> list[dict[str, Any]]:
    """What the last run of a stage instance noted of its durations; empty where it never ran here."""
    path = layout.timing(stage, variant)
    return [row for _, row in read_jsonl(path)] if path.is_file() else []


def durations(params: Params, layout: Layout) -> dict[str, Duration]:
    """By the name of a stage instance as DVC has it, ``pretrain@tta``, for all of which it is known."""
    found: dict[str, Duration] = {}
    report = layout.times / "timings.jsonl"
    for row in read_results(report) if report.is_file() else ():
        if row.table == "duration" and row.metric == "seconds" and row.split in WHOLE:
            name = _name(row.system, row.dataset)
            before = found[name].seconds if name in found else 0.0
            found[name] = Duration(before + row.value, f"{report}: {row.device}")
    for stage, variant in (*instances(params), ("report", "")):
        seconds = [row["seconds"] for row in noted(layout, stage, variant) if row["name"] in WHOLE]
        if seconds:
            found[_name(stage, variant)] = Duration(sum(seconds), HERE)
    return found


def _name(stage: str, variant: str) -> str:
    return f"{stage}@{variant}" if variant else stage


def in_words(hours: float) -> str:
    """A duration to three digits or more, in seconds, minutes or hours."""
    seconds = 3600 * hours
    unit, size = next((unit for unit in (("h", 3600), ("min", 60)) if seconds >= unit[1]), ("s", 1))
    value = seconds / size
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def altogether(names: Iterable[str], known: Mapping[str, Duration], most: int) -> str:
    """How long stage instances take together, at most so many at once, and what that rests on.

    Stages that wait for each other are not at once: with several the time is a lower bound.
    """
    names = list(names)
    took = [known[name] for name in names if name in known]
    hours = sum(one.seconds for one in took) / 3600
    said = f"{len(names)} stages: {in_words(hours)} one after another"
    if most > 1:
        said += f", at least {in_words(hours / most)} {most} at once"
    if took:
        said += f", by {' and by '.join(sorted({one.source for one in took}))}"
    missing = len(names) - len(took)
    return said + (f"; of {missing} of them no time is kept" if missing else "")
