"""What is to be recognised: utterances with their audio and, where it is known, what was said.

``FORMATS`` are the ways to list them. A relative path of audio starts at the folder that the list lies in.

* ``tsv``: a table with a header: columns ``utt``, ``audio`` and, if wished, ``ref``. An empty ``ref`` is no reference.
* ``jsonl``: ``{"utt": …, "audio": …, "ref": …}`` a line; "ref" may be missing or null.
* ``librispeech``: a folder ``<speaker>/<chapter>/`` of ``<utterance>.flac`` beside ``*.trans.txt``, as LibriSpeech has.
* ``kaldi``: a folder of ``wav.scp`` (``utterance path`` a line) and, if wished, ``text`` (``utterance words`` a line).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from quartet.errors import InputError
from quartet.nbest.formats import references, strict, text_file

COLUMNS = ("utt", "audio", "ref")


@dataclass(frozen=True)
class Utterance:
    """One audio file: its name, where it lies, and its reference (None: not known; it may be empty)."""

    name: str
    audio: Path
    reference: str | None = None

    @property
    def place(self) -> str:
        """What messages call it."""
        return f'utterance "{self.name}"'


def read_utterances(kind: str, path: Path) -> list[Utterance]:
    """Everything that a list names, in its order.

    Args:
        kind: a key of ``FORMATS``.

    Raises:
        InputError: the list cannot be read, a line of it is malformed, it names an utterance twice, or none.
    """
    found: dict[str, Utterance] = {}
    for place, utterance in FORMATS[kind](path):
        if utterance.name in found:
            raise InputError(place, f"{utterance.place} occurs twice")
        found[utterance.name] = utterance
    if not found:
        raise InputError(path, "names no utterance")
    return list(found.values())


def _utterance(place: str, folder: Path, name: str, audio: str, reference: str | None) -> Utterance:
    if not name or not audio:
        raise InputError(place, "an utterance needs a name and an audio file")
    return Utterance(name, folder / audio, reference)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Where each line that is not blank stands, and the line."""
    for number, line in text_file.lines(path):
        if isinstance(line, InputError):
            raise line
        if line.strip(text_file.BLANK):
            yield f"{path}:{number}", line


def _tsv(path: Path) -> Iterator[tuple[str, Utterance]]:
    header: list[str] = []
    for place, line in _lines(path):
        cells = [cell.strip(text_file.BLANK) for cell in line.split("\t")]
        if not header:
            header = cells
            if len(set(header)) != len(header) or not {"utt", "audio"} <= set(header) <= set(COLUMNS):
                raise InputError(
                    place, f"the header is {', '.join(header)}", "write utt, audio and, if wished, ref"
                )
            continue
        if len(cells) != len(header):
            raise InputError(place, f"{len(cells)} cells where the header has {len(header)}")
        row = dict(zip(header, cells, strict=True))
        yield place, _utterance(place, path.parent, row["utt"], row["audio"], row.get("ref") or None)


def _jsonl(path: Path) -> Iterator[tuple[str, Utterance]]:
    for number, line in text_file.lines(path, closed=False):
        place = f"{path}:{number}"
        if isinstance(line, InputError):
            raise line
        if not line.strip(text_file.BLANK):
            continue
        fields = strict.unique(strict.parse(line, path, number), place)
        for key in fields:
            if key not in COLUMNS:
                raise InputError(place, f'unknown key "{key}"', f"the keys are {', '.join(COLUMNS)}")
        for key in ("utt", "audio"):
            if key not in fields:
                raise InputError(place, f'has no "{key}"')
        name, audio = (strict.text_of(fields[key], f"{place}, {key}") for key in ("utt", "audio"))
        yield place, _utterance(place, path.parent, name, audio, strict.reference_of(fields, place))


def _librispeech(path: Path) -> Iterator[tuple[str, Utterance]]:
    transcripts = sorted(path.glob("*/*/*.trans.txt"))
    if not transcripts:
        raise InputError(
            path,
            "has no <speaker>/<chapter>/*.trans.txt",
            "give the folder of one of LibriSpeech's sets, such as dev-clean",
        )
    for transcript in transcripts:
        texts = references.named_lines(transcript)
        for audio in sorted(transcript.parent.glob("*.flac")):
            if audio.stem not in texts:
                raise InputError(transcript, f"has no line for {audio.name}")
        for name, text in texts.items():
            yield str(transcript), Utterance(name, transcript.parent / f"{name}.flac", text)


def _kaldi(path: Path) -> Iterator[tuple[str, Utterance]]:
    if (path / "segments").exists():
        raise InputError(path / "segments", "audio is not cut at segments", "make a file for each utterance")
    names = path / "wav.scp"
    texts = references.named_lines(path / "text") if (path / "text").exists() else {}
    seen = set()
    for place, line in _lines(names):
        name, _, audio = line.strip(text_file.BLANK).replace("\t", " ", 1).partition(" ")
        audio = audio.strip(text_file.BLANK)
        if audio.endswith("|"):
            raise InputError(place, "commands are not run", "write their audio into files")
        seen.add(name)
        yield place, _utterance(place, path, name, audio, texts.get(name))
    for name in texts:
        if name not in seen:
            raise InputError(path / "text", f'utterance "{name}" is not in {names.name}')


#: Each gives the utterances of a list with the place that names them.
FORMATS: dict[str, Callable[[Path], Iterator[tuple[str, Utterance]]]] = {
    "tsv": _tsv,
    "jsonl": _jsonl,
    "librispeech": _librispeech,
    "kaldi": _kaldi,
}
