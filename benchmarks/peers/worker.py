"""A peer in a process of its own, asked by lines of JSON: so it keeps its model between two measurements."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from quartet.errors import InputError

#: The scripts of the peers.
WORKERS = Path(__file__).parent / "workers"


class Worker:
    """One script, run by the Python of the peer's environment.

    Use it as a context manager: the process ends with the block.
    """

    def __init__(self, python: str | Path, script: str) -> None:
        """Args:
        python: the interpreter of an environment that has the peer.
        script: a file's name in ``workers/``.

        Raises:
            InputError: there is no such interpreter.
        """
        self.python = python
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the worker
        try:
            self._process = subprocess.Popen(
                [str(python), str(WORKERS / script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
            )
        except OSError as error:
            raise InputError(
                python, f"cannot be run ({error.strerror})", "give an environment's python"
            ) from error

    def ask(self, **question: object) -> Mapping[str, Any]:
        """Send one question and wait for its answer.

        Raises:
            InputError: the peer ended instead; its last line of words is given.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise InputError(self.python, f"the peer ended: {self._last_words()}")
        answer: Mapping[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self._process.returncode}"

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                stream.close()
