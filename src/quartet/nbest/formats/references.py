"""References from a file of their own. Its kind is told by its content, then read, or refused by its name.

* JSON: ``{utterance: text, ...}``; null where there is none.
* JSON lines: an object a line, as NeMo's manifests, with a text and the name of an utterance or of its audio file.
* TSV or CSV whose first line names the columns: one of texts, and one of utterances or of audio files.
* TRN (sclite): ``text (utterance)`` a line.
* STM: ``file channel speaker begin end <label> text`` a line; the segments of a file are one text, by their time.
* CTM: ``file channel start duration word`` a line, likewise.
* SGM and XML of translation campaigns: the texts of the ``<seg>``, which have no names.
* plain text: ``utterance text`` a line, or the text alone; `quartet.nbest.formats.ingest.attach_references` decides.

Lines that begin with ``;;`` are comments. Where the content says nothing, the ending of the file's name decides. Any
of them may be packed.
"""

from __future__ import annotations

import csv
import html
import io
import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quartet.errors import InputError
from quartet.nbest.formats import strict, text_file

#: Keys and columns that hold an utterance's name, then its audio file; of several the first in this order counts.
NAME_COLUMNS = [
    "utt",
    "utt_id",
    "uttid",
    "utterance",
    "utterance_id",
    "id",
    "key",
    "name",
    "segment_id",
    "sample_id",
    "file",
    "file_name",
    "filename",
    "path",
    "audio",
    "audio_file",
    "audio_path",
    "audio_filepath",
    "wav",
    "wav_path",
    "wav_filename",
]
#: Those that hold its text; two of them leave a choice that is the user's.
TEXT_COLUMNS = [
    "text",
    "ref",
    "reference",
    "sentence",
    "transcript",
    "transcription",
    "target",
    "normalized_text",
    "raw_text",
    "raw_transcription",
]

COMMENT = ";;"
PACKED = (".gz", ".bz2", ".xz")
OPENS_JSON = re.compile(r'\{\s*(?:"|\}|$)|\[\s*(?:["{\[\]]|$)')
OPENS_SGM = re.compile(r"<(?:refset|srcset|tstset|mteval|dataset|doc|seg)\b", re.IGNORECASE)
SEGMENT = re.compile(r"<seg\b[^>]*>(.*?)</seg\s*>", re.DOTALL | re.IGNORECASE)
SEGMENT_NUMBER = re.compile(r"<seg\b[^>]*\bid=[\"']?([0-9]{1,9})[\"'\s>]", re.IGNORECASE)
TRN = re.compile(r"(.*?)[ \t]*\(([^()\s]+)\)[ \t]*")
#: File, channel, begin, end and text of STM; file, channel, start, duration and word of CTM.
STM = re.compile(
    r"(\S+)[ \t]+(\S+)[ \t]+\S+[ \t]+([0-9.]+)[ \t]+([0-9.]+)(?:[ \t]+<(?!unk>)[^<>\s]*>)?(?:[ \t]+(.*))?"
)
CTM = re.compile(r"(\S+)[ \t]+(\S+)[ \t]+([0-9.]+)[ \t]+([0-9.]+)[ \t]+(\S+)(?:[ \t]+(?:[0-9.]+|NA))?")
#: What sclite's files leave to the hypothesis, and what an STM does not count.
ALTERNATIVES = re.compile(r"\{.*/.*\}|<ALT[^<>]*>")
OPTIONAL = re.compile(r"\([^()]*\)")
UNSCORED = "ignore_time_segment_in_scoring"

