"""Sets of similarity and sentiment: STS Benchmark, SICK, SemEval's STS, Lee's documents, word pairs, labelled texts."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from quartet.evaluation.datasets import read_labelled, read_lee, read_word_pairs
from quartet.evaluation.sets import KINDS
from tests.reliability.malformed.case import Case, as_json, as_jsonl, damaged_text

PAIR = "A man sings.,A man is singing.,4.5\n"
GLUE = "index\tsentence1\tsentence2\tscore\n0\tA man sings.\tA man is singing.\t4.5\n"
SICK = (
    "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    "1\tA man sings.\tA man is singing.\t4.5\tENTAILMENT\n"
)
SEMEVAL = "4.5\tA man sings.\tA man is singing.\n"

Texts = dict[str, tuple[str, bytes, str]]


def parquet(**columns: list[Any]) -> bytes:
    """A Parquet file of some columns."""
    import pyarrow
    import pyarrow.parquet

    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
    return buffer.getvalue()


def cases() -> Iterator[Case]:
    for form, (name, valid, texts) in FORMATS.items():
        for what, (file, data, says) in {**texts, **_damaged(name, valid.encode())}.items():
            yield Case(f"sts/{form}", what, {file: data}, published("sts", form, file), says)
    for what, (texts_, similarities, says) in LEE.items():
        files = {"texts.cor": texts_, "similarities.txt": similarities}
        yield Case("similarity/lee", what, files, _lee, says)
    for what, (data, says) in WORDS.items():
        yield Case("similarity/words", what, {"words.tsv": data}, _words, says)
    for what, (data, says) in LABELLED.items():
        yield Case("similarity/labelled", what, {"texts.cor": data}, _labelled, says)


def published(kind: str, form: str, file: str) -> Callable[[Path], list[Any]]:
    """The reader of a published set, for a file (or folder) in the case's folder."""
    return lambda folder: list(KINDS[kind][form].read(folder / file))


def _lee(folder: Path) -> object:
    return read_lee(folder / "texts.cor", folder / "similarities.txt")


def _words(folder: Path) -> object:
    return read_word_pairs(folder / "words.tsv")


def _labelled(folder: Path) -> object:
    return read_labelled(folder / "texts.cor")


def _damaged(name: str, valid: bytes) -> Texts:
    return {what: (file, data, says) for what, file, data, says in damaged_text(name, valid)}


def table(*rows: str, header: str = "") -> bytes:
    """Lines as a file, below a header."""
    return "".join(f"{row}\n" for row in ([header] if header else []) + list(rows)).encode()


def common(name: str) -> Texts:
    """What is wrong with any file of a published set; `name` is a table's."""
    root = name.partition(".")[0]
    return {
        "JSON that is cut short": (f"{root}.jsonl", b'{"a": 1', r"jsonl:1: not a line of JSON"),
        "JSON that is a list": (f"{root}.jsonl", b"[1, 2]\n", "jsonl:1: a JSON object was expected"),
        "JSON of 5,000 digits": (
            f"{root}.jsonl",
            b'{"label": ' + b"9" * 5000 + b"}\n",
            "jsonl:1: not a line of JSON",
        ),
        "ten thousand brackets": (f"{root}.jsonl", b"[" * 100_000, "jsonl:1: not a line of JSON"),
        "other columns": (f"{root}.parquet", parquet(a=[1], b=["x"]), "no column"),
        "a Parquet file that is cut short": (f"{root}.parquet", parquet(a=[1])[:-6], "not a Parquet file"),
        "a Parquet file that is text": (f"{root}.parquet", b"PAR1 hello PAR1", "not a Parquet file"),
        "an empty Parquet file": (f"{root}.parquet", b"", "not a Parquet file"),
    }


