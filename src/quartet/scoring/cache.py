"""Token log-probabilities kept on disk, so that a stopped scoring goes on and a text is not scored twice."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import numpy as np

from quartet.errors import InputError, system_error

#: Keys that one question to the database may hold.
BATCH = 500
#: Seconds to wait for another process that writes.
PATIENCE = 60.0
#: Bytes of the checksum before a text's values.
CHECKSUM = 4


class ScoreCache:
    """A file of log-probabilities by model, reading and text; several processes and threads may use it at once.

    What is put into it is on the disk when :meth:`put` returns. Each text's values have a checksum, since SQLite has
    none: what a disk has damaged is as if it had never been put there.
    """

    def __init__(self, path: str | Path) -> None:
        """Open the file, or make it.

        Raises:
            InputError: the file is no cache of scores, or cannot be written.
        """
        self.path = Path(path)
        #: Of the connection: a transaction is of all threads that use it.
        self._lock = threading.Lock()
        with self._errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(self.path, timeout=PATIENCE, check_same_thread=False)
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("CREATE TABLE IF NOT EXISTS scores (key BLOB PRIMARY KEY, logprobs BLOB)")

    @staticmethod
    def key(fingerprint: str, masked: bool, text: str) -> bytes:
        """What stands for one text as one model reads it.

        Args:
            fingerprint: of the model: weights, settings and tokenizer.
        """
        parts = [fingerprint, str(masked), text]
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, np.ndarray]:
        """Those of the keys that are there, and whole."""
        found: dict[bytes, np.ndarray] = {}
        with self._errors(), self._lock:
            for at in range(0, len(keys), BATCH):
                part = keys[at : at + BATCH]
                marks = ",".join("?" * len(part))
                rows = self._database.execute(
                    f"SELECT key, logprobs FROM scores WHERE key IN ({marks})",  # noqa: S608  # nosec B608  # marks
                    part,
                )
                for key, blob in rows:
                    if isinstance(blob, bytes) and blob == _sealed(key, blob[CHECKSUM:]):
                        found[key] = np.frombuffer(blob[CHECKSUM:], dtype=np.float64).copy()
        return found

    def put(self, scores: Mapping[bytes, np.ndarray]) -> None:
        """Keep log-probabilities; all of them, or (killed, or the disk is full) none."""
        rows = [
            (key, _sealed(key, np.asarray(values, dtype=np.float64).tobytes()))
            for key, values in scores.items()
        ]
        with self._errors(), self._lock, self._database:
            self._database.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?)", rows)

    def __enter__(self) -> ScoreCache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            known = system_error(error)
            remedy = known.remedy if known else "move it away, or name another file"
            raise InputError(self.path, f"cannot be used as a cache of scores ({error})", remedy) from error


def _sealed(key: bytes, values: bytes) -> bytes:
    """Values behind the checksum of their key and them."""
    return zlib.crc32(key + values).to_bytes(CHECKSUM, "big") + values
