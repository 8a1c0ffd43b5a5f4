"""What is to be fetched, and lists of audio and parallel text that N-best lists are made from."""

from __future__ import annotations

import lzma
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from pipeline.fetch import fetch, fetch_one
from pipeline.params import Source
from quartet.nbest.generate.audio import read_samples
from quartet.nbest.generate.parallel import read_parallel
from quartet.nbest.generate.utterances import read_utterances
from tests.reliability.malformed.case import Case, as_jsonl, gzipped

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
    for what, (left, right, says) in PARALLEL.items():
        yield Case("source/parallel", what, {"a.de": left, "a.en": right}, _parallel, says)
    for what, (kind, files, says) in UTTERANCES.items():
        yield Case(f"source/{kind}", what, files, _utterances(kind), says)
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


def _parallel(at: Path) -> object:
    return read_parallel(at / "a.de", at / "a.en")


def _utterances(kind: str) -> Callable[[Path], object]:
    return lambda at: read_utterances(kind, at if kind in ("kaldi", "librispeech") else at / "list")


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

PARALLEL: dict[str, tuple[bytes, bytes, str]] = {
    "empty": (b"", b"", "a.de: holds no line"),
    "a line too few": (b"eins\nzwei\n", b"one\n", "2 and 1 lines"),
    "an empty line": (b"eins\n\n", b"one\ntwo\n", "a.de:2: an empty line"),
    "a NUL": (b"ei\0ns\n", b"one\n", "a.de:1: a NUL"),
    "Latin-1": (b"f\xfcnf\n", b"five\n", "a.de: line 1: byte 0xfc is not UTF-8"),
    "UTF-16 that is cut": ("fünf\n".encode("utf-16")[:-1], b"five\n", "a.de: begins as UTF-16 does"),
    "xz cut short": (lzma.compress(b"eins\n")[:-6], b"one\n", "a.de: the xz data are broken"),
    "gzip cut short": (gzipped(b"eins\n")[:-6], b"one\n", "a.de: the gzip data are broken"),
}

_table = b"utt\taudio\tref\n"
UTTERANCES: dict[str, tuple[str, dict[str, bytes], str]] = {
    "empty": ("tsv", {"list": b""}, "list: names no utterance"),
    "a header alone": ("tsv", {"list": _table}, "list: names no utterance"),
    "no such list": ("tsv", {}, "list: cannot be read"),
    "no header": ("tsv", {"list": b"u1\ta.wav\thello\n"}, "list:1: the header is"),
    "an unknown column": ("tsv", {"list": b"utt\taudio\ttext\n"}, "list:1: the header is"),
    "a cell too few": ("tsv", {"list": _table + b"u1\ta.wav\n"}, "list:2: 2 cells where the header has 3"),
    "no audio": ("tsv", {"list": _table + b"u1\t\thello\n"}, "needs a name and an audio file"),
    "an utterance twice": (
        "tsv",
        {"list": _table + b"u1\ta\tx\n" * 2},
        'list:3: utterance "u1" occurs twice',
    ),
    "Latin-1": ("tsv", {"list": _table + b"u1\ta\tcaf\xe9\n"}, "is not UTF-8"),
    "a NUL": ("tsv", {"list": _table + b"u1\ta\0b\tx\n"}, "list:2: a NUL"),
    "cut short": ("jsonl", {"list": as_jsonl({"utt": "u1", "audio": "a"})[:-4]}, "list:1:.*not valid JSON"),
    "an unknown key": (
        "jsonl",
        {"list": as_jsonl({"utt": "u1", "audio": "a", "text": "b"})},
        'unknown key "text"',
    ),
    "no utterance": ("jsonl", {"list": as_jsonl({"audio": "a"})}, 'has no "utt"'),
    "audio that is a number": (
        "jsonl",
        {"list": as_jsonl({"utt": "u1", "audio": 1})},
        "audio: a text was expected",
    ),
    "audio with a NUL": ("jsonl", {"list": as_jsonl({"utt": "u1", "audio": "a\0"})}, "a NUL"),
    "a command": ("kaldi", {"wav.scp": b"u1 sox a.flac -t wav - |\n"}, "commands are not run"),
    "segments": ("kaldi", {"wav.scp": b"u1 a.wav\n", "segments": b""}, "audio is not cut at segments"),
    "a reference too many": (
        "kaldi",
        {"wav.scp": b"u1 a.wav\n", "text": b"u2 hello\n"},
        '"u2" is not in wav.scp',
    ),
    "no wav.scp": ("kaldi", {"text": b"u1 hello\n"}, "wav.scp: cannot be read"),
    "no transcripts": ("librispeech", {"1/2/a.flac": b""}, "has no <speaker>/<chapter>"),
    "audio without a transcript": (
        "librispeech",
        {"1/2/1-2.trans.txt": b"1-2-0 HELLO\n", "1/2/1-2-1.flac": b""},
        "has no line for 1-2-1.flac",
    ),
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
