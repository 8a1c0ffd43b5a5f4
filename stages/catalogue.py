"""catalogue: write down which lists and sets there are, so that what reads them all notices one that comes or goes.

The folders exist then even where params.yaml names no list and no set.
"""

from __future__ import annotations

import itertools

from pipeline.layout import Layout
from pipeline.params import TASK_STAGES
from pipeline.run import main
from pipeline.settings import load
from pipeline.stage import stage_run
from quartet.files import write_json


def catalogue() -> None:
    """Write catalogue.json into the folder of the N-best lists and into that of each kind of task."""
    params = load()
    layout = Layout(params.experiment)
    names = {
        layout.all_nbest: sorted(params.nbest),
        layout.all_rescored: sorted(params.evaluate.rerank),
        layout.all_attention: sorted(params.evaluate.attention),
        layout.all_runtime_inputs: sorted(params.runtime.models),
    }
    for kind in itertools.chain(*TASK_STAGES.values()):
        names[layout.tasks(kind)] = sorted(name for name, task in params.tasks.items() if task.kind == kind)
    with stage_run(params, "catalogue"):
        for folder, members in names.items():
            write_json(layout.catalogue(folder), members)


if __name__ == "__main__":
    main(catalogue)