FORMATS: dict[str, tuple[str, str, Texts]] = {
    "stsb": (
        "dev.csv",
        PAIR,
        {
            "two columns": ("dev.csv", table("A man sings.,4.5"), "dev.csv:1: 2 columns, 3 were expected"),
            "a text with a comma": ("dev.csv", table("A man, he sings.,A man.,4.5"), "dev.csv:1: 4 columns"),
            "an open quote": (
                "dev.csv",
                table('"A man sings.,A man.,4.5'),
                "not a row of comma-separated values",
            ),
            "a score that is a word": ("dev.csv", table("A man.,A man.,good"), '"good" is not a number'),
            "a score above 5": ("dev.csv", table("A man.,A man.,5.1"), "the score 5.1 is not within 0 and 5"),
            "a score of -1": ("dev.csv", table("A man.,A man.,-1"), "without published scores"),
            "a score that is NaN": ("dev.csv", table("A man.,A man.,nan"), "nan is not a finite number"),
            "a score with an underscore": ("dev.csv", table("A man.,A man.,0_4"), '"0_4" is not a number'),
            "an empty sentence": ("dev.csv", table("A man.,  ,4.5"), "the second sentence is empty"),
            "a NUL": ("dev.csv", table("A m\0n.,A man.,4.5"), "dev.csv:1: a NUL byte"),
            "a carriage return within": (
                "dev.csv",
                b"A man.\rHe sings.,A man.,4.5\n",
                "dev.csv:1: not a row",
            ),
            "a field of 200,000 characters": (
                "dev.csv",
                table(f"{'a' * 200_000},b,4.5"),
                "dev.csv:1: not a row",
            ),
            "no score's column": (
                "dev.tsv",
                table("0\ta\tb", header="index\tsentence1\tsentence2"),
                "no column score",
            ),
            "a cell too few": (
                "dev.tsv",
                GLUE.encode() + b"1\ta\tb\n",
                "dev.tsv:3: 3 columns, the first line names 4",
            ),
            "a column twice": (
                "dev.tsv",
                table("4\ta\tb\t1", header="score\tsentence1\tsentence2\tscore"),
                "the column score twice",
            ),
            "an empty table": ("dev.tsv", b"", "dev.tsv: is empty"),
            "Parquet without a score": (
                "dev.parquet",
                parquet(sentence1=["a"], sentence2=["b"]),
                "no column label",
            ),
            "a likeness above 1": (
                "dev.parquet",
                parquet(sentence1=["a"], sentence2=["b"], score=[1.2]),
                "row 1: the score 1.2 is not within 0 and 1",
            ),
            "a sentence that is a number": (
                "dev.parquet",
                parquet(sentence1=[1], sentence2=["b"], score=[1.0]),
                "sentence1 is int, a text was expected",
            ),
            "a sentence that is missing": (
                "dev.parquet",
                parquet(sentence1=[None, "a"], sentence2=["b", "b"], score=[1.0, 1.0]),
                "row 1: sentence1 is NoneType",
            ),
        },
    ),
    "sick": (
        "test.txt",
        SICK,
        {
            "no judgement's column": (
                "test.txt",
                SICK.replace("\tentailment_judgment", "").encode(),
                "no column",
            ),
            "a pair twice": (
                "test.txt",
                (SICK + SICK.splitlines()[1] + "\n").encode(),
                "the pair 1 is there already",
            ),
            "an unknown judgement": (
                "test.txt",
                SICK.replace("ENTAILMENT", "MAYBE").encode(),
                "'MAYBE' is no label",
            ),
            "a score below 1": ("test.txt", SICK.replace("4.5", "0.5").encode(), "not within 1 and 5"),
            "commas for tabs": ("test.txt", SICK.replace("\t", ",").encode(), "no column"),
            "empty": ("test.txt", b"", "test.txt: is empty"),
        },
    ),
    "semeval": (
        "MSRpar.tsv",
        SEMEVAL,
        {
            "no score at all": ("MSRpar.tsv", table("\tA man.\tA man."), "holds no scored pair"),
            "a fourth column": ("MSRpar.tsv", table("4\tA man.\tA man.\tx"), "4 columns, 3 were expected"),
            "a score that is a word": ("MSRpar.tsv", table("four\ta\tb"), '"four" is not a number'),
            "empty": ("MSRpar.tsv", b"", "holds no scored pair"),
            "a score of 400 digits": (
                "MSRpar.jsonl",
                b'{"sentence1": "a", "sentence2": "b", "score": ' + b"9" * 400 + b"}\n",
                "MSRpar.jsonl:1",
            ),
            "a score that is null": (
                "MSRpar.jsonl",
                as_jsonl({"sentence1": "a", "sentence2": "b", "score": None}),
                "None is not a number",
            ),
            "half a surrogate pair": (
                "MSRpar.jsonl",
                as_jsonl({"sentence1": "\ud800", "sentence2": "b", "score": 1}),
                "half a surrogate pair",
            ),
            "a key twice": (
                "MSRpar.jsonl",
                b'{"sentence1": "a", "sentence2": "b", "score": 1, "score": 5}\n',
                'the key "score" twice',
            ),
            **common("MSRpar.tsv"),
        },
    ),
}

