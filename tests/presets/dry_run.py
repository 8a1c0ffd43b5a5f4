"""Every preset of the papers from end to end: tiny steps and widths, made-up data of the right form.

    python -m tests.presets.dry_run [PRESET ...] [--dvc] [--keep FOLDER]

Prints a line for each preset (all `presets/paper-*.yaml` where none is named): the stage instances that ran, the rows
of its report, the seconds, and what was replaced because this machine lacks it. `shrink.py` says what is made smaller.
With --dvc a `dvc repro` in a copy of the project runs the stages, as for users; without, this process does, which is
quicker.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import runpy
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.layout import Layout, pairs
from pipeline.params import Params
from pipeline.settings import read_params, write
from pipeline.stages import instances
from quartet.config.loading import read_yaml
from quartet.results import read_results
from tests.imports import ROOT
from tests.presets import synthetic
from tests.presets.shrink import equip, shrink

PRESETS = tuple(sorted(path.stem for path in (ROOT / "presets").glob("paper-*.yaml")))


@dataclass(frozen=True)
class DryRun:
    """What a preset did.

    Attributes:
        stages: instances that ran, the report among them.
        rows: of the report.
        tables: that these rows are of.
        lacks: what was replaced, for want of it here.
    """

    preset: str
    stages: int
    rows: int
    tables: tuple[str, ...]
    seconds: float
    lacks: tuple[str, ...]

    def __str__(self) -> str:
        lacks = f"; {', '.join(self.lacks)}" if self.lacks else ""
        return f"{self.preset}: {self.stages} stages, {self.rows} rows, {self.seconds:.0f} s{lacks}"


def prepare(preset: str, folder: Path) -> tuple[Params, list[str]]:
    """Write params.yaml and the data of a preset into `folder`; its settings, and what this machine lacks."""
    path = ROOT / "presets" / f"{preset}.yaml"
    settings = shrink(read_yaml(path))
    lacks = equip(settings, *here())
    (folder / "params.yaml").write_text(json.dumps(settings), encoding="utf-8")
    synthetic.write(path, settings, folder)
    params = read_params(folder / "params.yaml")
    with contextlib.chdir(folder):
        write(params)
    return params, lacks


def here() -> tuple[bool, bool]:
    """Whether this machine has a GPU, and KenLM's lmplz."""
    import torch

    return torch.cuda.is_available(), shutil.which("lmplz") is not None


def dry_run(preset: str, folder: Path, dvc: bool = False) -> DryRun:
    """Run a preset in a new folder.

    Raises:
        Exception: whatever a stage raises.
    """
    started = time.perf_counter()
    if dvc:
        from tests.tiny import Clone

        clone = Clone(folder)
        params, lacks = prepare(preset, folder)
        ran = clone.repro()
        expected = {f"{stage}@{variant}" if variant else stage for stage, variant in instances(params)}
        assert ran == {*expected, "report"}, ran ^ {*expected, "report"}
    else:
        params, lacks = prepare(preset, folder)
        with chosen(folder):
            for stage, variant in [("settings", ""), *instances(params), ("report", "")]:
                run(params, stage, variant)
    rows = read_results(Layout(params.experiment, folder).report / "results.jsonl")
    return DryRun(
        preset,
        len(instances(params)) + 1,
        len(rows),
        tuple(sorted({row.table for row in rows})),
        time.perf_counter() - started,
        tuple(lacks),
    )


def run(params: Params, stage: str, variant: str) -> None:
    """Run a stage instance in this process, by the module that dvc.yaml's command names.

    Raises:
        RuntimeError: it ended with an error, which it has said.
    """
    arguments = pairs(params)[variant] if stage == "encode" else (variant,) if variant else ()
    before = sys.argv
    sys.argv = [stage, *arguments]
    try:
        runpy.run_module(f"stages.{stage.replace('-', '_')}", run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        if stop.code:
            raise RuntimeError(f"{' '.join(sys.argv)} ended with {stop.code}") from stop
    finally:
        sys.argv = before


@contextlib.contextmanager
def chosen(folder: Path) -> Iterator[None]:
    """Work in `folder`, with MLflow's database there."""
    before = os.environ.get("MLFLOW_TRACKING_URI")
    os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{folder / 'mlflow.db'}"
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        os.environ.pop("MLFLOW_TRACKING_URI")
        if before is not None:
            os.environ["MLFLOW_TRACKING_URI"] = before


def main(arguments: list[str] | None = None) -> int:
    """Run presets; returns the exit code, 1 where one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("presets", nargs="*", default=PRESETS, metavar="PRESET")
    parser.add_argument("--dvc", action="store_true", help="run `dvc repro` in a copy of the project")
    parser.add_argument("--keep", type=Path, help="work in this new folder, and leave it there")
    given = parser.parse_args(arguments)
    os.environ.setdefault("CI", "true")
    failed = 0
    for preset in given.presets:
        with contextlib.ExitStack() as stack:
            if given.keep is None:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dry-run-")))
            else:
                folder = given.keep.resolve() / preset
                folder.mkdir(parents=True)
            with open(folder / "log", "w", encoding="utf-8", buffering=1) as log:
                try:
                    with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
                        done = dry_run(preset, folder, given.dvc)
                except Exception as error:
                    failed += 1
                    log.flush()
                    said = (folder / "log").read_text(encoding="utf-8").splitlines()[-1:]
                    print(f"{preset}: FAILED: {type(error).__name__}: {error}", *said, sep="\n", flush=True)
                    continue
            print(done, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
