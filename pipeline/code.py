"""artifacts/code.json: for each script in stages/, one digest of all modules that it imports.

    python -m pipeline.code

dvc.yaml names a stage's digest beside its settings. A new module or script needs no entry anywhere. Each stage compares
its digest with the code as it is, since an edit may come while ``dvc repro`` runs.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from pipeline.run import DVC_STAGE, main
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
AROUND = ("pipeline.tracking", "pipeline.dvc_process", "pipeline.warm_start")
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


def sources() -> str:
    """A hash of the bytes of every module, and of what lies beside modules: while it is the same, no digest changes."""
    found = hashlib.sha256()
    for package, home in HOMES.items():
        for path in sorted((home / package).rglob("[!.]*")):
            if path.suffix == ".pyc" or path.is_dir():
                continue
            try:
                content = path.read_bytes()
            except FileNotFoundError:  # an editor's, which was there for a moment
                continue
            found.update(f"{path.relative_to(home)}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
            found.update(content)
    return found.hexdigest()


def forget() -> None:
    """Let fingerprints be of the modules as they are now, and not as this process has read them."""
    for value in vars(code).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()


def check(stage: str, *, read: bool = False) -> None:
    """Compare the code of a stage that DVC runs with what the stage `code` has written down, which DVC notes of it.

    What a stage makes of edited modules would else be kept under the name of those before, for good.

    Args:
        stage: as in dvc.yaml.
        read: every module is read in any case, and fingerprints that are asked for later are of the modules as they
            were now: for stages that keep trainings under such names while they run.

    Raises:
        InputError: a module that the stage imports has been edited since.
    """
    if DVC_STAGE not in os.environ or not DIGESTS.is_file():
        return
    noted = read_json(DIGESTS)
    if not read and sources() == noted.get(SOURCES):
        return
    script = stage.replace("-", "_")
    forget()
    try:
        same = digest(script) == noted.get(script)
    except (SyntaxError, FileNotFoundError):  # it is being written
        same = False
    if not same:
        raise InputError(
            f"stages/{script}.py",
            "it, or a module that it imports, was edited while DVC ran",
            "run the same command again",
        )


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
