"""The few calls of MLflow that the pipeline makes, each tried again while another process holds the database."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from quartet.errors import InputError

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

Answer = TypeVar("Answer")

DEFAULT_URI = "sqlite:///mlflow.db"
#: How long a writer waits for the others, in seconds.
PATIENCE = 120.0
#: MLflow takes at most so many metrics in one call.
BATCH = 1000


def shown_uri() -> str:
    """The tracking URI without a name and password."""
    return re.sub(r"//[^/@]*@", "//", tracking_uri())


def tracking_uri() -> str:
    """MLFLOW_TRACKING_URI where it is set, else a database in the current folder."""
    return os.environ.get("MLFLOW_TRACKING_URI") or DEFAULT_URI


class Store:
    """One MLflow experiment.

    Raises:
        InputError: it cannot be reached or made.
    """

    def __init__(self, experiment: str) -> None:
        from mlflow.exceptions import MlflowException

        for name in ("mlflow", "alembic"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self.uri = tracking_uri()
        self._client = self._connect()
        try:
            self._experiment = self._experiment_id(experiment)
        except MlflowException as error:
            raise InputError(
                f"MLflow at {shown_uri()}",
                f"cannot be used ({error.message})",
                "check or unset MLFLOW_TRACKING_URI",
            ) from error

    def start(self, name: str, tags: dict[str, str], run_id: str | None = None) -> str:
        """The id of a new RUNNING run, or of `run_id` set RUNNING again if this experiment has it."""
        if run_id is not None and self._has(run_id):
            self._again(lambda: self._client.update_run(run_id, status="RUNNING"))
            self.tags(run_id, tags)
            if "error" in self._client.get_run(run_id).data.tags:
                self._again(lambda: self._client.delete_tag(run_id, "error"))
            return run_id
        run = self._again(lambda: self._client.create_run(self._experiment, tags=tags, run_name=name))
        return str(run.info.run_id)

    def params(self, run_id: str, params: dict[str, str]) -> None:
        """Log parameters; those that a continued run has already are left as they are."""
        from mlflow.entities import Param

        known = self._again(lambda: self._client.get_run(run_id)).data.params
        new = [Param(key, value) for key, value in params.items() if key not in known]
        if new:
            self._again(lambda: self._client.log_batch(run_id, params=new))

    def metrics(self, run_id: str, points: list[tuple[str, float, int]]) -> None:
        """Log (name, value, step) points."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        metrics = [Metric(name, float(value), now, step) for name, value, step in points]
        for start in range(0, len(metrics), BATCH):
            part = metrics[start : start + BATCH]
            self._again(lambda part=part: self._client.log_batch(run_id, metrics=part))  # type: ignore[misc]

    def tags(self, run_id: str, tags: dict[str, str]) -> None:
        """Set tags."""
        from mlflow.entities import RunTag

        entities = [RunTag(key, value) for key, value in tags.items()]
        self._again(lambda: self._client.log_batch(run_id, tags=entities))

    def artifact(self, run_id: str, path: Path, folder: str | None) -> None:
        """Attach a file or a folder."""
        log = self._client.log_artifacts if path.is_dir() else self._client.log_artifact
        self._again(lambda: log(run_id, str(path), folder))

    def end(self, run_id: str, status: str) -> None:
        """Close a run as FINISHED or FAILED."""
        self._again(lambda: self._client.set_terminated(run_id, status))

    def contents(self) -> set[tuple[str, str]]:
        """(run's name, hash of its record) of every finished run."""
        found: set[tuple[str, str]] = set()
        token: str | None = None
        while True:
            page = self._again(
                lambda token=token: self._client.search_runs(  # type: ignore[misc]
                    [self._experiment], "attributes.status = 'FINISHED'", max_results=1000, page_token=token
                )
            )
            found |= {(run.info.run_name or "", run.data.tags.get("content", "")) for run in page}
            token = page.token
            if not token:
                return found

    def _connect(self) -> MlflowClient:
        import mlflow
        from mlflow.tracking import MlflowClient

        mlflow.set_tracking_uri(self.uri)
        with _first_alone(self.uri):
            try:
                client = MlflowClient(tracking_uri=self.uri)
                self._again(lambda: client.search_experiments(max_results=1))
            except Exception as error:  # whatever the address makes MLflow or the driver raise
                raise InputError(
                    f"MLflow at {shown_uri()}",
                    f"cannot be reached ({error})",
                    "check or unset MLFLOW_TRACKING_URI",
                ) from error
        return client

    def _experiment_id(self, name: str) -> str:
        from mlflow.exceptions import MlflowException

        found = self._again(lambda: self._client.get_experiment_by_name(name))
        if found is None:
            try:
                return str(self._again(lambda: self._client.create_experiment(name)))
            except MlflowException:
                found = self._again(lambda: self._client.get_experiment_by_name(name))
                if found is None:
                    raise
        if found.lifecycle_stage == "deleted":
            self._again(lambda: self._client.restore_experiment(found.experiment_id))
        return str(found.experiment_id)

    def _has(self, run_id: str) -> bool:
        from mlflow.exceptions import MlflowException

        try:
            run = self._again(lambda: self._client.get_run(run_id))
        except MlflowException:
            return False
        return bool(run.info.experiment_id == self._experiment and run.info.lifecycle_stage == "active")

    def _again(self, call: Callable[[], Answer]) -> Answer:
        """The call's answer, asked for until the database is free."""
        deadline = time.monotonic() + PATIENCE
        pause = 0.05
        while True:
            try:
                return call()
            except Exception as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, 2.0)


@contextmanager
def _first_alone(uri: str) -> Iterator[None]:
    """Let one process at a time make or update the tables of an sqlite database."""
    path = urlsplit(uri).path.removeprefix("/") if uri.startswith("sqlite:///") else ""
    if not path:
        yield
        return
    lock = Path(f"{path}.lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    with open(lock, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
