"""Downloads that go on where they broke off: what has come stays beside its target until the rest is there."""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from typing import Any

from pipeline.progress import bar
from quartet.errors import InputError
from quartet.files import TEMPORARY, sha256

BLOCK = 1 << 20
TIMEOUT_SECONDS = 30
#: Answers in a row that may break off without a byte more than before; and the pause before another is asked for.
TRIES = 3
PAUSE_SECONDS = 2.0
#: Bytes that a download may have; the largest dump of Wikipedia's articles has a quarter.
LARGEST = 100 << 30


class Unavailable(InputError):
    """A source that is not there, or cannot be reached from here: nothing is wrong with the settings themselves."""


class _Broken(Unavailable):
    """An answer that did not come to its end."""


def download(url: str, target: Path, wanted: str | None) -> None:
    """Put what an address answers at `target`.

    An answer that breaks off is asked for again from there on (HTTP's Range). If it stays so, the part remains as
    ``.unfinished-download-<hash of the address>`` beside the folder of `target`, and the next call goes on with it.
    A server that knows no ranges, or has another file now, begins again.

    Args:
        wanted: the SHA-256; where parts that were put together have another, all is fetched once more. None: any.

    Raises:
        Unavailable: nobody answers, or not to the end.
        InputError: the answer is larger than `LARGEST`.
    """
    mark = hashlib.sha256(url.encode()).hexdigest()[:16]
    partial = target.parent.with_name(f"{TEMPORARY}download-{mark}")
    try:
        put_together = _complete(url, partial)
        if put_together and wanted is not None and sha256(partial) != wanted:
            partial.unlink()
            _complete(url, partial)
    except InputError:
        if partial.exists() and not partial.stat().st_size:
            partial.unlink()
        raise
    partial.replace(target)


def _complete(url: str, partial: Path) -> bool:
    """Fetch all that is missing; whether it was more than one answer that gave it."""
    answers = idle = 0
    while True:
        begun = partial.stat().st_size if partial.exists() else 0
        try:
            _append(url, partial)
        except _Broken:
            idle = 0 if partial.stat().st_size > begun else idle + 1
            if idle == TRIES:
                raise
            time.sleep(PAUSE_SECONDS)
            answers += 1
        else:
            return begun > 0 or answers > 0


def _append(url: str, partial: Path) -> None:
    with open(partial, "ab") as file:
        size = file.tell()
        for place, block in _blocks(url, size):
            if place < size:
                file.truncate(place)
            file.write(block)
            size = place + len(block)
            if size > LARGEST:
                partial.unlink()
                raise InputError(url, f"answers with more than {LARGEST >> 30} GiB", "check the address")


def _blocks(url: str, start: int) -> Iterator[tuple[int, bytes]]:
    """What an address answers from byte `start` on, each block with its place; from 0 where it knows no ranges.

    What is wrong with the answer is no error of the file that it goes to.
    """
    answered = False
    try:
        request = urllib.request.Request(url, headers={"Range": f"bytes={start}-"} if start else {})  # noqa: S310
        # http and https only, see pipeline.fetch
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310  # nosec B310
            answered = True
            done = start if _goes_on(answer, start) else 0
            size = answer.headers.get("Content-Length") or ""
            known = done + int(size) if size.isascii() and size.isdigit() and len(size) < 18 else None
            with bar(f"downloading {url.rsplit('/', 1)[-1]} (MB)", known / 1e6 if known else None) as shown:
                shown.advance(done / 1e6)
                while block := answer.read(BLOCK):
                    yield done, block
                    done += len(block)
                    shown.advance(len(block) / 1e6)
    # ValueError: the address cannot be written into a request
    except (OSError, http.client.HTTPException, ValueError) as error:
        if (
            isinstance(error, urllib.error.HTTPError)
            and error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE
        ):
            if not start:
                raise Unavailable(url, "cannot be downloaded (416)", "check the address") from error
            if _total(error.headers) != start:  # else nothing is missing
                yield from _blocks(url, 0)
            return
        reason = getattr(error, "reason", None) or error
        if isinstance(error, urllib.error.HTTPError):
            reason = f"{error.code} {reason}"
        kind = _Broken if answered else Unavailable
        raise kind(url, f"cannot be downloaded ({reason})", "check the address and the network") from error
    if known is not None and done < known:
        raise _Broken(url, f"ends after {done:,} of {known:,} bytes", "try again")


def _goes_on(answer: Any, start: int) -> bool:
    """Whether an answer is the part that was asked for."""
    if answer.status != http.client.PARTIAL_CONTENT:
        return False
    begins = (answer.headers.get("Content-Range") or "").startswith(f"bytes {start}-")
    if not begins:
        raise http.client.HTTPException("another range than the one that was asked for")
    return True


def _total(headers: Message) -> int | None:
    """The size of the whole file, as an answer says that has no part of it."""
    size = (headers.get("Content-Range") or "").rpartition("/")[2]
    return int(size) if size.isascii() and size.isdigit() else None
