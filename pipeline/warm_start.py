"""Processes that start at once: forks of one that has imported PyTorch, Lightning, MLflow and DVC already.

To import these takes longer than most stages work. `make repro` keeps one such process beside what it runs
(:func:`server`), and lets it fork for each command of DVC (:func:`run`). A stage is still the command in dvc.yaml:
``python -m stages.NAME`` finds the process by an environment variable, hands over its command line, environment, folder
and open files, passes signals on, and ends as the fork does (:func:`hand_over`). Of the project nothing but this module
is imported before a fork, so an edit reaches the next stage as it always does. Where the process is not there, or not
yet, both start by themselves.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TextIO

#: The socket on which the process listens: `make repro` sets it for its commands of DVC.
WARM_START = "QUARTET_WARM_START"
#: The process that DVC started, in the fork that stands in for it.
STANDS_IN = "QUARTET_STANDS_IN"
#: What takes a tenth of a second or more to import, of other packages.
PRELOADED = (
    "torch",
    "scipy.stats",
    "pytorch_lightning",
    "mlflow.store.tracking.sqlalchemy_store",
    "dvc.cli.parser",
    "dvc.repo.index",
    "dvc.repo.reproduce",
)
#: Signals that may be sent to one process. Ctrl-C is the terminal's, which sends it to a fork too.
PASSED_ON = (signal.SIGTERM, signal.SIGHUP)
#: What a fork's end is told by, after this line: its code.
STARTED = "started\n"
#: Bytes of a socket's path, of which the system keeps 108.
LONGEST = 107
#: Seconds in which a process must have said what it wants.
PATIENCE = 10.0


@contextmanager
def server(preloaded: Sequence[str] = PRELOADED) -> Iterator[tuple[int, dict[str, str]]]:
    """Start the process, and end it with the block; yields its number and the variable by which others find it.

    Where there can be none, these are 0 and no variable.

    Args:
        preloaded: the modules that it imports.
    """
    with tempfile.TemporaryDirectory(prefix="quartet-") as folder:
        address = str(Path(folder) / "socket")
        if not hasattr(os, "pidfd_open") or len(os.fsencode(address)) > LONGEST:  # Linux has the former
            yield 0, {}
            return
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, address, *preloaded], stdin=subprocess.PIPE
        )
        try:
            yield process.pid, {WARM_START: address}
        finally:
            process.terminate()
            process.wait()


def hand_over() -> None:
    """Let a fork run this process's ``python -m`` in its place, and leave as it does; return where none can."""
    address = os.environ.get(WARM_START, "")
    if not address or sys.orig_argv[1:2] != ["-m"]:
        return
    environment = {**os.environ, STANDS_IN: str(os.getpid())}
    del environment[WARM_START]
    with socket.socket(socket.AF_UNIX) as connection:
        answer = _ask(connection, address, sys.orig_argv, environment, (0, 1, 2))
        if answer is None:
            return

        def pass_on(number: int, frame: FrameType | None) -> None:
            with suppress(OSError):  # the fork has ended: its code is on the way
                connection.sendall(bytes([number]))

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for one in PASSED_ON:
            signal.signal(one, pass_on)
        code = _code(answer)
    if code < 0:
        with suppress(OSError):  # SIGKILL has no other way
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def run(
    *command: str,
    environment: Mapping[str, str],
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
) -> int | None:
    """Run ``python -m`` in a fork; the code of its end, or None where there is nobody to fork.

    The fork ends before this process does, by Ctrl-C, which reaches both, or by whoever ends this one.
    """
    address = environment.get(WARM_START, "")
    if not address:
        return None
    files = (0, 1 if stdout is None else stdout.fileno(), 2 if stderr is None else stderr.fileno())
    with socket.socket(socket.AF_UNIX) as connection:
        answer = _ask(connection, address, [sys.executable, "-m", *command], environment, files)
        if answer is None:
            return None
        try:
            return _code(answer)
        except (KeyboardInterrupt, SystemExit):
            _code(answer)
            raise


def _ask(
    connection: socket.socket,
    address: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    files: Sequence[int],
) -> TextIO | None:
    """Ask for a fork; from what is returned its end is read. None: nobody is there."""
    wanted = json.dumps([str(Path.cwd()), sys.path, command, dict(environment)])
    try:
        connection.connect(address)
        socket.send_fds(connection, [wanted.encode() + b"\n"], files)
        answer = connection.makefile()
        return answer if answer.readline() == STARTED else None
    except OSError:
        return None


def _code(answer: TextIO) -> int:
    """Wait for a fork's end: its code, or the number of the signal that ended it, below 0."""
    try:
        said = answer.readline()
    except ConnectionResetError:  # whoever forks was ended before it read a signal to pass on
        said = ""
    return int(said or -signal.SIGKILL)


@dataclass(frozen=True)
class Wanted:
    """What a fork becomes.

    Attributes:
        folder: its working folder.
        path: its ``sys.path``.
        command: the interpreter, ``-m``, the module and its arguments.
        environment: all of it.
        files: its stdin, stdout and stderr.
    """

    folder: str
    path: list[str]
    command: list[str]
    environment: dict[str, str]
    files: list[int]


