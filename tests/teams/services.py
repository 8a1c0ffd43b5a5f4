"""Servers for a test: PostgreSQL, MLflow, and an object store that speaks S3; each on a free port of 127.0.0.1."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

#: Where Debian's packages put what starts a database.
DEBIAN = "usr/lib/postgresql/*/bin"
#: Seconds that a server may take to answer: MLflow's makes some hundred tables first.
PATIENCE = 600.0
#: For the object store of the tests, which takes any.
KEYS = {
    "AWS_ACCESS_KEY_ID": "team",
    "AWS_SECRET_ACCESS_KEY": "for the test alone",
    "AWS_DEFAULT_REGION": "us-east-1",
}


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def lacks_postgresql() -> str:
    """Why MLflow cannot keep its books in PostgreSQL here; empty where it can."""
    if _programs() is None:
        return "no initdb on the PATH or in /usr/lib/postgresql (apt install postgresql)"
    if importlib.util.find_spec("psycopg2") is None:
        return "psycopg2 is not installed (pip install psycopg2-binary)"
    return ""


def lacks_s3() -> str:
    """Why there is no object store here; empty where there is one."""
    if any(importlib.util.find_spec(name) is None for name in ("moto", "flask", "boto3")):
        return "moto is not installed (pip install 'moto[server]')"
    return ""


def _programs() -> Path | None:
    """The folder of initdb and pg_ctl, of the newest version."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    return max(Path("/").glob(DEBIAN), default=None, key=lambda path: float(path.parent.name))


@contextlib.contextmanager
def postgresql() -> Iterator[str]:
    """A new PostgreSQL with an empty database; yields its address for SQLAlchemy.

    It refuses to run as root, for whom it is started as the user `postgres`, or else `nobody`.
    """
    programs = _programs()
    assert programs is not None
    owner = None
    if os.getuid() == 0:
        known = {user.pw_name for user in pwd.getpwall()}
        owner = pwd.getpwnam("postgres" if "postgres" in known else "nobody")
    with tempfile.TemporaryDirectory(prefix="quartet-pg-") as name:
        folder, port = Path(name), free_port()
        if owner is not None:
            os.chown(folder, owner.pw_uid, owner.pw_gid)

        def run(program: str, *arguments: str) -> None:
            subprocess.run(
                [str(programs / program), *arguments],
                cwd=folder,
                user=None if owner is None else owner.pw_uid,
                group=None if owner is None else owner.pw_gid,
                extra_groups=None if owner is None else [],
                stdout=subprocess.DEVNULL,
                check=True,
            )

        data = str(folder / "data")
        run("initdb", "-D", data, "-U", "mlflow", "--auth=trust", "--encoding=UTF8", "--no-sync")
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        run("pg_ctl", "-D", data, "-l", str(folder / "log"), "-o", options, "-w", "start")
        try:
            run("createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "mlflow", "mlflow")
            yield f"postgresql+psycopg2://mlflow@127.0.0.1:{port}/mlflow"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")


@contextlib.contextmanager
def mlflow_server(folder: Path, command: Sequence[str], settings: dict[str, str]) -> Iterator[str]:
    """MLflow's server in `folder`, by the command and the environment of a docker-compose file; yields its address.

    Args:
        command: with ``--host`` and ``--port``, which are replaced.
    """
    port = free_port()
    words = [*command, "--workers", "1"]
    for option, value in (("--host", "127.0.0.1"), ("--port", str(port))):
        words[words.index(option) + 1] = value
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")}
    with started(
        [sys.executable, "-m", *words], folder, {**environment, **settings}, f"http://127.0.0.1:{port}/health"
    ):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def object_store(folder: Path, buckets: Sequence[str]) -> Iterator[str]:
    """An object store with empty buckets; yields its address."""
    import boto3  # type: ignore[import-untyped,import-not-found,unused-ignore]

    address = f"http://127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", address.rpartition(":")[2]]
    with started(command, folder, dict(os.environ), f"{address}/moto-api/data.json"):
        keys = dict(
            zip(("aws_access_key_id", "aws_secret_access_key", "region_name"), KEYS.values(), strict=True)
        )
        client = boto3.client("s3", endpoint_url=address, **keys)
        for bucket in buckets:
            client.create_bucket(Bucket=bucket)
        yield address


@contextlib.contextmanager
def started(command: Sequence[str], folder: Path, environment: dict[str, str], health: str) -> Iterator[None]:
    """A server for the time of the block, from when `health` answers.

    Raises:
        RuntimeError: it ended, or does not answer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "log", "w", encoding="utf-8") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            deadline = time.monotonic() + PATIENCE
            while not _answers(health):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((folder / "log").read_text(encoding="utf-8")[-3000:])
                time.sleep(0.2)
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # nobody needs what it has
            process.wait()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False
