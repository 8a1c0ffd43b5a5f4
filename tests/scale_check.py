"""`make scale-check`: what docs/planning.md and docs/scale.md say, by real trainings of a minute or two.

    python -m tests.scale_check

Models of the preset sample are trained for a few steps; `pipeline.plan` then says how long many steps will take; these
are run, and the two compared. The clock is the computing time of one thread: what else the machine does is not counted.
One of the trainings is also done by two processes, as the settings `trainer` start them.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import chdir
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pipeline.layout import Layout
from pipeline.plan import TrainingCost, plan, speed_of
from pipeline.settings import read_params
from quartet.config.loading import read_yaml
from quartet.files import read_jsonl
from quartet.training.distributed import Machine
from tests.imports import ROOT

#: Models of the preset, and the steps before and after planning.
MODELS, FEW, MANY = ("bilm", "tta", "segatron-xl"), 100, 300
#: How far a plan may be off.
WITHIN = 0.25
#: How far the curves of one and of two processes may be apart after MANY steps: rounding grows with them.
CURVES = 1e-3


class Workplace:
    """A folder that stages run in, with settings of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = dict(read_yaml(ROOT / "presets" / "sample.yaml"))
        self.settings |= {"experiment": "scale-check", "device": "cpu", "threads": 1}
        self.layout = Layout("scale-check", folder)
        for corpus in self.settings["corpora"].values():
            corpus["limit"] = 20
        self.set(FEW)

    def set(self, steps: int, trainer: dict[str, Any] | None = None) -> None:
        """Write params.yaml with so many steps of each training, of which two validations see 20 batches."""
        for model in self.settings["models"].values():
            changes = {"steps": steps, "validate_every": steps // 2, "validation_batches": 20}
            model["training"] = {**model["training"], **changes, "checkpoint_every": steps}
        settings = {**self.settings, **({"trainer": trainer} if trainer else {})}
        (self.folder / "params.yaml").write_text(json.dumps(settings), encoding="utf-8")
        self.run("settings")

    def run(self, stage: str, *variant: str) -> None:
        """Run a stage in this process: to start one takes longer than these trainings."""
        with chdir(self.folder):
            getattr(import_module(f"stages.{stage}"), stage)(*variant)

    def start(self, *arguments: str) -> None:
        """Run a module in a process of its own."""
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
        subprocess.run([sys.executable, "-m", *arguments], cwd=self.folder, env=environment, check=True)

    def plans(self) -> dict[str, TrainingCost]:
        """What the settings are said to take."""
        params = read_params(self.folder / "params.yaml")
        speeds = {name: speed_of(params, self.layout, name, "cpu", None, None) for name in MODELS}
        return {name: plan(params, self.layout, name, Machine(), speed) for name, speed in speeds.items()}

    def curve(self, model: str) -> list[tuple[int, float]]:
        with open(self.layout.curve(model), newline="", encoding="utf-8") as file:
            return [(int(row["step"]), float(row["loss"])) for row in csv.DictReader(file)]

    def trained(self, model: str) -> dict[str, float]:
        """Seconds and tokens of the last training."""
        (timing,) = (
            row
            for _, row in read_jsonl(self.layout.timing("pretrain", model))
            if row["name"] == "train/seed-1"
        )
        (tokens,) = (
            row["value"]
            for _, row in read_jsonl(self.layout.rows("pretrain", model))
            if row["metric"] == "tokens"
        )
        return {"seconds": timing["seconds"], "tokens": tokens}


def as_planned(place: Workplace) -> bool:
    """Whether the plans were right; they are shown beside what was measured."""
    for model in MODELS:
        place.run("pretrain", model)
    place.set(MANY)
    plans = place.plans()
    table = Table(title=f"Planned after {FEW} steps, measured with {MANY}")
    for heading in ("model", "tokens planned", "read", "seconds planned", "measured", "planned / measured"):
        table.add_column(heading, justify="left" if heading == "model" else "right")
    right = True
    for model in MODELS:
        place.run("pretrain", model)
        planned, real = plans[model], place.trained(model)
        seconds = planned.hours * 3600
        ratios = [planned.tokens / real["tokens"], seconds / real["seconds"]]
        right &= all(abs(ratio - 1) <= WITHIN for ratio in ratios)
        cells = [
            f"{planned.tokens:,.0f}",
            f"{real['tokens']:,.0f}",
            f"{seconds:.1f}",
            f"{real['seconds']:.1f}",
        ]
        table.add_row(model, *cells, f"{ratios[1]:.2f}")
    Console(width=110).print(table)
    return right


def spread(place: Workplace) -> bool:
    """Whether two processes learn what one did, and whether a change of the machine trains nothing again."""
    model = MODELS[1]
    one = place.curve(model)
    place.settings["models"][model]["training"]["accumulate"] = 2  # another training, of the same gradients
    place.set(MANY, {"strategy": "ddp", "devices": 2})
    place.start("stages.pretrain", model)
    two, seconds = place.curve(model), place.trained(model)["seconds"]
    place.set(MANY)
    place.run("pretrain", model)
    apart = max(abs(ours - theirs) for (_, ours), (_, theirs) in zip(one, two, strict=True))
    again = place.trained(model)["seconds"] != seconds
    print(
        f"{model}, {MANY} steps by two processes ({seconds:.1f} s): the curve is {apart:.5f} nats from that of one; "
        f"back on one device, it is {'trained again' if again else 'not trained again'}"
    )
    return apart <= CURVES and not again


def main() -> None:
    """Run both checks; exit code 1 where one fails."""
    argparse.ArgumentParser(
        "python -m tests.scale_check", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    ).parse_args()
    vars(time)["perf_counter"] = time.process_time
    with tempfile.TemporaryDirectory() as name:
        os.environ |= {"MLFLOW_TRACKING_URI": f"sqlite:///{name}/mlflow.db", "CI": "true"}
        place = Workplace(Path(name))
        for stage, variant in (
            ("download", ["wikipedia-sample"]),
            ("segment", ["wikipedia-sample"]),
            ("tokenizer", ["wordpiece-1k"]),
            ("encode", ["wikipedia-sample", "wordpiece-1k"]),
        ):
            place.run(stage, *variant)
        checks = [as_planned(place), spread(place)]
    sys.exit(0 if all(checks) else 1)


if __name__ == "__main__":
    main()
