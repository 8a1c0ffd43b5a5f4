"""N-best lists in each of the formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from quartet.nbest.formats import Files, read
from tests.reliability.malformed.case import Case, as_json, as_jsonl, damaged_text, without

HYP = {"text": "the cat", "score": -1.5}
LIST = {"ref": "the cat", "hyp_1": HYP, "hyp_2": {"text": "a cat", "score": -2.5}}
LINE = {"utt": "u1", "ref": "the cat", "hypotheses": [HYP, {"text": "a cat", "score": -2.5}]}
OUTPUT = {"rec_text": "\u2581the\u2581cat<eos>", "score": -1.5, "text": "the cat"}
PORADISE = {"input": ["the cat", "a cat"], "output": "the cat", "score": [-1.5, -2.5]}

#: By format: the file's name, one that is well-formed, and what is malformed with what is said of it.
Texts = dict[str, tuple[bytes, str]]


def cases() -> Iterator[Case]:
    for form, (name, valid, texts) in FORMATS.items():
        files = Files(Path(name), beam=2 if form == "nemo" else None)
        for what, (data, says) in {**texts, **EVERYWHERE}.items():
            yield Case(f"nbest/{form}", what, {name: data}, reader(form, files), says)
        for what, where, data, says in damaged_text(name, valid):
            if what == "UTF-16":  # is read where it says so
                what, data = "UTF-16 without its mark", valid.decode().encode("utf-16-le")
                says = "NUL|UTF-8|not valid JSON"
            yield Case(
                f"nbest/{form}", what, {where: data}, reader(form, Files(Path(where), beam=files.beam)), says
            )
        yield Case(f"nbest/{form}", "no such file", {}, reader(form, files), f"{name}: cannot be read")


def reader(form: str, files: Files) -> Callable[[Path], object]:
    def found(folder: Path) -> object:
        placed = Files(
            folder / files.hypotheses,
            tuple((folder / path, weight) for path, weight in files.scores),
            None if files.references is None else folder / files.references,
            files.beam,
        )
        return read(form, placed)

    return found


EVERYWHERE: Texts = {
    "empty": (b"", "not valid JSON|holds no N-best list"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) + b"\n", "UTF-8"),
    "HTML": (b"<!DOCTYPE html>\n<html><body>404</body></html>\n", r":1"),
}

_huge, _deep = b"9" * 5000, b"[" * 100_000
FORMATS: dict[str, tuple[str, bytes, Texts]] = {
    "mlm-scoring": (
        "lists.json",
        as_json({"u1": LIST}),
        {
            "cut short": (as_json({"u1": LIST})[:-9], r"lists.json:1:\d+: not valid JSON"),
            "a list": (as_json([LIST]), "an object of utterances was expected, not a list"),
            "no utterance": (b"{}", "holds no N-best list"),
            "an utterance twice": (
                b'{"u1": %s, "u1": %s}' % (as_json(LIST), as_json(LIST)),
                '"u1": occurs twice',
            ),
            "an utterance that is a text": (
                as_json({"u1": "the cat"}),
                '"u1": an object was expected, not a text',
            ),
            "no hypothesis": (as_json({"u1": {"ref": "the cat"}}), '"u1": has no hypothesis'),
            "a gap": (as_json({"u1": {**LIST, "hyp_4": HYP}}), "hyp_3 is missing but hyp_4 is there"),
            "numbered from 0": (as_json({"u1": {"hyp_0": HYP}}), 'the key "hyp_0" is not hyp_1'),
            "no text": (as_json({"u1": {"hyp_1": {"score": -1}}}), 'hyp_1: has no "text"'),
            "a text that is a number": (as_json({"u1": {"hyp_1": {"text": 7}}}), "text: a text was expected"),
            "a score that is a text": (
                as_json({"u1": {"hyp_1": {**HYP, "score": "-1"}}}),
                "score: a number was",
            ),
            "a score that is NaN": (
                as_json({"u1": {"hyp_1": {**HYP, "score": float("nan")}}}),
                "the score is nan",
            ),
            "a score that is infinite": (
                b'{"u1": {"hyp_1": {"text": "a", "score": -1e999}}}',
                "the score is -inf",
            ),
            "a score of 5,000 digits": (
                b'{"u1": {"hyp_1": {"text": "a", "score": ' + _huge + b"}}}",
                "not usable JSON",
            ),
            "a score of 400 digits": (
                b'{"u1": {"hyp_1": {"text": "a", "score": ' + b"9" * 400 + b"}}}",
                "the score is inf",
            ),
            "one score is missing": (
                as_json({"u1": {**LIST, "hyp_2": {"text": "a"}}}),
                "hypothesis 2 has no score and others have one",
            ),
            "scores in one list only": (
                as_json({"u1": LIST, "u2": {"hyp_1": {"text": "a"}}}),
                "has no scores and",
            ),
            "a reference that is a list": (
                as_json({"u1": {**LIST, "ref": ["a"]}}),
                "ref: a text was expected",
            ),
            "a key twice": (
                b'{"u1": {"ref": "a", "ref": "b", "hyp_1": {"text": "a"}}}',
                '"ref" occurs twice',
            ),
            "half a surrogate pair": (b'{"u1": {"hyp_1": {"text": "\\ud800"}}}', "half a surrogate pair"),
            "a NUL in a text": (b'{"u1": {"hyp_1": {"text": "a\\u0000b"}}}', "a NUL"),
            "ten thousand brackets": (_deep, "not usable JSON"),
            "JSON lines": (as_jsonl({"u1": LIST}, {"u2": LIST}), "one object a line is of the format jsonl"),
            "single quotes": (b"{'u1': 1}", "not valid JSON"),
        },
    ),
    "jsonl": (
        "lists.jsonl",
        as_jsonl(LINE),
        {
            "cut short": (as_jsonl(LINE, LINE)[:-9], r"lists.jsonl:2:\d+: not valid JSON"),
            "a list": (as_jsonl([LINE]), "an object was expected, not a list"),
            "no name": (as_jsonl(without(LINE, "utt")), 'lists.jsonl:1: has no "utt"'),
            "a name that is a number": (as_jsonl({**LINE, "utt": 1}), "utt: a text was expected"),
            "an utterance twice": (as_jsonl(LINE, LINE), "occurs twice, first on line 1"),
            "an unknown key": (as_jsonl({**LINE, "scores": [1]}), 'unknown key "scores"'),
            "no hypothesis": (as_jsonl({**LINE, "hypotheses": []}), "has no hypothesis"),
            "hypotheses that are texts": (
                as_jsonl({**LINE, "hypotheses": ["a"]}),
                "hypothesis 1: an object was",
            ),
            "hypotheses that are an object": (
                as_jsonl({**LINE, "hypotheses": {"a": 1}}),
                "hypotheses: a list was",
            ),
            "an unknown key of a hypothesis": (
                as_jsonl({**LINE, "hypotheses": [{**HYP, "scor": 1}]}),
                'unknown key "scor"',
            ),
            "a score that is null": (
                as_jsonl({**LINE, "hypotheses": [{**HYP, "score": None}]}),
                "a number was expected",
            ),
            "a score that is true": (as_jsonl({**LINE, "hypotheses": [{**HYP, "score": True}]}), "not true"),
            "a NUL": (as_jsonl(LINE).replace(b"cat", b"c\0t", 1), "lists.jsonl:1"),
            "two objects on a line": (as_json(LINE) + as_jsonl(LINE), "Extra data"),
        },
    ),
    "espnet": (
        "data.json",
        as_json({"utts": {"u1": {"output": [OUTPUT]}}}),
        {
            "cut short": (
                as_json({"utts": {"u1": {"output": [OUTPUT]}}})[:-4],
                "data.json:1:.*not valid JSON",
            ),
            "no utts": (as_json({"u1": {"output": [OUTPUT]}}), 'an object under "utts"'),
            "utts that are a list": (as_json({"utts": [OUTPUT]}), 'an object under "utts"'),
            "no output": (as_json({"utts": {"u1": {"text": "a"}}}), 'has no "output"'),
            "an empty output": (as_json({"utts": {"u1": {"output": []}}}), "has no hypothesis"),
            "an output that is an object": (
                as_json({"utts": {"u1": {"output": OUTPUT}}}),
                "output: a list was",
            ),
            "no rec_text": (
                as_json({"utts": {"u1": {"output": [without(OUTPUT, "rec_text")]}}}),
                'output 1: has no "rec_text"',
            ),
            "two references": (
                as_json({"utts": {"u1": {"output": [OUTPUT, {**OUTPUT, "text": "a cat"}]}}}),
                "is not that of the first",
            ),
            "a score that is a text": (
                as_json({"utts": {"u1": {"output": [{**OUTPUT, "score": "-1.5"}]}}}),
                "score: a number was expected",
            ),
            "one score is missing": (
                as_json({"utts": {"u1": {"output": [OUTPUT, without(OUTPUT, "score")]}}}),
                "has no score and others have one",
            ),
        },
    ),
    "hyporadise": (
        "hypo.json",
        as_json([PORADISE]),
        {
            "cut short": (as_json([PORADISE])[:-2], "hypo.json:1:.*not valid JSON"),
            "an object": (as_json(PORADISE), "a list was expected, not an object"),
            "an entry that is a text": (as_json(["the cat"]), "entry 1: an object was expected"),
            "no input": (as_json([without(PORADISE, "input")]), 'has no "input"'),
            "an empty input": (as_json([{**PORADISE, "input": [], "score": []}]), "has no hypothesis"),
            "an input that is a text": (
                as_json([{**PORADISE, "input": "the cat"}]),
                "input: a list was expected",
            ),
            "a hypothesis that is a number": (
                as_json([{**PORADISE, "input": [1, 2]}]),
                "input 1: a text was expected",
            ),
            "a score too few": (as_json([{**PORADISE, "score": [-1.5]}]), "has 1 scores for 2 hypotheses"),
            "a score that is a text": (
                as_json([{**PORADISE, "score": [-1.5, "-2"]}]),
                "score 2: a number was",
            ),
            "two kinds of scores": (
                as_json([{**PORADISE, "am_score": [-1, -2]}]),
                "which are the first pass's",
            ),
            "an id twice": (as_json([{**PORADISE, "id": "a"}, {**PORADISE, "id": "a"}]), "occurs twice"),
            "an id that is a number": (as_json([{**PORADISE, "id": 7}]), "id: a text was expected"),
        },
    ),
    "moses": (
        "nbest.txt",
        b"0 ||| the cat ||| f= 1 ||| -1.5\n0 ||| a cat ||| f= 1 ||| -2.5\n",
        {
            "no end of the last line": (b"0 ||| the cat ||| f= 1 ||| -1.5", "the last line does not end"),
            "three fields": (b"0 ||| the cat ||| -1.5\n", "has 3 fields"),
            "no number": (b"the cat ||| a ||| b ||| -1\n", "does not start with a sentence's number"),
            "a negative number": (
                b"-1 ||| the cat ||| f= 1 ||| -1\n",
                "does not start with a sentence's number",
            ),
            "a number of 40 digits": (b"9" * 40 + b" ||| the cat ||| f ||| -1\n", "does not start"),
            "a score that is a word": (b"0 ||| the cat ||| f= 1 ||| good\n", 'as the score, not "good"'),
            "a score that is NaN": (b"0 ||| the cat ||| f= 1 ||| nan\n", 'as the score, not "nan"'),
            "a score that is infinite": (b"0 ||| the cat ||| f= 1 ||| 1e999\n", "the score is inf"),
            "a score with an underscore": (b"0 ||| the cat ||| f= 1 ||| 1_0\n", 'as the score, not "1_0"'),
            "a sentence in two places": (
                b"0 ||| a ||| f ||| -1\n1 ||| b ||| f ||| -1\n0 ||| c ||| f ||| -1\n",
                "occurs twice, first on line 1",
            ),
            "two lines that run together": (
                b"0 ||| a ||| f ||| -1 ||| 0-0 1 ||| b ||| f ||| -1\n",
                "two lines may run together",
            ),
            "a NUL": (b"0 ||| the c\0t ||| f= 1 ||| -1.5\n", "nbest.txt:1: a NUL"),
        },
    ),
    "nemo": (
        "beams.tsv",
        b"the cat\t-1.5\na cat\t-2.5\n",
        {
            "no end of the last line": (b"the cat\t-1.5\na cat\t-2.5", "the last line does not end"),
            "a line too few": (b"the cat\t-1.5\na cat\t-2.5\nthe hat\t-1\n", "has 1 of 2 lines"),
            "no tab": (b"the cat -1.5\na cat -2.5\n", "not 1 fields"),
            "a column too many": (b"the cat\t-1.5\tx\na cat\t-2.5\tx\n", "not 3 fields"),
            "a blank line": (b"the cat\t-1.5\n\n", "not 1 fields"),
            "a score that is a word": (b"the cat\tgood\na cat\t-2.5\n", 'as the score, not "good"'),
            "no score": (b"the cat\t\na cat\t-2.5\n", 'as the score, not ""'),
            "a NUL": (b"the c\0t\t-1.5\na cat\t-2.5\n", "beams.tsv:1: a NUL"),
        },
    ),
    "kaldi": (
        "text",
        b"u1-1 the cat\nu1-2 a cat\n",
        {
            "no end of the last line": (b"u1-1 the cat", "the last line does not end"),
            "no rank": (b"u1 the cat\n", '"u1" is not an utterance, a minus and a rank'),
            "rank 0": (b"u1-0 the cat\n", '"u1-0" is not an utterance'),
            "a gap": (b"u1-1 the cat\nu1-3 a cat\n", "u1-2 is missing but u1-3 is there"),
            "ranks from 2": (b"u1-2 the cat\n", "u1-1 is missing but u1-2 is there"),
            "the last of a thousand million": (b"u1-999999999 the cat\n", "u1-1 is missing"),
            "a key twice": (b"u1-1 the cat\nu1-1 a cat\n", 'the key "u1-1" occurs twice'),
            "a line of blanks": (b"u1-1 the cat\n  \n", "is not an utterance"),
            "a NUL": (b"u1-1 the c\0t\n", "text:1: a NUL"),
        },
    ),
}