class Forks:
    """The process that forks, at work.

    Args:
        address: where it listens. It ends when its stdin has, as it does with who started it, and all forks.
    """

    def __init__(self, address: str) -> None:
        self._events = selectors.DefaultSelector()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen()
        self._events.register(self._listener, selectors.EVENT_READ, self._fork)
        self._events.register(sys.stdin, selectors.EVENT_READ, self._close)
        #: By a fork's number: what tells of its end, and who waits for it.
        self._forks: dict[int, tuple[int, socket.socket]] = {}
        self._open = True

    def serve(self) -> Wanted | None:
        """Fork for each that asks; returns in a fork what it is to become, and else, at the end, None."""
        while self._open or self._forks:
            for key, _ in self._events.select():
                wanted = key.data()
                if isinstance(wanted, Wanted):
                    return wanted
        return None

    def _close(self) -> None:
        self._events.unregister(sys.stdin)
        self._events.unregister(self._listener)
        self._listener.close()
        self._open = False

    def _fork(self) -> Wanted | None:
        if not self._open:
            return None
        connection, _ = self._listener.accept()
        wanted = _read(connection)
        if wanted is None:
            connection.close()
            return None
        number = None
        with suppress(OSError):  # no memory or no process is left for one
            number = os.fork()
        if number == 0:
            self._leave(connection)
            return wanted
        for file in wanted.files:
            os.close(file)
        if number is None:
            connection.close()
            return None
        end = os.pidfd_open(number)
        self._forks[number] = end, connection
        self._events.register(end, selectors.EVENT_READ, lambda: self._ended(number))
        self._events.register(connection, selectors.EVENT_READ, lambda: self._said(number))
        with suppress(OSError):
            connection.sendall(STARTED.encode())
        return None

    def _leave(self, connection: socket.socket) -> None:
        """Close in a fork what is the server's."""
        self._events.close()
        self._listener.close()
        connection.close()
        for end, other in self._forks.values():
            os.close(end)
            other.close()

    def _ended(self, number: int) -> None:
        end, connection = self._forks.pop(number)
        self._events.unregister(end)
        os.close(end)
        if connection in self._events.get_map():
            self._events.unregister(connection)
        code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
        with suppress(OSError), connection:
            connection.sendall(f"{code}\n".encode())

    def _said(self, number: int) -> None:
        """Pass signals on; nothing is said by one that was killed, and its fork is too."""
        if number not in self._forks:
            return
        _, connection = self._forks[number]
        numbers: bytes = b""
        with suppress(OSError):
            numbers = connection.recv(64)
        if not numbers:
            self._events.unregister(connection)
        for one in numbers or [signal.SIGKILL]:
            os.kill(number, one)


def _read(connection: socket.socket) -> Wanted | None:
    """What another process wants; None where it is gone before it has said so."""
    connection.settimeout(PATIENCE)
    try:
        text, files, _, _ = socket.recv_fds(connection, 2**20, 3)
        while text and not text.endswith(b"\n"):
            text += connection.recv(2**20)
        folder, path, command, environment = json.loads(text)
    except (OSError, ValueError):
        return None
    connection.settimeout(None)
    return Wanted(folder, path, command, environment, list(files))


def _become(wanted: Wanted) -> int:
    """Turn this fork into the process that is wanted, and run its module; the code that it ends with."""
    for standard, file in enumerate(wanted.files):
        os.dup2(file, standard)
        os.close(file)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=os.isatty(1))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(wanted.folder)
    os.environ.clear()
    os.environ.update(wanted.environment)
    sys.path[:] = wanted.path
    sys.orig_argv[:] = wanted.command
    sys.argv[:] = ["-m", *wanted.command[3:]]
    try:
        runpy.run_module(wanted.command[2], run_name="__main__", alter_sys=True)
    except SystemExit as left:
        if not isinstance(left.code, int | None):
            raise  # it is a line to print
        return left.code or 0
    return 0


def preload(modules: Sequence[str]) -> None:
    """Import modules, to stay to the end, without a thread: a fork would not have it."""
    os.environ["JE_ARROW_MALLOC_CONF"] = "background_thread:false"  # PyArrow's, which MLflow imports
    gc.disable()
    for name in modules:
        importlib.import_module(name)
    gc.freeze()


def _leave(ended: Sequence[int]) -> None:
    """Leave a fork whose module has ended, and the imported modules as they are.

    Python would take all of them apart first, which takes longer than most stages work.
    """
    if ended:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
        os._exit(ended[0] & 0xFF)


def main(address: str, *preloaded: str) -> None:
    """Import modules, then fork for whoever asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ended: list[int] = []
    atexit.register(_leave, ended)  # the first that is registered is called last, when all threads have ended
    preload(preloaded)
    wanted = Forks(address).serve()
    if wanted is not None:
        ended.append(_become(wanted))
        sys.exit(ended[0])  # where the streams cannot be flushed, as any process does


if __name__ == "__main__":
    main(*sys.argv[1:])