_documents = b"A heron.\nA fish.\nA river.\n"
_matrix = b"1\t0.5\t0.2\n0\t1\t0.3\n0\t0\t1\n"
LEE: dict[str, tuple[bytes, bytes, str]] = {
    "no documents": (b"", _matrix, "texts.cor: holds 0 documents"),
    "two documents": (b"A heron.\nA fish.\n", b"1\t0.5\n0\t1\n", "holds 2 documents, at least 3"),
    "an empty document": (b"A heron.\n\nA river.\n", _matrix, "texts.cor:2: an empty document"),
    "not Windows-1252": (
        b"A heron.\nA f\x81sh.\nA river.\n",
        _matrix,
        "texts.cor:2: byte 0x81 is not cp1252",
    ),
    "a row too few": (_documents, b"1\t0.5\t0.2\n0\t1\t0.3\n", "2 rows, but .* holds 3 documents"),
    "a column too few": (_documents, b"1\t0.5\n0\t1\n0\t0\n", "2 numbers, but"),
    "a word for a number": (
        _documents,
        _matrix.replace(b"0.5", b"half"),
        'similarities.txt:1: "half" is not',
    ),
    "NaN": (_documents, _matrix.replace(b"0.5", b"nan"), "nan is not a finite number"),
    "infinity": (_documents, _matrix.replace(b"0.5", b"1e999"), "inf is not a finite number"),
    "an underscore": (_documents, _matrix.replace(b"0.5", b"0_5"), '"0_5" is not a number'),
    "commas for tabs": (_documents, _matrix.replace(b"\t", b","), "1 numbers, but"),
    "a NUL": (_documents, _matrix.replace(b"0.5", b"0.\x005"), "similarities.txt:1: a NUL"),
}

WORDS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "holds no pair of words"),
    "notes alone": (b"# a note\n", "holds no pair of words"),
    "two columns": (b"tiger\tcat\n", "words.tsv:1: two words and a score"),
    "commas": (b"tiger,cat,7.35\n", "words.tsv:1: two words and a score"),
    "no second word": (b"tiger\t\t7.35\n", "words.tsv:1: two words and a score"),
    "a word for a score": (b"tiger\tcat\tvery\n", '"very" is not a number'),
    "NaN": (b"tiger\tcat\tnan\n", "nan is not a finite number"),
    "a score of 400 digits": (b"tiger\tcat\t" + b"9" * 400 + b"\n", "inf is not a finite number"),
    "Latin-1": (b"caf\xe9\tcat\t7\n", "words.tsv:1: byte 0xe9 is not utf-8"),
    "a header": (b"word1\tword2\tscore\ntiger\tcat\t7\n", '"score" is not a number'),
    "a NUL": (b"ti\0er\tcat\t7.35\n", "words.tsv:1: a NUL"),
}

LABELLED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "fewer than two different labels"),
    "one label": (b"__label__pos good\n__label__pos fine\n", "fewer than two different labels"),
    "no label": (b"__label__pos good\nbad\n", "texts.cor:2: a line .* was expected"),
    "a label without a name": (b"__label__ good\n", "texts.cor:1: a line"),
    "a label without a text": (b"__label__pos\n", "texts.cor:1: the label has no text"),
    "a blank line": (b"__label__pos good\n\n__label__neg bad\n", "texts.cor:2: a line"),
    "not Windows-1252": (b"__label__pos g\x81\n", "byte 0x81 is not cp1252"),
    "a NUL": (b"__label__pos go\0d\n__label__neg bad\n", "texts.cor:1: a NUL"),
    "JSON": (as_json({"text": "good", "label": 1}), "texts.cor:1: a line"),
}
