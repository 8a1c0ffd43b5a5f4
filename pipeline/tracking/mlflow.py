"""MLflow as the pipeline uses it: where it is, patience while it is busy, and one experiment with its runs.

The database is sqlite:///mlflow.db, or the one at MLFLOW_TRACKING_URI. Nothing here imports MLflow before it is needed.
"""

from __future__ import annotations

import os

# Before mlflow is imported anywhere in the process: nobody is told that it runs, and it prints neither advice nor the
# server's address, in which there may be a password.
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT"] = "true"
os.environ["DO_NOT_TRACK"] = "true"
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

import fcntl
import functools
import getpass
import json
import logging
import re
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from quartet.errors import InputError, system_error
from quartet.files import atomic_path

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

    from pipeline.tracking.run_fields import ArtifactInput

Answer = TypeVar("Answer")

DATABASE = "mlflow.db"
#: `dvc exp run --temp` and the queue work in a copy of the repository below this folder of it, and delete the copy.
DVC_COPIES = "/.dvc/tmp/exps/"
#: How long a writer waits for the others, in seconds.
PATIENCE = 120.0
#: MLflow takes at most so many metrics, and parameters, in one call.
BATCH = 1000
PARAMS_BATCH = 100
#: The tags of an experiment that hold states of MLflow's pages, as its button "share" writes them.
VIEW = "mlflow.sharedViewState."
#: Else MLflow asks its reader whether the experiment is about agents.
KIND = "custom_model_development"
#: MLflow keeps so many characters of a dataset's digest.
DIGEST = 36
#: How SQLite says that another process holds it; how it, PostgreSQL and MySQL say that there is such a row already.
LOCKED = ("locked",)
ADDED = ("UNIQUE constraint failed", "duplicate key value", "Duplicate entry")
#: MLflow looks whether it knows a run's datasets and then adds them: another run may have added one in between.
ADDING = "log_inputs"
#: How often MLflow asks a server that does not answer: by itself for four minutes, so that it may be started anew.
TRIES = "MLFLOW_HTTP_REQUEST_MAX_RETRIES"
#: What MLflow says when it gives up.
NO_ANSWER = "API request to"
#: What it says of a database that an older or a newer MLflow has made.
OTHER_VERSION = "out-of-date database schema"


def shown_uri() -> str:
    """The tracking URI without a name and password."""
    return re.sub(r"//[^/@]*@", "//", tracking_uri())


def tracking_uri() -> str:
    """MLFLOW_TRACKING_URI where it is set, else the database of the repository, which is the current folder."""
    given = os.environ.get("MLFLOW_TRACKING_URI")
    if given:
        return given
    return f"sqlite:///{repository()}/{DATABASE}" if in_copy() else f"sqlite:///{DATABASE}"


def in_copy() -> bool:
    """Whether this is the folder of an experiment that DVC runs beside the repository, whose state it is not."""
    return DVC_COPIES in f"{Path.cwd()}/"


def repository() -> str:
    """The repository's folder, within a copy for an experiment too."""
    return str(Path.cwd()).partition(DVC_COPIES)[0]


def clone() -> str:
    """The machine and the folder of the repository: which of several clones logs to one server."""
    return f"{socket.gethostname()}:{repository()}"


def open_store(experiment: str) -> ExperimentStore:
    """The store of an experiment at :func:`tracking_uri`, connected to once a process.

    Raises:
        InputError: it cannot be reached or made.
    """
    uri = tracking_uri()
    return _opened(uri, str(_database(uri) or ""), experiment)


@functools.cache
def _opened(uri: str, place: str, experiment: str) -> ExperimentStore:
    """Keyed on where the database is, too: the same relative address is another one in another folder."""
    return ExperimentStore(uri, experiment)


class PatientClient:
    """MLflow's client, each of whose calls is made again until the database is free.

    A server that has answered is given four minutes to answer again; one that has not, seconds.
    """

    def __init__(self, client: MlflowClient) -> None:
        self.impatient = client
        self._answered = False

    def __getattr__(self, name: str) -> Callable[..., Any]:
        passing = (*LOCKED, *ADDED) if name == ADDING else LOCKED

        def call(*values: Any, **named: Any) -> Any:
            return self.again(lambda: getattr(self.impatient, name)(*values, **named), passing)

        return call

    def again(self, call: Callable[[], Answer], passing: tuple[str, ...] = LOCKED) -> Answer:
        """The call's answer, asked for while an error has the words of a `passing` one.

        Raises:
            InputError: the disk is full, MLflow may not write, or the server does not answer.
        """
        deadline = time.monotonic() + PATIENCE
        pause = 0.05
        while True:
            try:
                with nullcontext() if self._answered else _few_tries():
                    answer = call()
                self._answered = True
                return answer
            except Exception as error:
                place = f"MLflow at {shown_uri()}"
                gone = _unanswered(error, place)
                self._answered = self._answered and gone is None
                if not any(words in str(error) for words in passing) or time.monotonic() > deadline:
                    known = gone or system_error(error, place)
                    if known is None:
                        raise
                    raise known from error
            time.sleep(pause)
            pause = min(2 * pause, 2.0)


