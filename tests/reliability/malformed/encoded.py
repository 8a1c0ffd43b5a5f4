"""What the pipeline itself wrote and reads again: segmented and encoded corpora, manifests, rows, caches of scores."""

from __future__ import annotations

import functools
import io
import json
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipeline.fetch import fetched
from quartet.results import read_results
from quartet.scoring.cache import ScoreCache
from quartet.text.documents import read_segmented
from quartet.text.encoded import EncodedCorpus
from tests.reliability.malformed.case import Case, as_json, as_jsonl, without
from tests.small_corpus import encode_small

ARROW, MANIFEST, ROWS = "train.arrow", "manifest.json", "train.jsonl"
DOCUMENT = {"id": "1", "title": "Heron", "paragraphs": [{"heading": False, "sentences": ["It waits."]}]}


@functools.cache
def folder() -> dict[str, bytes]:
    """The training split of a small encoded corpus."""
    with tempfile.TemporaryDirectory() as name:
        encode_small(Path(name))
        return {path: (Path(name) / "encoded" / path).read_bytes() for path in (ARROW, MANIFEST)}


def cases() -> Iterator[Case]:
    for what, (files, says) in {**_tables(), **_manifests()}.items():
        yield Case("encoded/corpus", what, files, lambda at: EncodedCorpus.open(at, "train"), says)
    for what, (data, says) in SEGMENTED.items():
        yield Case("encoded/segmented", what, {ROWS: data}, lambda at: list(read_segmented(at / ROWS)), says)
    for what, (data, says) in FETCHED.items():
        yield Case("encoded/fetched", what, {MANIFEST: data}, fetched, says)
    for what, (data, says) in RESULTS.items():
        yield Case(
            "encoded/results", what, {"rows.jsonl": data}, lambda at: read_results(at / "rows.jsonl"), says
        )
    for what, data in CACHES.items():
        yield Case(
            "encoded/cache",
            what,
            {"scores.db": data},
            _cached,
            "scores.db: cannot be used as a cache of scores",
        )


def _cached(at: Path) -> object:
    with ScoreCache(at / "scores.db") as cache:
        return cache.get([b"key"])


