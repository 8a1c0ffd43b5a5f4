"""settings: check the whole of params.yaml, fill in the defaults, and write what every other stage reads.

It is the first stage of a run after an edit, so it also sets the outputs of removed entries apart. It writes down which
lists and models there are, too: what reads a whole folder notices then that one comes or goes, and finds the folder
even where params.yaml names none.
"""

from __future__ import annotations

from pipeline import code
from pipeline.layout import Layout
from pipeline.loading import load
from pipeline.removed import set_apart
from pipeline.run import main
from pipeline.settings import PARAMS, write
from pipeline.unchanged import Inputs
from quartet.files import write_json


def settings() -> None:
    """Write artifacts/settings.json, and catalogue.json into the folders that other stages read as a whole."""
    inputs = Inputs([PARAMS])
    code.check(code.READER)
    params = load(PARAMS)
    write(params)
    layout = Layout(params.experiment)
    set_apart(params, layout)
    names = {
        layout.all_nbest: sorted(params.nbest),
        layout.all_rescored: sorted(params.evaluate.rerank),
        layout.all_attention: sorted(params.evaluate.attention),
        layout.all_runtime_inputs: sorted(params.runtime.models),
    }
    for folder, members in names.items():
        write_json(layout.catalogue(folder), members)
    inputs.check()
    code.check(code.READER)


if __name__ == "__main__":
    main(settings)
