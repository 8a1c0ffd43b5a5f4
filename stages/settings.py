"""settings: check the whole of params.yaml, fill in the defaults, and write what every other stage reads.

It is the first stage of a run after an edit, so it also sets the outputs of removed entries apart. It writes down which
lists and models there are, too: what reads a whole folder notices then that one comes or goes, and finds the folder
even where params.yaml names none.
"""

from __future__ import annotations

from pipeline.early_checks import check_device, check_files
from pipeline.layout import Layout, catalogues
from pipeline.removed_entries import set_apart
from pipeline.run import InputSnapshot, main
from pipeline.settings import PARAMS, read_params, write
from pipeline.tracking.progress import say
from pipeline.tracking.stage import note_experiment, same_code
from quartet.files import write_json


def settings() -> None:
    """Write artifacts/settings.json, and catalogue.json into the folders that other stages read as a whole."""
    inputs = InputSnapshot([PARAMS])
    with same_code("settings"):
        params = read_params(PARAMS)
        check_device(params, str(PARAMS))
        check_files(params, str(PARAMS))
        for entry in write(params):
            say(f"{entry}: its source has changed")
        layout = Layout(params.experiment)
        set_apart(params, layout)
        for path, names in catalogues(params, layout).items():
            write_json(path, names)
        inputs.check()
    note_experiment(params)


if __name__ == "__main__":
    main(settings)