def _tables() -> dict[str, tuple[dict[str, bytes], str]]:
    valid = folder()
    table = pa.ipc.open_stream(valid[ARROW]).read_all()

    def of(data: bytes) -> dict[str, bytes]:
        return {**valid, ARROW: data}

    def written(changed: pa.Table) -> dict[str, bytes]:
        buffer = io.BytesIO()
        with pa.ipc.new_stream(buffer, changed.schema) as writer:
            writer.write_table(changed)
        return of(buffer.getvalue())

    def column(name: str, values: pa.Array) -> dict[str, bytes]:
        return written(table.set_column(table.schema.get_field_index(name), name, values))

    def lists(name: str, change: Any, kind: pa.DataType | None = None) -> dict[str, bytes]:
        rows = [[change(value) for value in row] for row in table[name].to_pylist()]
        return column(name, pa.array(rows, type=kind or table.schema.field(name).type))

    damaged = "train.arrow: cannot be read|train.arrow: holds"
    found: dict[str, tuple[dict[str, bytes], str]] = {
        "no such file": (without(valid, ARROW), "train.arrow: cannot be read"),
        "empty": (of(b""), damaged),
        "text": (of(b"hello " * 100), damaged),
        "cut in the schema": (of(valid[ARROW][:100]), damaged),
        "cut in the middle": (of(valid[ARROW][: len(valid[ARROW]) // 2]), damaged),
        "cut by a tenth": (of(valid[ARROW][: len(valid[ARROW]) * 9 // 10]), damaged),
        "a row too few": (written(table.slice(1)), "its manifest says"),
        "a row too many": (written(pa.concat_tables([table, table.slice(0, 1)])), "its manifest says"),
        "no row": (written(table.slice(0, 0)), "its manifest says"),
        "ids that are fractions": (lists("ids", float, pa.list_(pa.float64())), "ids are"),
        "ids that are texts": (lists("ids", str, pa.list_(pa.string())), "ids are"),
        "ids below zero": (lists("ids", lambda id: -id - 1, pa.list_(pa.int32())), "ids"),
        "ids beyond the vocabulary": (lists("ids", lambda id: id + 60_000), "ids"),
        "ids that are missing": (lists("ids", lambda id: None if id % 7 == 0 else id), damaged),
        "a column that is no list": (column("ids", pa.array([1] * len(table))), damaged),
        "lengths below zero": (lists("sentence_lengths", lambda n: -n), damaged),
        "lengths of zero": (lists("sentence_lengths", lambda _: 0), damaged),
        "lengths that sum to more": (lists("sentence_lengths", lambda n: n + 1), damaged),
        "sentences without headings": (
            column("sentence_headings", pa.array([[True]] * len(table), type=pa.list_(pa.bool_()))),
            damaged,
        ),
        "paragraphs that are texts": (
            lists("sentence_paragraphs", str, pa.list_(pa.string())),
            "sentence_paragraphs",
        ),
        "names that are numbers": (column("doc_id", pa.array(range(len(table)))), "doc_id"),
    }
    for name in table.schema.names:
        found[f"no column {name}"] = (written(table.drop_columns([name])), f"cannot be read.*{name}")
    return found


def _manifests() -> dict[str, tuple[dict[str, bytes], str]]:
    valid, content = folder(), json.loads(folder()[MANIFEST])
    train = content["splits"]["train"]

    def of(value: object) -> dict[str, bytes]:
        return {**valid, MANIFEST: value if isinstance(value, bytes) else as_json(value)}

    def split(**changes: object) -> dict[str, bytes]:
        return of({**content, "splits": {**content["splits"], "train": {**train, **changes}}})

    nothing = "manifest.json: says nothing of the split 'train'"
    return {
        "no manifest": (without(valid, MANIFEST), "manifest.json: no such file"),
        "an empty manifest": (of(b""), "manifest.json: not valid JSON"),
        "a manifest that is cut short": (of(valid[MANIFEST][:-9]), "manifest.json: not valid JSON"),
        "a manifest that is a list": (of([]), nothing),
        "a manifest without the split": (of({**content, "splits": {}}), nothing),
        "splits that are a list": (of({**content, "splits": []}), nothing),
        "tokens that are a text": (split(tokens="many"), nothing),
        "tokens that are NaN": (split(tokens=float("nan")), nothing),
        "a number of 5,000 digits": (of(b'{"a": ' + b"9" * 5000 + b"}"), "manifest.json: not valid JSON"),
        "ten thousand brackets": (of(b"[" * 100_000), "manifest.json: not valid JSON"),
        "a folder for a manifest": (
            {**without(valid, MANIFEST), f"{MANIFEST}/a": b""},
            "manifest.json: cannot be read",
        ),
        "infinitely many tokens": (split(tokens=float("inf")), nothing),
        "another number of tokens": (split(tokens=train["tokens"] + 1), "its manifest says"),
        "another number of documents": (split(documents=1), "its manifest says"),
        "another number of sentences": (split(sentences=0), "its manifest says"),
    }


def _paragraph(**changes: object) -> bytes:
    return as_jsonl({**DOCUMENT, "paragraphs": [{"heading": False, "sentences": ["It waits."], **changes}]})


SEGMENTED: dict[str, tuple[bytes, str]] = {
    "cut short": (as_jsonl(DOCUMENT, DOCUMENT)[:-9], "train.jsonl:2: not a line of JSON"),
    "a list": (as_jsonl([1]), "train.jsonl:1: a JSON object was expected"),
    "Latin-1": (b'{"id": "caf\xe9"}\n', "train.jsonl:1: not a line of JSON"),
    "no id": (as_jsonl(without(DOCUMENT, "id")), "train.jsonl:1: not a segmented document"),
    "an id that is a number": (as_jsonl({**DOCUMENT, "id": 1}), "1 is not a str"),
    "a title that is null": (as_jsonl({**DOCUMENT, "title": None}), "None is not a str"),
    "no paragraphs": (as_jsonl(without(DOCUMENT, "paragraphs")), "not a segmented document"),
    "paragraphs that are null": (as_jsonl({**DOCUMENT, "paragraphs": None}), "not a segmented document"),
    "paragraphs that are a text": (
        as_jsonl({**DOCUMENT, "paragraphs": "It waits."}),
        "not a segmented document",
    ),
    "paragraphs that are an object": (
        as_jsonl({**DOCUMENT, "paragraphs": {"a": 1}}),
        "not a segmented document",
    ),
    "a heading that is a number": (_paragraph(heading=0), "0 is not a bool"),
    "sentences that are a text": (_paragraph(sentences="It waits."), "is not a list"),
    "a sentence that is a number": (_paragraph(sentences=[7]), "7 is not a str"),
    "half a surrogate pair": (_paragraph(sentences=["\ud800"]), "half a surrogate pair"),
    "a number of 5,000 digits": (b'{"id": ' + b"9" * 5000 + b"}\n", "train.jsonl:1: not a line of JSON"),
    "ten thousand brackets": (b"[" * 100_000, "train.jsonl:1: not a line of JSON"),
    "a title that steers the terminal": (
        as_jsonl({**DOCUMENT, "title": None, "id": "\x1b[2J"}),
        "None is not a str",
    ),
}

_row = {
    **dict.fromkeys(("experiment", "table", "system", "dataset", "split", "metric", "device", "scale"), "a"),
    **{"value": 1.0, "n": 1, "ci_low": None, "ci_high": None, "seed": 1},
}
RESULTS: dict[str, tuple[bytes, str]] = {
    "cut short": (as_jsonl(_row)[:-9], "rows.jsonl:1: not a line of JSON"),
    "no value": (as_jsonl(without(_row, "value")), "rows.jsonl:1: not a result"),
    "a value that is a text": (as_jsonl({**_row, "value": "1"}), "rows.jsonl:1: not a result"),
    "a value that is true": (as_jsonl({**_row, "value": True}), "rows.jsonl:1: not a result"),
    "a value that is NaN": (as_jsonl({**_row, "value": float("nan")}), "rows.jsonl:1: not a result"),
    "a number of items that is a fraction": (as_jsonl({**_row, "n": 1.5}), "rows.jsonl:1: not a result"),
    "a key too many": (as_jsonl({**_row, "p": 1}), "rows.jsonl:1: not a result"),
}

FETCHED: dict[str, tuple[bytes, str]] = {
    "a manifest that is cut short": (b'{"file": ', "manifest.json: not valid JSON"),
    "a manifest that is a list": (b"[]", "manifest.json"),
    "a manifest without a file": (b"{}", "manifest.json"),
    "a file that is a number": (as_json({"file": 7}), "manifest.json"),
    "a file that lies elsewhere": (as_json({"file": "../../secret"}), "manifest.json"),
    "a file that is not there": (as_json({"file": "gone.txt"}), "gone.txt"),
}


def _database(statement: str) -> bytes:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "made.db"
        with sqlite3.connect(path) as database:
            database.execute(statement)
        return path.read_bytes()


CACHES: dict[str, bytes] = {
    "text": b"this is no database\n" * 10,
    "cut short": _database("CREATE TABLE scores (key BLOB PRIMARY KEY, logprobs BLOB)")[:1000],
    "a table of other columns": _database("CREATE TABLE scores (name TEXT)"),
}
