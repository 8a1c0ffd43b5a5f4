"""Files that N-best lists come with: costs, references, and what `quartet rescore` wrote of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from quartet.nbest.formats import Files
from quartet.nbest.rescored import read_rescored
from tests.reliability.malformed.case import Case, as_json, as_jsonl
from tests.reliability.malformed.lists import LINE, LIST, reader

WRITTEN = {"utt": "u1", "ref": "the cat", "best": "the cat", "hypotheses": [{"text": "the cat", "lm": -3.0}]}


def cases() -> Iterator[Case]:
    yield from _files()
    for what, (name, data, says) in REFERENCES.items():
        texts = {"lists.json": as_json({"u1": LIST, "u2": LIST}), name: data}
        given = Files(Path("lists.json"), references=Path(name))
        yield Case("nbest/references", what, texts, reader("mlm-scoring", given), says)
    for what, (data, says) in RESCORED.items():
        yield Case(
            "nbest/rescored", what, {"out.jsonl": data}, lambda at: read_rescored(at / "out.jsonl"), says
        )


def _files() -> Iterator[Case]:
    """Files that do not go together."""
    lists, kaldi = as_json({"u1": LIST}), b"u1-1 the cat\nu1-2 a cat\n"
    moses = b"0 ||| the cat ||| f= 1 ||| -1.5\n3 ||| a cat ||| f= 1 ||| -2.5\n"
    together: dict[str, tuple[str, Files, dict[str, bytes], str]] = {
        "costs of a format without": (
            "mlm-scoring",
            Files(Path("a"), ((Path("b"), 1.0),)),
            {"a": lists, "b": b"u1-1 1\n"},
            "has its scores in the same file",
        ),
        "a beam of a format without": (
            "mlm-scoring",
            Files(Path("a"), beam=2),
            {"a": lists},
            "tells its hypotheses",
        ),
        "no beam of a format with": (
            "nemo",
            Files(Path("a")),
            {"a": b"a\t-1\n"},
            "needs to be told the beam",
        ),
        "a cost too few": (
            "kaldi",
            Files(Path("a"), ((Path("b"), 1.0),)),
            {"a": kaldi, "b": b"u1-1 1.5\n"},
            'b: has no line "u1-2"',
        ),
        "a cost too many": (
            "kaldi",
            Files(Path("a"), ((Path("b"), 1.0),)),
            {"a": kaldi, "b": b"u1-1 1\nu1-2 2\nu1-3 3\n"},
            'a: has no line "u1-3"',
        ),
        "a cost that is none": (
            "kaldi",
            Files(Path("a"), ((Path("b"), 1.0),)),
            {"a": kaldi, "b": b"u1-1 one\nu1-2 2\n"},
            'b:1: a finite number was expected as the cost, not "one"',
        ),
        "costs that overflow": (
            "kaldi",
            Files(Path("a"), ((Path("b"), 1e300),)),
            {"a": kaldi, "b": b"u1-1 1e300\nu1-2 2\n"},
            "u1.*finite",
        ),
        "fewer references than sentences": (
            "moses",
            Files(Path("a"), references=Path("b")),
            {"a": moses, "b": b"the cat\na cat\n"},
            r"b: has 2 lines, and the lists go up to number 3",
        ),
        "another number of references": (
            "nemo",
            Files(Path("a"), references=Path("b"), beam=1),
            {"a": b"the cat\t-1\n", "b": b"the cat\na cat\n"},
            "b: has 2 lines for 1 lists",
        ),
    }
    for what, (form, files, texts, says) in together.items():
        yield Case("nbest/files", what, texts, reader(form, files), says)


REFERENCES: dict[str, tuple[str, bytes, str]] = {
    "empty": ("refs.txt", b"", "refs.txt: is empty"),
    "of other utterances": ("refs.txt", b"v1 the cat\nv2 a cat\n", "none of its utterances"),
    "an utterance twice": ("refs.txt", b"u1 the cat\nu1 a cat\n", 'refs.txt:2: utterance "u1" occurs twice'),
    "no end of the last line": ("refs.txt", b"u1 the cat\nu2 a cat", "the last line does not end"),
    "Latin-1": ("refs.txt", b"u1 caf\xe9\n", "line 1: byte 0xe9 is not UTF-8"),
    "a NUL": ("refs.txt", b"u1 the c\0t\n", "refs.txt:1: a NUL"),
    "JSON that is a list": ("refs.json", b'["the cat"]', "an object of references was expected, not a list"),
    "JSON that is cut short": ("refs.json", b'{"u1": "the', "refs.json:1:.*not valid JSON"),
    "a text that is a number": ("refs.json", b'{"u1": 7}', '"u1": a text was expected'),
    "JSON with an utterance twice": ("refs.json", b'{"u1": "a", "u1": "b"}', '"u1" occurs twice'),
    "no name in TRN": ("refs.trn", b"the cat\n", r'refs.trn:1: "text \(utterance\)" was expected'),
    "alternatives in TRN": ("refs.trn", b"{ the / a } cat (u1)\n", "leaves the choice"),
    "optional words in TRN": (
        "refs.txt",
        b"the (uh) cat (u1)\na cat (u2)\n",
        r"leaves the choice whether \(uh\)",
    ),
    "two channels in STM": (
        "refs.stm",
        b"u1 A s 0.0 1.0 the cat\nu1 B s 0.0 1.0 a cat\n",
        '"u1" has two channels, A and B',
    ),
    "a line of CTM that is none": ("refs.ctm", b"u1 1 0.0 0.5 the\nu1 cat\n", 'refs.ctm:2: "file channel'),
    "subtitles": ("refs.srt", b"1\n00:00:00,000 --> 00:00:01,000\nthe cat\n", "is a file of subtitles"),
    "a table without a header": ("refs.tsv", b"u1\t1\tthe cat\nu2\t2\ta cat\n", "has 3 columns"),
    "a table with a column too many": ("refs.csv", b"id,text\nu1,the,cat\n", "refs.csv:2: has 3 columns"),
    "SGM of lists with names": (
        "refs.sgm",
        b'<refset><seg id="1">the cat</seg></refset>\n',
        "order and no names",
    ),
    "a manifest without texts": ("refs.json", b'{"id": "u1"}\n{"id": "u2"}\n', "refs.json:1: has no text"),
    "UTF-16 that is cut": ("refs.txt", "u1 é\n".encode("utf-16")[:-1], "begins as UTF-16 does and is none"),
    "zstd": ("refs.txt.zst", b"\x28\xb5\x2f\xfd\0", "is packed with zstd, which is not read; unpack it"),
    "a zip archive": ("refs.zip", b"PK\x03\x04\0", "is packed with zip, which is not read; unpack it"),
    "bzip2 cut short": ("refs.txt.bz2", b"BZh9", "the bzip2 data are broken"),
    "gzip cut short": ("refs.txt.gz", b"\x1f\x8b\x08\x00", "the gzip data are broken"),
}

RESCORED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "holds no list"),
    "cut short": (as_jsonl(WRITTEN)[:-8], "out.jsonl:1.*not valid JSON"),
    "N-best lists instead": (as_jsonl(LINE), 'has no "best"'),
    "an utterance twice": (as_jsonl(WRITTEN, WRITTEN), '"u1" occurs twice'),
    "a best that is none of them": (
        as_jsonl({**WRITTEN, "best": "a dog"}),
        '"best" is none of its hypotheses',
    ),
    "a hypothesis without a text": (
        as_jsonl({**WRITTEN, "hypotheses": [{"lm": -1}]}),
        "text: a text was expected",
    ),
    "a score that is NaN": (
        as_jsonl({**WRITTEN, "hypotheses": [{"text": "the cat", "lm": float("nan")}]}),
        "the score is nan",
    ),
    "hypotheses that are a text": (
        as_jsonl({**WRITTEN, "hypotheses": "the cat"}),
        "hypotheses: a list was expected",
    ),
    "Latin-1": (as_jsonl(WRITTEN).replace(b"cat", b"c\xe9t"), "is not UTF-8"),
}