@contextmanager
def _few_tries() -> Iterator[None]:
    """Within it MLflow gives up on a server in seconds, unless the environment says how often it is asked."""
    given = os.environ.get(TRIES)
    os.environ[TRIES] = given or "1"
    try:
        yield
    finally:
        if given is None:
            del os.environ[TRIES]


def _unanswered(error: Exception, place: str) -> InputError | None:
    """A server that does not answer as a user's error; None for any other error."""
    if NO_ANSWER not in str(error):
        return None
    return InputError(
        place,
        "does not answer",
        "see whether it runs, check or unset MLFLOW_TRACKING_URI, and run the same command again",
    )


class ExperimentStore:
    """One MLflow experiment.

    Raises:
        InputError: it cannot be reached or made.
    """

    def __init__(self, uri: str, experiment: str) -> None:
        from mlflow.exceptions import MlflowException

        for name in ("mlflow", "alembic"):
            logging.getLogger(name).setLevel(logging.WARNING)
        logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)  # it raises what it says
        self.uri = uri
        self.client = self._connect()
        try:
            self.experiment = self._experiment_id(experiment)
        except MlflowException as error:
            raise InputError(
                f"MLflow at {shown_uri()}",
                f"cannot be used ({error.message})",
                "check or unset MLFLOW_TRACKING_URI",
            ) from error

    # -- runs ----------------------------------------------------------------------------------------------------

    def create(self, name: str, tags: Mapping[str, str], started: int | None = None) -> str:
        """The id of a new RUNNING run.

        Args:
            started: when, in milliseconds since 1970; None: now.
        """
        own = {"mlflow.user": _user(), "mlflow.source.type": "LOCAL", **tags}
        run = self.client.create_run(self.experiment, started, tags=own, run_name=name)
        return str(run.info.run_id)

    def resume(self, run_id: str, tags: Mapping[str, str] | None = None) -> None:
        """Set a run RUNNING again, without the error that it may have ended with."""
        self.client.update_run(run_id, status="RUNNING")
        if tags:
            self.tags(run_id, tags)
        if "error" in self.client.get_run(run_id).data.tags:
            self.client.delete_tag(run_id, "error")

    def end(self, run_id: str, status: str, ended: int | None = None) -> None:
        """Close a run as FINISHED, FAILED or KILLED.

        Args:
            ended: when, in milliseconds since 1970; None: now.
        """
        self.client.set_terminated(run_id, status, ended)

    def failed(self, run_id: str) -> bool:
        """Whether a run was closed as FAILED."""
        return bool(self.client.get_run(run_id).info.status == "FAILED")

    def search(self, wanted: str) -> Iterator[Run]:
        """Every run of the experiment that a filter lets through, the newest first."""
        token: str | None = None
        while True:
            page = self.client.search_runs([self.experiment], wanted, max_results=1000, page_token=token)
            yield from page
            token = page.token
            if not token:
                return

    def steps(self, run_id: str, name: str) -> set[int]:
        """The steps of which a run has a point of a metric."""
        return {each.step for each in self.client.get_metric_history(run_id, name)}

    # -- what a run holds ----------------------------------------------------------------------------------------

    def params(self, run_id: str, params: Mapping[str, str]) -> None:
        """Log parameters; those that a continued run has already are left as they are."""
        from mlflow.entities import Param

        known = self.client.get_run(run_id).data.params
        new = [Param(key, value) for key, value in params.items() if key not in known]
        for start in range(0, len(new), PARAMS_BATCH):
            self.client.log_batch(run_id, params=new[start : start + PARAMS_BATCH])

    def metrics(
        self, run_id: str, points: Iterable[tuple[str, float, int]], model_id: str | None = None
    ) -> None:
        """Log (name, value, step) points, of the logged model `model_id` too where it is given."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        own = {} if model_id is None else {"model_id": model_id}
        metrics = [
            Metric(name, float(value), now, step, run_id=run_id, **own) for name, value, step in points
        ]
        for start in range(0, len(metrics), BATCH):
            self.client.log_batch(run_id, metrics=metrics[start : start + BATCH])

    def tags(self, run_id: str, tags: Mapping[str, str]) -> None:
        """Set tags."""
        from mlflow.entities import RunTag

        self.client.log_batch(run_id, tags=[RunTag(key, value) for key, value in tags.items()])

    def artifact(self, run_id: str, path: Path, folder: str | None) -> None:
        """Attach a file or a folder."""
        log = self.client.log_artifacts if path.is_dir() else self.client.log_artifact
        log(run_id, str(path), folder)

    def inputs(self, run_id: str, found: Iterable[ArtifactInput]) -> None:
        """Say which datasets a run read."""
        from mlflow.entities import Dataset, DatasetInput, InputTag

        entities = [
            DatasetInput(
                Dataset(
                    each.name,
                    each.sha256[:DIGEST],
                    "local",
                    json.dumps({"uri": str(each.folder)}),
                    profile=json.dumps({**each.counts, "manifest_sha256": each.sha256}),
                ),
                [InputTag("mlflow.data.context", each.context)],
            )
            for each in found
        ]
        if entities:
            self.client.log_inputs(run_id, datasets=entities)

    def reads_model(self, run_id: str, model_id: str) -> None:
        """Say which logged model a run's results are of."""
        from mlflow.entities import LoggedModelInput

        self.client.log_inputs(run_id, models=[LoggedModelInput(model_id)])

    def describe(self, text: str, views: Mapping[str, str]) -> None:
        """Set the Markdown that MLflow shows above the experiment, and states of its table of runs, by name."""
        own = {"mlflow.note.content": text, "mlflow.experimentKind": KIND}
        for key, value in {**own, **{f"{VIEW}{name}": state for name, state in views.items()}}.items():
            self.client.set_experiment_tag(self.experiment, key, value)

    # -- the connection ------------------------------------------------------------------------------------------

    def _connect(self) -> MlflowClient:
        import mlflow
        from mlflow.tracking import MlflowClient

        mlflow.set_tracking_uri(self.uri)
        with _first_alone(self.uri):
            try:
                _make(_database(self.uri))
                client = cast("MlflowClient", PatientClient(MlflowClient(tracking_uri=self.uri)))
                client.search_experiments(max_results=1)
            except InputError:
                raise
            except Exception as error:  # whatever the address makes MLflow or the driver raise
                if OTHER_VERSION in str(error):
                    raise InputError(
                        f"MLflow at {shown_uri()}",
                        "made by another version of MLflow",
                        f"make a copy of it and run `mlflow db upgrade {shown_uri()}`, or move it away: "
                        "a new one is made",
                    ) from error
                raise InputError(
                    f"MLflow at {shown_uri()}",
                    f"cannot be reached ({error})",
                    "check or unset MLFLOW_TRACKING_URI",
                ) from error
        return client

    def _experiment_id(self, name: str) -> str:
        from mlflow.exceptions import MlflowException

        database = _database(self.uri)
        place = None if database is None else str(database.parent / "mlruns" / name)
        found = self.client.get_experiment_by_name(name)
        if found is None:
            try:
                return str(self.client.create_experiment(name, place))
            except MlflowException:  # another process has made it in between
                found = self.client.get_experiment_by_name(name)
                if found is None:
                    raise
        if found.lifecycle_stage == "deleted":
            self.client.restore_experiment(found.experiment_id)
        return str(found.experiment_id)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no name is known for the number, as in some containers
        return str(os.getuid())


def _database(uri: str) -> Path | None:
    """The file of an sqlite address; None for a server, or a database in memory."""
    path = urlsplit(uri).path.removeprefix("/") if uri.startswith("sqlite:///") else ""
    return Path(path).absolute() if path else None


def _make(database: Path | None) -> None:
    """Make the tables of a database that is not there.

    MLflow makes them step by step; were it killed in the middle, nobody could go on with what is there.
    """
    from mlflow.tracking import MlflowClient

    if database is None or database.exists():
        return
    with atomic_path(database) as temporary:
        MlflowClient(tracking_uri=f"sqlite:///{temporary}").search_experiments(max_results=1)


@contextmanager
def _first_alone(uri: str) -> Iterator[None]:
    """Let one process at a time make or update the tables of an sqlite database."""
    path = _database(uri)
    if path is None:
        yield
        return
    lock = path.with_name(f"{path.name}.lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    with open(lock, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
