"""What `make ui` says before MLflow's pages are there: where the models stand side by side.

python -m pipeline.ui [port]
"""

from __future__ import annotations

from pipeline.run import main
from pipeline.settings import read_params
from pipeline.tracking.mlflow import open_store, tracking_uri
from pipeline.tracking.summary import VIEW
from quartet.errors import InputError


def ui(port: str = "5000") -> None:
    """Print the address of the view that the report has set: a row a model, its results in columns.

    Raises:
        InputError: `port` is no port, or MLflow cannot be reached.
    """
    if not (port.isascii() and port.isdigit()) or not 0 < int(port) < 1 << 16:
        raise InputError("PORT", f"{port} is no port", "take a number from 1 to 65535, e.g. PORT=5001")
    experiment = read_params().experiment
    store = open_store(experiment)
    address = tracking_uri() if tracking_uri().startswith("http") else f"http://127.0.0.1:{port}"
    page = f"{address.rstrip('/')}/#/experiments/{store.experiment}/runs?workflowType=machine_learning"
    if store.has_view(VIEW):
        print(f"the models of {experiment} side by side: {page}&viewStateShareKey={VIEW}", flush=True)
    else:
        print(f"the runs of {experiment}, which has no report yet: {page}", flush=True)


if __name__ == "__main__":
    main(ui)
