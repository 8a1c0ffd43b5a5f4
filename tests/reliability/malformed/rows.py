"""The tables of malformed files beside this module: reads their rows.

A kind of file has the name of its file, one that is well-formed (`valid`), rules that make further cases, and `rows`:

    what is wrong: [content, words]            or [name of another file, content, words]
    what is wrong: [{path: content}, words]    where the kind is a folder of files and so has no name

Words are a regular expression. Content is a text, a mapping {old: new} of the well-formed one, a number of bytes to
cut off its end (-9), or ~ for no file. In a text ⏎ is a line's end, ⇥ a tab, ⟨e9⟩ a byte, ⟨9*5000⟩ a sign or byte
so many times, and ⟨=⟩ the well-formed file.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

import quartet
from pipeline.fetch import fetched_path
from quartet.nbest.formats import NBestFiles, read
from quartet.nbest.rescored_file import read_rescored
from quartet.ngram.arpa import read_sizes
from quartet.ngram.score import open_arpa
from quartet.recognise.parallel_text import read_parallel
from quartet.recognise.utterances import read_utterances
from quartet.results import read_results
from quartet.tasks.classification.data import read_labelled
from quartet.tasks.kinds import KINDS
from quartet.tasks.sts.data import read_lee
from quartet.tasks.word_vectors import load_vectors
from quartet.tasks.wordsim.data import read_word_pairs
from quartet.text.documents import read_segmented
from quartet.text.plain import read_text
from quartet.text.wikitext_corpus import read_wikitext
from tests.reliability.malformed.case import Case, Read, as_json, damaged_text, parquet

#: The tables, and so the generators of their cases.
TABLES = ("lists", "sets", "texts")
#: A row that a rule makes: what is wrong, the file, its content, words.
Made = tuple[str, str, bytes, str]
#: Two lists, for references that are no one's.
TWO = {name: {"ref": "the cat", "hyp_1": {"text": "the cat", "score": -1.5}} for name in ("u1", "u2")}


@functools.cache
def table(name: str) -> dict[str, Any]:
    """The kinds of a table."""
    path = Path(__file__).with_name(f"{name}.yaml")
    found: dict[str, Any] = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    return found


def valid(kind: str) -> bytes:
    """The well-formed file of a kind."""
    (found,) = (rows[kind] for rows in map(table, TABLES) if kind in rows)
    return as_bytes(found["valid"])


def cases(name: str) -> Iterator[Case]:
    """Yield the cases of a table: each kind's rows, then those that its rules make."""
    for kind, settings in table(name).items():
        for what, row in settings["rows"].items():
            yield _case(kind, what, _files(settings, row[:-1]), settings.get("file"), row[-1])
        for rule in settings.get("rules", ()):
            for what, file, data, says in RULES[rule](kind, settings["file"], as_bytes(settings["valid"])):
                yield _case(kind, what, {file: data}, settings["file"], says)


def _case(kind: str, what: str, files: dict[str, bytes], file: str | None, says: str) -> Case:
    name = next(iter(files)) if file and files else file
    if kind == "nbest/references":
        files = {"lists.json": as_json(TWO), **files}
    return Case(kind, what, files, reader(kind, name or ""), says)


def as_bytes(text: str, whole: bytes = b"") -> bytes:
    """What a text of a table stands for."""
    data = text.replace("⏎", "\n").replace("⇥", "\t").encode()
    data = re.sub("⟨=⟩".encode(), lambda _: whole, data)
    data = re.sub(
        rb"\xe2\x9f\xa8([0-9a-f]{2})\xe2\x9f\xa9", lambda found: bytes.fromhex(found[1].decode()), data
    )
    return re.sub(
        rb"\xe2\x9f\xa8(.)\*(\d+)\xe2\x9f\xa9", lambda found: found[1] * int(found[2]), data, flags=re.DOTALL
    )


def _content(given: str | int | dict[str, str], whole: bytes) -> bytes:
    if isinstance(given, str):
        return as_bytes(given, whole)
    if isinstance(given, int):
        return whole[: len(whole) + given]
    for old, new in given.items():
        assert as_bytes(old) in whole, f"{old} is not in the well-formed file"
        whole = whole.replace(as_bytes(old), as_bytes(new))
    return whole