#: Known by their content, and not read.
REFUSED = {
    "a file of subtitles": re.compile(r"(?m)^[0-9:]+[,.][0-9]{3}[ \t]+-->[ \t]"),
    "a master label file of HTK": re.compile(r"\A#!MLF!#"),
    "a TextGrid of Praat": re.compile(r'\AFile type = "ooTextFile"'),
    "a translation memory (TMX), of several languages": re.compile(r"<tmx\b"),
    "XLIFF, of two languages": re.compile(r"<xliff\b"),
    "an annotation of ELAN": re.compile(r"<ANNOTATION_DOCUMENT\b"),
    "CoNLL-U": re.compile(r"(?m)^1\t[^\t\n]+(?:\t[^\t\n]*){8}$"),
    "a result of icefall (recogs)": re.compile(r"(?m)\A\S+:\t(?:ref|hyp)=\["),
    "a page of HTML": re.compile(r"\A<(?:!doctype html|html)\b", re.IGNORECASE),
}
WRITE_NAMES = 'write lines of "utterance text", lines of "text (utterance)" or JSON of {utterance: text}'
NAME_LINES = "begin each line with the name of its utterance"
WRITE_LINES = "write the text of each list alone on a line, in the lists' order"

#: Where a text stands, and the utterance with its text (None: not counted), or why there is none.
NamedReference = tuple[str, tuple[str, str | None] | InputError]
#: Where a text stands, and the text, or why there is none.
OrderedReference = tuple[str, str | InputError]
#: Where a record stands, and its fields by key in lower case.
ReferenceRecord = tuple[str, dict[str, Any] | InputError]


@dataclass(frozen=True)
class ReferenceFile:
    """A file of references, by name and by order, or why it does not have the one or the other.

    Attributes:
        named: utterances with their texts.
        ordered: texts one after the other, empty ones too.
        plain: a name is but the first word of a line, which may be the first of a text.
    """

    named: list[NamedReference] | InputError
    ordered: list[OrderedReference] | InputError
    plain: bool = False


def read(path: Path) -> ReferenceFile:
    """What a file of references holds; what is wrong with single texts stands in their place.

    Raises:
        InputError: nothing can be read, the file's kind is not sure, or it is one that is not read.
    """
    lines = [line for _, line in text_file.lines(path, closed=False) if isinstance(line, str)]
    content = [line.strip(text_file.BLANK) for line in lines if not line.startswith(COMMENT)]
    return KINDS[_kind([line for line in content if line], path)](path)


def named_lines(path: Path) -> dict[str, str]:
    """The texts of a file that is known to have lines of ``utterance text``, as Kaldi's ``text`` has.

    Raises:
        InputError: a line cannot be read, or an utterance occurs twice.
    """
    texts: dict[str, str] = {}
    for place, line in _lines(path):
        if isinstance(line, InputError):
            raise line
        utterance, *rest = re.split("[ \t]+", line.strip(text_file.BLANK), maxsplit=1)
        if utterance in texts:
            raise InputError(place, f'utterance "{utterance}" occurs twice')
        texts[utterance] = "".join(rest)
    return texts


def _kind(content: list[str], path: Path) -> str:
    """The key of `KINDS` for a file, from what its lines say, else from how its name ends."""
    head = "\n".join(content[:50])
    for what, pattern in REFUSED.items():
        if pattern.search(head):
            raise InputError(path, f"is {what}, which is not read", WRITE_NAMES)
    first = content[0] if content else ""
    if OPENS_JSON.match(first):
        return "json lines" if _is_record(first, len(content) > 1) else "json"
    if first.startswith("<") and OPENS_SGM.search(head):
        return "sgm"
    if _header(first) is not None:
        return "table"
    endings = [ending.lower() for ending in path.suffixes if ending.lower() not in PACKED]
    ending = ENDINGS.get(endings[-1], "plain") if endings else "plain"
    fitting = {kind: sum(_is_timed(line, form) for line in content) for kind, form in TIMED.items()}
    most = [kind for kind, count in fitting.items() if count == max(fitting.values()) > len(content) / 2]
    if most:
        if len(most) > 1 and ending not in most:
            raise InputError(path, "may be STM or CTM", "let the file's name end with .stm or .ctm")
        return ending if ending in most else most[0]
    utterances = {match[2] for match in map(TRN.fullmatch, content) if match}
    return "trn" if len(utterances) > len(content) / 2 else ending


