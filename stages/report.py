"""report: every figure of the run as records, tables and pictures."""

from __future__ import annotations

import csv
import shutil
import tempfile
from collections import defaultdict
from pathlib import Path

from pipeline import pages
from pipeline.layout import REPORT, Layout
from pipeline.params import Params
from pipeline.report import (
    dvc_metrics,
    gather,
    input_lengths_plot,
    validation_plot,
    weights_plot,
    write_metrics,
    write_table,
)
from pipeline.run import main
from pipeline.settings import load
from pipeline.stages import instances, record, results
from pipeline.tracking.progress import say
from pipeline.tracking.stage import read_timings, stage_run, timings
from quartet.errors import InputError
from quartet.files import TEMPORARY, atomic_dir, sha256, write_json
from quartet.hardware.processor import kind_of
from quartet.report import figures
from quartet.report.drawing import PictureData
from quartet.report.facts import facts_json
from quartet.report.run_report import Report
from quartet.report.scale import with_read
from quartet.report.tables import document
from quartet.results import EvaluatedSystem, Measure, Result, write_results
from quartet.tasks.attention.maps import read_article

Curve = list[tuple[float, float]]


def report() -> None:
    """Write reports/<experiment>/."""
    params = load()
    layout = Layout(params.experiment)
    found = results(params)
    with stage_run(params, "report"):
        write_whole(params, layout, found)
    write_json(layout.reported, {"results": sha256(layout.results)})
    say(f"{len(found)} results -> {layout.report / 'README.md'} and index.html")


def write_whole(params: Params, layout: Layout, found: list[Result]) -> None:
    """Put a new report in the place of the old one when all of it is made: whatever fails, the old one stays."""
    layout.report.mkdir(parents=True, exist_ok=True)
    for left in layout.report.glob(f"{TEMPORARY}*"):  # by one that was killed
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=layout.report) as kept:
        draft = Path(kept)
        write_report(params, layout, found, draft)
        write_times(params, layout, found, draft / layout.times.name)
        for name in (*REPORT, layout.times.name):
            target = layout.report / name
            if target.is_dir():
                target.rename(draft / f"{name}.old")
            (draft / name).replace(target)


def write_report(params: Params, layout: Layout, found: list[Result], place: Path) -> None:
    """Everything that equal results make equal to the byte: no duration, and of the device its kind alone."""
    device = pages.computed_on(found, params.models)
    kinds = {kind_of(row.device) for row in durations(params, layout)} - {""}
    facts = gather(params, layout, device, sorted(kinds))
    found = with_read(found, facts)
    write_results(place / "results.jsonl", found)
    with atomic_dir(place / "metrics") as folder:
        write_metrics(folder, dvc_metrics(found))
    training, weights = curves(params, layout)
    with atomic_dir(place / "plots") as folder:
        write_table(folder / "validation.csv", validation_plot(training, facts))
        write_table(folder / "weights.csv", weights_plot(weights))
        write_table(folder / "input-lengths.csv", input_lengths_plot(found))
    with atomic_dir(place / "figures") as folder:
        maps = {name: read_article(layout.attention(name)) for name in params.evaluate["attention"]}
        data = PictureData(report=Report(found, facts), training=training, weights=weights, maps=maps)
        drawn = figures.draw(folder, data)
    pictures = {name: f"figures/{file}" for name, file in drawn.items()}
    (place / "facts.json").write_text(facts_json(facts), encoding="utf-8")
    pages.write_pages(place, document(found, facts, pictures), place)


def write_times(params: Params, layout: Layout, found: list[Result], place: Path) -> None:
    """What differs from run to run, in a folder of its own: timings.jsonl, and its pages."""
    timed, took = timings(layout), durations(params, layout)
    place.mkdir(parents=True, exist_ok=True)
    write_results(place / "timings.jsonl", [*timed, *took])
    facts = gather(params, layout, pages.computed_on([*took, *found], params.models))
    pages.write_times(place, [*timed, *took], facts)


def durations(params: Params, layout: Layout) -> list[Result]:
    """How long each stage instance took, and how fast each training was, where that is known."""
    found: list[Result] = []
    for stage, variant in instances(params):
        for row in read_timings(layout, stage, variant, sha256(record(params, stage, variant))):
            measures = {"seconds": Measure(row["seconds"], 1)}
            for metric, value in row.get("measures", {}).items():
                measures[metric] = Measure(value, int(row["steps"]))
            found += EvaluatedSystem(stage, row.get("device", pages.NOT_NOTED), "one run").rows(
                measures,
                experiment=params.experiment,
                table="duration",
                dataset=variant,
                split=row["name"],
            )
    return found


def curves(params: Params, layout: Layout) -> tuple[dict[str, Curve], dict[tuple[str, str, str], Curve]]:
    """By model, (step, validation loss); by lists, split and system, (weight, WER in % or BLEU)."""
    training: dict[str, Curve] = {
        name: [(float(row["step"]), float(row["loss"])) for row in read_csv(layout.curve(name))]
        for name in params.models
    }
    weights: defaultdict[tuple[str, str, str], Curve] = defaultdict(list)
    for name in params.evaluate["rerank"]:
        for row in read_csv(layout.wer_curve(name)):
            place = row["list"], row["split"], row["system"]
            weights[place].append((float(row["weight"]), float(row["value"])))
    return training, weights


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a curve.

    Raises:
        InputError: the file is absent.
    """
    if not path.is_file():
        raise InputError(path, "no such file", "run dvc repro")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main(report)