def _files(settings: dict[str, Any], row: list[Any]) -> dict[str, bytes]:
    """The files of a row, by their paths."""
    whole = settings.get("valid", "")
    if "file" in settings:
        name, given = row if len(row) == 2 else (settings["file"], row[0])
        return {} if given is None else {name: _content(given, as_bytes(whole))}
    (given,) = row
    base = whole if isinstance(whole, dict) else dict.fromkeys(given, whole)
    wanted = {path: given.get(path, "⟨=⟩") for path in {**base, **given}}
    return {
        path: _content(content, as_bytes(base.get(path, "")))
        for path, content in wanted.items()
        if content is not None
    }


def reader(kind: str, file: str) -> Read:
    """Opens a file (or folder) of a kind as the program does."""
    group, _, form = kind.partition("/")
    if group == "nbest" and form not in ("rescored", "references"):
        return lambda at: read(form, NBestFiles(at / file, beam=2 if form == "nemo" else None))
    if group == "vectors":
        return lambda at: load_vectors(at / file, form, lowercase=True)  # type: ignore[arg-type]
    if sets := KINDS[group].formats if group in KINDS else {}:
        form, file = {"forms": "rte", "folder": "race"}.get(form, form), file or "dev"
        return lambda at: list(sets[form].read(at / file))
    if group == "source" and form != "parallel":
        return lambda at: read_utterances(form, at if form in ("kaldi", "librispeech") else at / "list")
    return lambda at: READERS[kind](at if not file else at / file)


def _plain(at: Path) -> object:
    return list(read_text(at / "prose" if (at / "prose").is_dir() else at / "prose.txt"))


def _with_references(path: Path) -> object:
    return read("mlm-scoring", NBestFiles(path.parent / "lists.json", references=path))


READERS: dict[str, Callable[[Path], object]] = {
    "nbest/references": _with_references,
    "nbest/rescored": read_rescored,
    "similarity/lee": lambda at: read_lee(at / "texts.cor", at / "similarities.txt"),
    "similarity/words": read_word_pairs,
    "similarity/labelled": read_labelled,
    "corpus/text": _plain,
    "corpus/wikitext": lambda at: list(read_wikitext(at / "wikitext")),
    "source/parallel": lambda at: read_parallel(at / "a.de", at / "a.en"),
    "encoded/segmented": lambda path: list(read_segmented(path)),
    "encoded/results": read_results,
    "encoded/fetched": lambda path: fetched_path(path.parent),
    "ngram/arpa": open_arpa,
    "ngram/sizes": lambda path: read_sizes(path) and open_arpa(path),
    "ngram/file": quartet.load,
}


def _damaged(kind: str, file: str, whole: bytes) -> Iterator[Made]:
    """What no file of text survives; N-best lists may be UTF-16 that says so."""
    for what, name, data, says in damaged_text(file, whole):
        if what == "UTF-16" and kind.startswith("nbest/"):
            what, data = "UTF-16 without its mark", whole.decode().encode("utf-16-le")
            says = "NUL|UTF-8|not valid JSON"
        yield what, name, data, says


def _foreign(kind: str, file: str, whole: bytes) -> Iterator[Made]:
    """What is no N-best list at all."""
    yield "empty", file, b"", "not valid JSON|holds no N-best list"
    yield "a picture", file, b"\x89PNG\r\n\x1a\n" + bytes(range(256)) + b"\n", "UTF-8"
    yield "HTML", file, b"<!DOCTYPE html>\n<html><body>404</body></html>\n", r":1"


def _published(kind: str, file: str, whole: bytes) -> Iterator[Made]:
    """What is wrong with any file of a published set, in JSON lines and Parquet."""
    rows, columns = (f"{file.partition('.')[0]}.{ending}" for ending in ("jsonl", "parquet"))
    yield "JSON that is cut short", rows, b'{"a": 1', r"jsonl:1: not a line of JSON"
    yield "JSON that is a list", rows, b"[1, 2]\n", "jsonl:1: a JSON object was expected"
    yield "JSON of 5,000 digits", rows, b'{"label": ' + b"9" * 5000 + b"}\n", "jsonl:1: not a line of JSON"
    yield "ten thousand brackets", rows, b"[" * 100_000, "jsonl:1: not a line of JSON"
    yield "other columns", columns, parquet(a=[1], b=["x"]), "no column"
    yield "a Parquet file that is cut short", columns, parquet(a=[1])[:-6], "not a Parquet file"
    yield "a Parquet file that is text", columns, b"PAR1 hello PAR1", "not a Parquet file"
    yield "an empty Parquet file", columns, b"", "not a Parquet file"


RULES: dict[str, Callable[[str, str, bytes], Iterator[Made]]] = {
    "damaged": _damaged,
    "foreign": _foreign,
    "published": _published,
}
