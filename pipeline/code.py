"""artifacts/code.json: for each script in stages/, one digest of all modules that it imports.

    python -m pipeline.code

dvc.yaml names a stage's digest beside its settings. A new module or script needs no entry anywhere.
"""

from __future__ import annotations

from pathlib import Path

from pipeline.run import main
from quartet import code
from quartet.files import write_json

ROOT = Path(__file__).resolve().parents[1]
#: Where all code of the pipeline lies.
HOMES: code.Homes = {**code.LIBRARY, "pipeline": ROOT, "stages": ROOT}
DIGESTS = Path("artifacts/code.json")

#: What changes no output: what is told MLflow, the terminal and the timing files. Packages with all their modules.
QUIET = tuple(f"pipeline.{name}" for name in ("stage", "tracked", "mlflow", "progress", "timing"))
#: What reads params.yaml ends in the settings, which are dependencies. For `settings` it is code, as the defaults are.
READING = ("pipeline.loading", "quartet.config.loading")
READER = "settings"


def digests() -> dict[str, str]:
    """By the name of each script, the fingerprint of what it runs."""
    scripts = sorted(path.stem for path in (ROOT / "stages").glob("[!_]*.py"))
    found = {
        name: code.fingerprint(f"stages.{name}", without=QUIET + READING, homes=HOMES)
        for name in scripts
        if name != READER
    }
    return {
        **found,
        READER: code.fingerprint(f"stages.{READER}", without=QUIET, homes=HOMES, defaults=True),
    }


def write() -> None:
    """Write artifacts/code.json."""
    write_json(DIGESTS, digests())


if __name__ == "__main__":
    main(write)
