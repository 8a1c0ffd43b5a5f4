"""What the pipeline itself wrote and reads again: encoded corpora, manifests, caches of scores."""

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

from quartet.scoring.cache import ScoreCache
from quartet.text.encoded_corpus import EncodedCorpus
from tests.reliability.malformed.case import Case, as_json, without
from tests.small_corpus import encode_small

ARROW, MANIFEST = "train.arrow", "train.json"


@functools.cache
def folder() -> dict[str, bytes]:
    """The training split of a small encoded corpus."""
    with tempfile.TemporaryDirectory() as name:
        encode_small(Path(name))
        return {path: (Path(name) / "encoded" / path).read_bytes() for path in (ARROW, MANIFEST)}


def cases() -> Iterator[Case]:
    for what, (files, says) in {**_tables(), **_manifests()}.items():
        yield Case("encoded/corpus", what, files, lambda at: EncodedCorpus.open(at, "train"), says)
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

    def of(value: object) -> dict[str, bytes]:
        return {**valid, MANIFEST: value if isinstance(value, bytes) else as_json(value)}

    def split(**changes: object) -> dict[str, bytes]:
        return of({**content, **changes})

    nothing = "train.json: is no manifest of an encoded split"
    return {
        "no manifest": (without(valid, MANIFEST), "train.json: no such file"),
        "an empty manifest": (of(b""), "train.json: not valid JSON"),
        "a manifest that is cut short": (of(valid[MANIFEST][:-9]), "train.json: not valid JSON"),
        "a manifest that is a list": (of([]), nothing),
        "a manifest of a whole corpus": (of({"version": 1, "splits": {"train": content}}), nothing),
        "a tokenizer that is a list": (split(tokenizer=[]), nothing),
        "tokens that are a text": (split(tokens="many"), nothing),
        "tokens that are NaN": (split(tokens=float("nan")), nothing),
        "a number of 5,000 digits": (of(b'{"a": ' + b"9" * 5000 + b"}"), "train.json: not valid JSON"),
        "ten thousand brackets": (of(b"[" * 100_000), "train.json: not valid JSON"),
        "a folder for a manifest": (
            {**without(valid, MANIFEST), f"{MANIFEST}/a": b""},
            "train.json: cannot be read",
        ),
        "infinitely many tokens": (split(tokens=float("inf")), nothing),
        "another number of tokens": (split(tokens=content["tokens"] + 1), "its manifest says"),
        "another number of documents": (split(documents=1), "its manifest says"),
        "another number of sentences": (split(sentences=0), "its manifest says"),
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
