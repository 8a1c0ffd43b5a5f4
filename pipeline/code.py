"""artifacts/code.json: for each script in stages/, one digest of all modules that it imports.

    python -m pipeline.code

dvc.yaml names a stage's digest beside its settings. A new module or script needs no entry anywhere. Each stage compares
its digest with the code as it is, since an edit may come while ``dvc repro`` runs: one that comes before a stage ends
it, what was made of the code before an edit is kept.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.run import DVC_STAGE, main
from pipeline.tracking.progress import say
from quartet import code
from quartet.errors import InputError
from quartet.files import read_json, write_json

ROOT = Path(__file__).resolve().parents[1]
#: Where all code of the pipeline lies.
HOMES: code.Homes = {**code.LIBRARY, "pipeline": ROOT, "stages": ROOT}
DIGESTS = Path("artifacts/code.json")
#: In that file, beside the scripts: a hash of all sources as they were. No stage depends on it.
SOURCES = "all sources"

#: No output is changed by what starts a stage, and by what watches it: what is told MLflow, the terminal and the timing
#: files, the comparison below.
AROUND = ("pipeline.tracking", "pipeline.dvc_process")
#: What reads params.yaml ends in the settings, which are dependencies. For `settings` it is code, as the defaults are.
READER, READING = "settings", "pipeline.settings"


def digest(script: str) -> str:
    """The fingerprint of what a script in stages/ runs."""
    reads = script == READER
    without = AROUND if reads else (*AROUND, READING)
    return code.fingerprint(f"stages.{script}", without=without, homes=HOMES, defaults=reads)


def digests() -> dict[str, str]:
    """The fingerprint of each script, by its name."""
    return {path.stem: digest(path.stem) for path in sorted((ROOT / "stages").glob("[!_]*.py"))}


def modules() -> dict[str, str]:
    """A hash of the bytes of every module, and of what lies beside modules, by its path."""
    found = {}
    for package, home in HOMES.items():
        for path in sorted((home / package).rglob("[!.]*")):
            if path.suffix == ".pyc" or path.is_dir():
                continue
            try:
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
            except FileNotFoundError:  # an editor's, which was there for a moment
                continue
    return found


def sources(found: Mapping[str, str] | None = None) -> str:
    """One hash of all of `modules`: while it is the same, no digest changes."""
    found = modules() if found is None else found
    homes = sorted({str(home) for home in HOMES.values()}, key=len, reverse=True)
    lines = []
    for path, content in found.items():
        home = next(home for home in homes if path.startswith(home))
        lines.append(f"{path.removeprefix(home)}\0{content}\n")
    return hashlib.sha256("".join(sorted(lines)).encode("utf-8", "surrogateescape")).hexdigest()


def forget() -> None:
    """Let fingerprints be of the modules as they are now, and not as this process has read them."""
    for value in vars(code).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()


@dataclass(frozen=True)
class Started:
    """What a stage began with: the hash of each module, and the names of those that it had imported."""

    modules: Mapping[str, str]
    imported: frozenset[str]


def check(stage: str, *, read: bool = False) -> Started | None:
    """Compare the code of a stage that DVC runs with what the stage `code` has written down, which DVC notes of it.

    What a stage makes of edited modules would else be kept under the name of those before, for good.

    Args:
        stage: as in dvc.yaml.
        read: every module is read in any case, and fingerprints that are asked for later are of the modules as they
            were now: for stages that keep trainings under such names while they run.

    Returns:
        what `after` compares with; None where a hand runs the stage.

    Raises:
        InputError: a module that the stage imports has been edited since.
    """
    if DVC_STAGE not in os.environ or not DIGESTS.is_file():
        return None
    found = modules()
    if not _is_noted(stage, found, read):
        raise _edited(stage, "was edited while DVC ran")
    return Started(found, frozenset(sys.modules))


def after(stage: str, started: Started | None) -> None:
    """Say so where the code of a stage was edited while it ran: its work is that of the modules as they were.

    DVC notes it under their digest, so that the next run decides.

    Args:
        started: what `check` returned.

    Raises:
        InputError: a module was edited, and imported only then: the work is of no one state of the code.
    """
    if started is None or _is_noted(stage, found := modules(), read=False):
        return
    late = [sys.modules[name] for name in sys.modules.keys() - started.imported]
    files = {str(getattr(module, "__file__", None)) for module in late}
    if any(started.modules.get(file) != found.get(file) for file in files):
        raise _edited(stage, "was edited while it ran, and imported after that")
    say(
        f"{stage}: its code was edited while it ran: this is the work of the code before; run `dvc repro` again"
    )


def _is_noted(stage: str, found: Mapping[str, str], read: bool) -> bool:
    noted = read_json(DIGESTS)
    if not read and sources(found) == noted.get(SOURCES):
        return True
    script = stage.replace("-", "_")
    forget()
    try:
        return bool(digest(script) == noted.get(script))
    except (SyntaxError, FileNotFoundError):  # it is being written
        return False


def _edited(stage: str, reason: str) -> InputError:
    script = f"stages/{stage.replace('-', '_')}.py"
    return InputError(script, f"it, or a module that it imports, {reason}", "run the same command again")


def write() -> None:
    """Write artifacts/code.json, of one state of all modules."""
    before, found = "", {}
    while before != (now := sources()):  # an edit may come while they are read
        before = now
        forget()
        found = digests()
    write_json(DIGESTS, {**found, SOURCES: before})


if __name__ == "__main__":
    main(write)