def _is_record(line: str, more: bool) -> bool:
    """Whether a line is a whole JSON object, and there are more, or it has the keys of a record."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and (more or _names_and_texts(key.lower() for key in value))


def _header(line: str) -> list[str] | None:
    """The columns that a first line names, in lower case; None where it is no table's."""
    for mark in "\t,":
        columns = [cell.strip(' "').lower() for cell in line.split(mark)]
        if _names_and_texts(columns):
            return columns
    return None


def _names_and_texts(keys: Iterable[str]) -> bool:
    keys = set(keys)
    return not (keys.isdisjoint(NAME_COLUMNS) or keys.isdisjoint(TEXT_COLUMNS))


def _is_timed(line: str, form: re.Pattern[str]) -> bool:
    """Whether a line has the times of STM or CTM: two numbers, and a point in one of them."""
    match = form.fullmatch(line)
    numbers = match is not None and all(text_file.NUMBER.fullmatch(match[group]) for group in (3, 4))
    return match is not None and numbers and "." in match[3] + match[4]


def _plain(path: Path) -> ReferenceFile:
    """Lines, whose first words may be names: every one, or without comments and blank ones."""
    ordered: list[OrderedReference] = []
    named: list[NamedReference] = []
    refused = None
    for number, line in text_file.lines(path):
        place = f"{path}:{number}"
        ordered.append((place, line))
        if isinstance(line, InputError):
            named.append((place, line))
        elif line.startswith(COMMENT):
            refused = InputError(place, "a comment (;;) among lines that are counted", "take it out")
        elif line.strip(text_file.BLANK):
            utterance, *rest = re.split("[ \t]+", line.strip(text_file.BLANK), maxsplit=1)
            named.append((place, (utterance, "".join(rest))))
    texts = [text for _, text in ordered if isinstance(text, str) and text.strip(text_file.BLANK)]
    columns = min((text.count("\t") for text in texts), default=0) + 1
    if columns > 2:
        raise InputError(
            path, f"has {columns} columns", 'begin it with a line of their names: "id", "text", ...'
        )
    if columns == 2:
        refused = InputError(path, "has two columns, of names and texts", WRITE_LINES)
    return ReferenceFile(named, refused or ordered, plain=columns == 1)


def _trn(path: Path) -> ReferenceFile:
    def pair(line: str, place: str) -> tuple[str, str]:
        match = TRN.fullmatch(line)
        if match is None:
            raise InputError(place, '"text (utterance)" was expected')
        return match[2], _without_choice(match[1].strip(text_file.BLANK), place)

    return _only_named("TRN", [_named(place, line, pair) for place, line in _lines(path)], path)


def _timed(form: re.Pattern[str], kind: str, fields: str) -> Callable[[Path], ReferenceFile]:
    """A reader of lines that say what is said in a part of a recording."""

    def part(line: str, place: str) -> tuple[str, str, float, str | None]:
        match = form.fullmatch(line.strip(text_file.BLANK))
        if match is None:
            raise InputError(place, f'"{fields}" was expected')
        text = (match[5] or "").strip(text_file.BLANK)
        begin = text_file.number_in(match[3], place, "time")
        counted = None if text.lower() == UNSCORED else _without_choice(text, place)
        return match[1], match[2], begin, counted

    def found(path: Path) -> ReferenceFile:
        parts: dict[str, list[tuple[float, str | None]]] = defaultdict(list)
        channels: dict[str, str] = {}
        wrong: dict[str, NamedReference] = {}
        for place, line in _lines(path):
            try:
                if isinstance(line, InputError):
                    raise line
                name, channel, begin, text = part(line, place)
                if channels.setdefault(name, channel) != channel:
                    reason = f'"{name}" has two channels, {channels[name]} and {channel}'
                    raise InputError(place, reason, "give each channel a file name of its own")
                parts[name].append((begin, text))
            except InputError as error:
                # a recording that lacks a part of its text has none
                wrong.setdefault(line.split()[0] if isinstance(line, str) else place, (place, error))
        whole = [(str(path), (name, _joined(each))) for name, each in parts.items() if name not in wrong]
        return _only_named(kind, [*wrong.values(), *whole], path)

    return found


