"""settings: check the whole of params.yaml, fill in the defaults, and write what every other stage reads.

It is the first stage of a run after an edit, so it also sets the outputs of removed entries apart.
"""

from __future__ import annotations

from pipeline.layout import Layout
from pipeline.loading import load
from pipeline.removed import set_apart
from pipeline.run import main
from pipeline.settings import PARAMS, write


def settings() -> None:
    """Write artifacts/settings.json."""
    params = load(PARAMS)
    write(params)
    set_apart(params, Layout(params.experiment))


if __name__ == "__main__":
    main(settings)
