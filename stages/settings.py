"""settings: check the whole of params.yaml, fill in the defaults, and write what every other stage reads."""

from __future__ import annotations

from pipeline.params import load
from pipeline.run import main
from pipeline.settings import PARAMS, write


def settings() -> None:
    """Write artifacts/settings.json."""
    write(load(PARAMS))


if __name__ == "__main__":
    main(settings)