def _joined(parts: list[tuple[float, str | None]]) -> str | None:
    """The texts by their time; None where none is counted."""
    texts = [text for _, text in sorted(parts, key=lambda part: part[0]) if text is not None]
    return " ".join(texts) if texts else None


def _without_choice(text: str, place: str) -> str:
    """The text, if it is one.

    Raises:
        InputError: it has alternatives, or words that may be left out.
    """
    if ALTERNATIVES.search(text):
        raise InputError(place, "it leaves the choice between texts ({ a / b })", "write the one that counts")
    optional = OPTIONAL.search(text)
    if optional:
        reason = f"it leaves the choice whether {optional[0]} is said"
        raise InputError(place, reason, "take it out, or take its brackets away")
    return text


def _json(path: Path) -> ReferenceFile:
    root = strict.parse(text_file.read_text(path), path)
    if not isinstance(root, strict.JsonFields):
        raise InputError(path, f"an object of references was expected, not {strict.kind(root)}", WRITE_NAMES)

    def pair(item: tuple[str, Any], place: str) -> tuple[str, str | None]:
        utterance, value = item
        place = f'{path}: utterance "{utterance}"'
        return strict.text_of(utterance, place), None if value is None else strict.text_of(value, place)

    return _only_named("JSON", [_named(str(path), item, pair) for item in root], path)


def _json_lines(path: Path) -> ReferenceFile:
    rows: list[ReferenceRecord] = []
    for number, line in text_file.lines(path, closed=False):
        place = f"{path}:{number}"
        try:
            if isinstance(line, InputError):
                raise line
            if line.strip(text_file.BLANK):
                fields = strict.unique(strict.parse(line, path, number), place)
                rows.append((place, {key.lower(): value for key, value in fields.items()}))
        except InputError as error:
            rows.append((place, error))
    return _records(rows, path)


def _table(path: Path) -> ReferenceFile:
    """TSV without quotes, as corpora of speech have it, or CSV with them."""
    text = text_file.read_text(path)
    if not text.endswith("\n"):
        reason, remedy = "the last line does not end: the file may be cut short", "end it with a line break"
        raise InputError(path, reason, remedy)
    lines = [line for line in text.split("\n") if not line.startswith(COMMENT)]
    first = next((line.strip("\r ") for line in lines if line.strip()), "")
    columns = _header(first)
    if columns is None:
        raise InputError(path, "its first line names no columns", 'begin it with a line such as "id,text"')
    rows: list[ReferenceRecord] = []
    file = io.StringIO(text, newline="")
    if "	" in first:
        reader = csv.reader(file, delimiter="	", quoting=csv.QUOTE_NONE, strict=True)
    else:
        reader = csv.reader(file, strict=True)
    try:
        for cells in reader:
            place = f"{path}:{reader.line_num}"
            if not "".join(cells).strip() or cells[0].startswith(COMMENT):
                continue
            fits = len(cells) == len(columns)
            wrong = InputError(place, f"has {len(cells)} columns, and the first line {len(columns)}")
            rows.append((place, dict(zip(columns, cells, strict=True)) if fits else wrong))
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}", f"no line of a table ({error})") from error
    return _records(rows[1:], path)


def _records(rows: list[ReferenceRecord], path: Path) -> ReferenceFile:
    """References from records, by name where all that can be read have one."""
    known = [record for _, record in rows if isinstance(record, dict)]
    name = next((key for key in NAME_COLUMNS if known and all(key in record for record in known)), None)

    def pair(record: Mapping[str, Any], place: str) -> tuple[str, str]:
        texts = [key for key in TEXT_COLUMNS if key in record]
        if len(texts) != 1:
            held = f"has texts under {' and '.join(texts)}" if texts else "has no text"
            raise InputError(place, held, 'keep one under "text"')
        utterance = "" if name is None else strict.text_of(record[name], f"{place}, {name}")
        return utterance, strict.text_of(record[texts[0]], f"{place}, {texts[0]}")

    named = [_named(place, record, pair) for place, record in rows]
    ordered = [(place, each if isinstance(each, InputError) else str(each[1])) for place, each in named]
    none = InputError(path, "not every row names its utterance", f"give each a key {NAME_COLUMNS[0]!r}")
    return ReferenceFile(none if known and name is None else named, ordered)


