"""settings: check the whole of params.yaml, fill in the defaults, and write what every other stage reads.

It is the first stage of a run after an edit, so it also sets the outputs of removed entries apart. It writes down which
lists and models there are, too: what reads a whole folder notices then that one comes or goes, and finds the folder
even where params.yaml names none.
"""

from __future__ import annotations

from pipeline.dvc_yaml import set_apart
from pipeline.layout import Layout
from pipeline.run import InputSnapshot, main
from pipeline.settings import PARAMS, read_params, write
from pipeline.tracking.stage import same_code
from quartet.files import write_json


def settings() -> None:
    """Write artifacts/settings.json, and catalogue.json into the folders that other stages read as a whole."""
    inputs = InputSnapshot([PARAMS])
    with same_code("settings"):
        params = read_params(PARAMS)
        write(params)
        layout = Layout(params.experiment)
        set_apart(params, layout)
        names = {
            layout.all_nbest: sorted(params.nbest),
            layout.all_rescored: sorted(params.evaluate["rerank"]),
            layout.all_attention: sorted(params.evaluate["attention"]),
            layout.all_runtime_inputs: sorted(params.runtime.models),
        }
        for folder, members in names.items():
            write_json(layout.catalogue(folder), members)
        inputs.check()


if __name__ == "__main__":
    main(settings)
