"""What is to be fetched, and audio."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from pipeline.fetch import fetch, fetch_one
from quartet.config.text import Source
from quartet.recognise.audio import read_samples
from tests.reliability.malformed.case import Case

NONE = "0" * 64
SAMPLES = struct.pack("<200h", *range(200))


def wav(data: bytes = SAMPLES, stated: int | None = None, rate: int = 16_000, bits: int = 16) -> bytes:
    """A WAV file of one channel."""
    size = len(data) if stated is None else stated
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate * bits // 8, bits // 8, bits)
    return (
        struct.pack("<4sI4s", b"RIFF", 28 + size + 8, b"WAVE")
        + form
        + struct.pack("<4sI", b"data", size)
        + data
    )


def cases() -> Iterator[Case]:
    for what, (source, checksum, says) in ADDRESSES.items():
        yield Case(
            "source/address",
            what,
            {"text.txt": b"hello\n", "note": what.encode()},
            _fetch(source, checksum),
            says,
        )
    for what, (source, files, says) in ALONE.items():
        yield Case("source/alone", what, files, _fetch_one(source), says)
    for what, (data, says) in AUDIO.items():
        yield Case(
            "source/audio", what, {"a.wav": data}, lambda at: read_samples(at / "a.wav", "utterance u1"), says
        )


def _fetch(source: str, checksum: str | None) -> Callable[[Path], object]:
    def read(at: Path) -> object:
        (at / "out").mkdir()
        return fetch(Source(source=source, sha256=checksum), at, at / "out", "kept")

    return read


def _fetch_one(source: str) -> Callable[[Path], object]:
    return lambda at: fetch_one(
        Source(source=source, sha256=None if "://" not in source else NONE), at, at / "out"
    )


#: (source, sha256, what is said). Nothing here is ever asked of a network: port 1 of this machine answers nobody.
ADDRESSES: dict[str, tuple[str, str | None, str]] = {
    "no such file": ("missing.txt", None, "missing.txt: no such file or folder"),
    "the wrong content": ("text.txt", NONE, "the wrong content: sha256 0000"),
    "another kind of address": ("ftp://example.invalid/a", NONE, "this kind of address is not known"),
    "a file address": ("file:///etc/passwd", NONE, "this kind of address is not known"),
    "no package": ("package://no_such_package_here/a", NONE, "'no_such_package_here' is not installed"),
    "a package that is no name": ("package://../a", NONE, "is not installed"),
    "a package in a package": ("package://os.path/a", NONE, "is not installed"),
    "no file of a package": ("package://gensim/nothing-of-this-name", NONE, "has no such file"),
    "a file above a package": ("package://gensim/../../../../etc/passwd", NONE, "has no such file"),
    "a package's folder": ("package://gensim/", NONE, "has no such file"),
    "a hub address without a revision": ("hub://owner/name/file.txt", None, "not an address on the hub"),
    "a hub address without a file": ("hub://owner/name@main/", None, "not an address on the hub"),
    "a hub address that climbs": ("hub://owner/name@main/../../secret", None, "not an address on the hub"),
    "nobody answers": ("http://127.0.0.1:1/a.txt", NONE, "127.0.0.1:1/a.txt: cannot be downloaded"),
    "an address without a host": ("http:///a.txt", NONE, "cannot be downloaded"),
    "an address with a broken host": ("http://[::1/a.txt", NONE, "cannot be downloaded"),
    "an address with a blank": ("http://127.0.0.1:1/a b.txt", NONE, "cannot be downloaded"),
    "an address with a letter for a port": ("http://127.0.0.1:x/a.txt", NONE, "cannot be downloaded"),
    "an address that is no ASCII": ("http://127.0.0.1:1/ä.txt", NONE, "cannot be downloaded"),
    "an address with a line break": ("http://127.0.0.1:1/a\nb", NONE, "cannot be downloaded"),
}

_text = {"text.txt": b"hello\n"}
ALONE: dict[str, tuple[str, dict[str, bytes], str]] = {
    "the folder above": ("..", {**_text, "note": b"1"}, "names no file"),
    "the folder itself": (".", {**_text, "note": b"2"}, "names no file"),
    "a file called as ours": ("manifest.json", {"manifest.json": b"{}"}, "names no file"),
    "an address of a folder": ("http://127.0.0.1:1/a/..", {**_text, "note": b"3"}, "names no file"),
    "an address that is packed": ("http://127.0.0.1:1/a%2F%2E%2E", {**_text, "note": b"4"}, "names no file"),
    "a NUL in an address": ("http://127.0.0.1:1/a%00b", {**_text, "note": b"5"}, "names no file"),
    "a name of 300 letters": (f"http://127.0.0.1:1/{'a' * 300}", {**_text, "note": b"6"}, "names no file"),
    "a broken address": ("http://[::1/a.txt", {**_text, "note": b"7"}, "names no file|cannot be"),
}

AUDIO: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "utterance u1: .*a.wav cannot be read as audio"),
    "text": (b"hello " * 100, "cannot be read as audio"),
    "a header alone": (wav(b""), "holds no sample|cannot be read"),
    "cut in the header": (wav()[:30], "cannot be read as audio|holds no sample"),
    "cut in the samples": (wav(stated=4000), "is cut short"),
    "an unknown form": (
        wav().replace(b"\x01\x00\x01\x00", b"\x77\x77\x01\x00", 1),
        "cannot be read as audio",
    ),
    "no channel": (wav()[:22] + b"\0\0" + wav()[24:], "cannot be read as audio"),
    "a rate of zero": (wav(rate=0), "utterance u1"),
    "a rate of 2 thousand million": (
        wav(rate=2_000_000_001),
        "2,000,000,001 samples a second|cannot be read as audio",
    ),
    "a rate of 7": (wav(rate=7), "7 samples a second|cannot be read as audio"),
}
