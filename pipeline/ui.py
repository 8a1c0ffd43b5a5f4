"""What `make ui` says before MLflow's pages are there: where the models stand side by side.

python -m pipeline.ui [port]
"""

from __future__ import annotations

from pipeline.layout import Layout
from pipeline.run import main
from pipeline.settings import read_params
from pipeline.tracking.mlflow import open_store, tracking_uri
from pipeline.tracking.summary import show_present, state_filter, view_name
from quartet.errors import InputError


def ui(port: str = "5000") -> None:
    """Let MLflow show the state that is in the repository now, and print its address: a row a model.

    Raises:
        InputError: `port` is no port, or MLflow cannot be reached.
    """
    if not (port.isascii() and port.isdigit()) or not 0 < int(port) < 1 << 16:
        raise InputError("PORT", f"{port} is no port", "take a number from 1 to 65535, e.g. PORT=5001")
    params = read_params()
    store = open_store(params.experiment)
    address = tracking_uri() if tracking_uri().startswith("http") else f"http://127.0.0.1:{port}"
    page = f"{address.rstrip('/')}/#/experiments/{store.experiment}/runs?workflowType=machine_learning"
    results = Layout(params.experiment).results
    if not results.is_file():
        print(f"the runs of {params.experiment}, which has no report yet: {page}", flush=True)
    elif state := show_present(params):
        print(f"the models of {params.experiment} side by side: {page}&viewStateShareKey={view_name()}")
        print(f"their filter: {state_filter(state)}", flush=True)
    else:
        print(f"the runs of {params.experiment}: {page}")
        print(f"No row of MLflow is of {results} and params.yaml as they are now: run `dvc repro`")
        print("(`dvc repro --force --single-item report` where that runs nothing).", flush=True)


if __name__ == "__main__":
    main(ui)
