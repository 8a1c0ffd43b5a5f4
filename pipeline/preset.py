"""`make repro`: choose the settings, run what they change, and say where the results are.

    python -m pipeline.preset [name] [jobs]

Without a name params.yaml runs as it is. With one, presets/<name>.yaml becomes params.yaml first, unless that
would lose edits. As many stages run side by side as have cores, or as many as `jobs` says.
"""

from __future__ import annotations

import os
import shutil
from contextlib import nullcontext
from pathlib import Path

from pipeline import side_by_side
from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.repair_dvc_files import repair_dvc_files
from pipeline.run import main
from pipeline.settings import PARAMS, read_params
from pipeline.tracking.mlflow import shown_uri
from pipeline.tracking.summary import show_present
from quartet.errors import InputError, nearest
from quartet.files import atomic_path, hold_lock
from quartet.report.facts import read_facts
from quartet.report.headline import headline
from quartet.results import read_results

LOCK, PRESETS = Path("dvc.lock"), Path("presets")
#: The preset whose lock file is the repository's own dvc.lock.
DEFAULT = "sample"


def choose(name: str) -> None:
    """Make presets/<name>.yaml the params.yaml of the working folder.

    Raises:
        InputError: there is no such preset, or params.yaml holds edits that are in no preset.
    """
    presets = {path.stem: path for path in sorted(PRESETS.glob("*.yaml"))}
    if name not in presets:
        raise InputError(
            f"PRESET={name}", f"there is no {PRESETS / name}.yaml", nearest(name, presets, "preset")
        )
    read_params(presets[name])
    if PARAMS.is_file():
        now = PARAMS.read_bytes()
        if now == presets[name].read_bytes():
            return
        if all(now != path.read_bytes() for path in presets.values()):
            raise InputError(
                PARAMS,
                "holds edits of yours that are in no preset",
                f"keep them with `cp {PARAMS} {PRESETS}/mine.yaml`, or drop them with `cp {PRESETS / DEFAULT}.yaml "
                f"{PARAMS}`; `make repro` without PRESET runs them as they are",
            )
    with atomic_path(PARAMS) as temporary:
        shutil.copyfile(presets[name], temporary)


def keep_lock(layout: Layout) -> None:
    """Copy what was run, dvc.lock and params.yaml, into the report's folder, unless it is the default experiment."""
    if layout.experiment == read_params(PRESETS / f"{DEFAULT}.yaml").experiment:
        return
    for path in (LOCK, PARAMS):
        with atomic_path(layout.report / path.name) as temporary:
            shutil.copyfile(path, temporary)


def check_inputs(params: Params) -> None:
    """Look whether the user's own files are there, which DVC says without a word on the setting that names them.

    Raises:
        InputError: one is not, and no stage makes it.
    """
    root = Path(params.data.root)
    named = {f"nbest.{name}.folder": one.folder for name, one in params.nbest.items()}
    named |= {
        f"recognisers.{name}.audio.folder": one.audio.folder for name, one in params.recognisers.items()
    }
    for name, one in params.translators.items():
        for split in ("train", "dev", "test"):
            for place, path in enumerate(getattr(one, split)):
                named[f"translators.{name}.{split}[{place}]"] = path
    for key, path in named.items():
        found = Path(os.path.normpath(root / path))
        if not found.exists() and "artifacts" not in found.parts:
            beside = [each.name for each in found.parent.iterdir()] if found.parent.is_dir() else []
            raise InputError(
                f"params.yaml: {key}",
                f"{found} is not there",
                nearest(found.name, beside, "name") if beside else "",
            )


def repro(name: str = "", jobs: str = "") -> None:
    """Run the pipeline of a preset (of params.yaml, if it is empty) and print where its results are.

    Raises:
        InputError: there is a mistake in the settings, or another `make repro` runs in this folder.
    """
    with hold_lock(PRESETS) if PRESETS.is_dir() else nullcontext(True) as alone:
        if not alone:
            raise InputError("make repro", "another one runs in this folder", "wait for it, or stop it")
        _repro(name, jobs)


def _repro(name: str, jobs: str) -> None:
    if name:
        choose(name)
    repair_dvc_files()
    params = read_params(PARAMS)
    check_inputs(params)
    layout = Layout(params.experiment)
    most = side_by_side.jobs(params, jobs)
    side_by_side.repro(most)
    keep_lock(layout)
    show_present(params)  # after `git checkout` nothing may have run
    say_results(layout)
    print(f"MLflow UI   make ui   (or: mlflow ui --backend-store-uri {shown_uri()} --host 127.0.0.1)")


def say_results(layout: Layout) -> None:
    """Print what the run shows, in three sentences, and where the rest is."""
    results, facts = read_results(layout.results), read_facts(layout.report / "facts.json")
    print("\n".join(["", *headline(results, facts), ""]))
    print(f"report      {layout.report / 'README.md'}, or index.html beside it in a browser")


if __name__ == "__main__":
    main(repro)