def _sgm(path: Path) -> ReferenceFile:
    """The texts of the only reference."""
    text = text_file.read_text(path)
    documents = re.findall(r"<doc\b[^>]*>.*?</doc\s*>", text, re.DOTALL | re.IGNORECASE) or [text]
    names = Counter(re.findall(r"<doc\b[^>]*\bdocid=[\"']?([^\"'\s>]+)", text, re.IGNORECASE))
    parts = [re.findall(r"<ref\b.*?</ref\s*>", each, re.DOTALL | re.IGNORECASE) for each in documents]
    if re.search(r"<(?:srcset|tstset)\b", text, re.IGNORECASE) or (
        not any(parts) and re.search(r"<(?:src|hyp)\b", text, re.IGNORECASE)
    ):
        raise InputError(path, "holds a source or a system's texts", "give the file of references (refset)")
    if max(names.values(), default=1) > 1 or max(map(len, parts)) > 1:
        raise InputError(path, "holds more than one reference of a document", "keep one")
    if any(parts) and not all(parts):
        raise InputError(path, "holds documents without a reference", "take them out, of the lists too")
    if len(re.findall(r"<seg\b", text, re.IGNORECASE)) != len(SEGMENT.findall(text)):
        raise InputError(path, "a <seg> has no end", "fetch the file again")
    chosen = [part[0] if part else document for part, document in zip(parts, documents, strict=True)]
    for part in chosen:
        numbers = [int(number) for number in SEGMENT_NUMBER.findall(part)]
        for before, after in itertools.pairwise(numbers):
            if 1 < after <= before:
                raise InputError(path, f"segment {after} stands behind {before}", "put them in their order")
    segments = [
        " ".join(html.unescape(segment).split()) for part in chosen for segment in SEGMENT.findall(part)
    ]
    reason = "is SGM, whose texts have an order and no names, and the lists have names"
    return ReferenceFile(
        InputError(path, reason, WRITE_NAMES), [(str(path), segment) for segment in segments]
    )


def _only_named(kind: str, named: list[NamedReference], path: Path) -> ReferenceFile:
    return ReferenceFile(
        named, InputError(path, f"is {kind}, and has names instead of an order", WRITE_LINES)
    )


def _named(place: str, item: Any, pair: Callable[[Any, str], tuple[str, str | None]]) -> NamedReference:
    """What `pair` makes of an item, or the error that the item is or that it raises."""
    try:
        return place, item if isinstance(item, InputError) else pair(item, place)
    except InputError as error:
        return place, error


def _lines(path: Path) -> Iterator[tuple[str, str | InputError]]:
    """The lines that are neither blank nor comments."""
    for number, line in text_file.lines(path):
        if isinstance(line, InputError) or (line.strip(text_file.BLANK) and not line.startswith(COMMENT)):
            yield f"{path}:{number}", line


TIMED = {"stm": STM, "ctm": CTM}
#: The reader of each kind.
KINDS: dict[str, Callable[[Path], ReferenceFile]] = {
    "plain": _plain,
    "json": _json,
    "json lines": _json_lines,
    "table": _table,
    "trn": _trn,
    "stm": _timed(STM, "STM", "file channel speaker begin end <label> text"),
    "ctm": _timed(CTM, "CTM", "file channel start duration word"),
    "sgm": _sgm,
}
#: What a file's name says where its content does not.
ENDINGS = {
    ".json": "json",
    ".jsonl": "json lines",
    ".csv": "table",
    ".trn": "trn",
    ".stm": "stm",
    ".ctm": "ctm",
    ".sgm": "sgm",
    ".sgml": "sgm",
}
