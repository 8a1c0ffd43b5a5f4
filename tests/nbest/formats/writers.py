"""Writers of every format and plain readings of their bytes, for tests that hold the readers against them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from quartet.nbest.formats import NBestFiles
from quartet.nbest.types import Hypothesis, NBest

#: An utterance, a text and a score as a file has them.
Fact = tuple[str, str, float | None]
ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r\t|\u2581<>"), max_size=6)
WORDS = PLAIN.map(lambda text: " ".join(text.split()))
SCORE = st.floats(allow_nan=False, allow_infinity=False)


@dataclass(frozen=True)
class Case:
    """How a format is tested.

    Attributes:
        write: lists -> its files' bytes by name, "lists" the hypotheses'.
        facts: the files' bytes -> what they say, read without any check.
        text, names: texts and utterances that the format can hold.
        references: whether it holds references.
        unscored: whether it can go without scores.
        closed: whether a cut always shows; else a file may end with any list, or hypothesis, of the whole.
        beam: the same number of hypotheses in every list; 0: any.
    """

    write: Callable[[list[NBest]], dict[str, bytes]]
    facts: Callable[[dict[str, bytes]], Iterator[Fact]]
    text: st.SearchStrategy[str]
    names: Callable[[int], st.SearchStrategy[list[str]]] = lambda count: _unique(
        st.text(ANY, max_size=4), count
    )
    references: bool = True
    unscored: bool = True
    closed: bool = True
    beam: int = 0

    def lists(self) -> st.SearchStrategy[list[NBest]]:
        """Lists that the format can hold."""
        return st.tuples(st.integers(1, 4), st.booleans() if self.unscored else st.just(True)).flatmap(
            lambda drawn: self.names(drawn[0]).flatmap(
                lambda names: st.tuples(*(self._list(name, drawn[1]) for name in names)).map(list)
            )
        )

    def _list(self, name: str, scored: bool) -> st.SearchStrategy[NBest]:
        hypothesis = st.builds(Hypothesis, self.text, SCORE if scored else st.none())
        sizes = (self.beam, self.beam) if self.beam else (1, 3)
        hypotheses = st.lists(hypothesis, min_size=sizes[0], max_size=sizes[1]).map(tuple)
        references = st.none() | self.text if self.references else st.none()
        return st.builds(NBest, st.just(name), hypotheses, references)

    def files(self, folder: Path, data: dict[str, bytes]) -> NBestFiles:
        """The data written into a folder."""
        for name, content in data.items():
            (folder / name).write_bytes(content)
        scores = tuple((folder / name, 1.0) for name in data if name != "lists")
        return NBestFiles(folder / "lists", scores, beam=self.beam or None)


def _unique(names: st.SearchStrategy[str], count: int) -> st.SearchStrategy[list[str]]:
    return st.lists(names, min_size=count, max_size=count, unique=True)


def _numbers(first: int) -> Callable[[int], st.SearchStrategy[list[str]]]:
    return lambda count: st.just([str(first + index) for index in range(count)])


def _scored(hypothesis: Hypothesis) -> dict[str, Any]:
    return {} if hypothesis.score is None else {"score": hypothesis.score}


def _known(one: NBest, key: str) -> dict[str, Any]:
    return {} if one.reference is None else {key: one.reference}


def _mlm_scoring(lists: list[NBest]) -> dict[str, bytes]:
    root = {
        one.utterance: _known(one, "ref")
        | {f"hyp_{rank}": {"text": each.text, **_scored(each)} for rank, each in enumerate(one.hypotheses, 1)}
        for one in lists
    }
    return {"lists": json.dumps(root).encode()}


def _mlm_scoring_facts(data: dict[str, bytes]) -> Iterator[Fact]:
    for utterance, value in json.loads(data["lists"]).items():
        inner = value.get("hyp", value)
        for key in inner:
            if key.startswith("hyp_"):
                yield utterance, inner[key]["text"], inner[key].get("score")


def _jsonl(lists: list[NBest]) -> dict[str, bytes]:
    rows = []
    for one in lists:
        hypotheses = [{"text": each.text, **_scored(each)} for each in one.hypotheses]
        rows.append({"utt": one.utterance, **_known(one, "ref"), "hypotheses": hypotheses})
    return {"lists": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()}


def _jsonl_facts(data: dict[str, bytes]) -> Iterator[Fact]:
    for line in data["lists"].split(b"\n"):
        if line.strip():
            row = json.loads(line)
            for each in row["hypotheses"]:
                yield row["utt"], each["text"], each.get("score")


def _espnet(lists: list[NBest]) -> dict[str, bytes]:
    utterances = {}
    for one in lists:
        output = []
        for each in one.hypotheses:
            text = "\u2581" + each.text.replace(" ", "\u2581") + "<eos>"
            output.append({"rec_text": text, **_scored(each), **_known(one, "text")})
        utterances[one.utterance] = {"output": output}
    return {"lists": json.dumps({"utts": utterances}).encode()}


def _espnet_facts(data: dict[str, bytes]) -> Iterator[Fact]:
    for utterance, value in json.loads(data["lists"])["utts"].items():
        for each in value["output"]:
            text = (
                each["rec_text"].strip().removesuffix("<eos>").replace("\u2581", " ").replace("<space>", " ")
            )
            yield utterance, " ".join(text.split()), each.get("score")


def _hyporadise(lists: list[NBest]) -> dict[str, bytes]:
    rows = []
    for one in lists:
        row: dict[str, Any] = {"id": one.utterance, "input": [each.text for each in one.hypotheses]}
        if not one.ranked_only:
            row["score"] = one.first_pass
        rows.append(row | _known(one, "output"))
    return {"lists": json.dumps(rows).encode()}


def _hyporadise_facts(data: dict[str, bytes]) -> Iterator[Fact]:
    for number, row in enumerate(json.loads(data["lists"]), start=1):
        scores = row.get("score", row.get("am_score", [None] * len(row["input"])))
        for text, score in zip(row["input"], scores, strict=True):
            yield row.get("id", str(number)), text, score


def _moses(lists: list[NBest]) -> dict[str, bytes]:
    pairs = [(one.utterance, each) for one in lists for each in one.hypotheses]
    rows = [f"{name} ||| {each.text} ||| LM0= -1 2 ||| {each.score!r}\n" for name, each in pairs]
    return {"lists": "".join(rows).encode()}


def _lines(data: bytes) -> Iterator[str]:
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line:
            yield line.removesuffix(b"\r").decode()


def _moses_facts(data: dict[str, bytes]) -> Iterator[Fact]:
    for line in _lines(data["lists"]):
        utterance, text, _, score = line.split("|||")[:4]
        yield utterance.strip(" \t"), text.strip(" \t"), float(score)


def _nemo(lists: list[NBest]) -> dict[str, bytes]:
    rows = [f"{each.text}\t{each.score!r}" for one in lists for each in one.hypotheses]
    return {"lists": "".join(row + "\n" for row in rows).encode()}


def _nemo_facts(data: dict[str, bytes]) -> Iterator[Fact]:
    for place, line in enumerate(_lines(data["lists"])):
        text, score = line.split("\t")
        yield str(place // 2 + 1), text.strip(" \t"), float(score)


def _kaldi(lists: list[NBest]) -> dict[str, bytes]:
    rows = [(f"{one.utterance}-{rank}", each) for one in lists for rank, each in enumerate(one.hypotheses, 1)]
    data = {"lists": "".join(f"{key} {each.text}\n" for key, each in rows).encode()}
    if rows[0][1].score is not None:
        data["costs"] = "".join(f"{key} {-(each.score or 0.0)!r}\n" for key, each in rows).encode()
    return data


def _kaldi_facts(data: dict[str, bytes]) -> Iterator[Fact]:
    costs = dict(line.split(" ", 1) for line in _lines(data["costs"])) if "costs" in data else None
    for line in _lines(data["lists"]):
        key, _, text = line.partition(" ")
        yield key.rpartition("-")[0], text.strip(" \t"), None if costs is None else -float(costs[key])


KEYS = st.text(st.sampled_from("ab-1é"), min_size=1, max_size=4)
SENTENCES = st.text(ANY, max_size=6)
CASES: dict[str, Case] = {
    "mlm-scoring": Case(_mlm_scoring, _mlm_scoring_facts, SENTENCES),
    "jsonl": Case(_jsonl, _jsonl_facts, SENTENCES, closed=False),
    "espnet": Case(_espnet, _espnet_facts, WORDS),
    "hyporadise": Case(_hyporadise, _hyporadise_facts, SENTENCES),
    "moses": Case(
        _moses, _moses_facts, PLAIN.map(lambda text: text.strip(" ")), _numbers(0),
        references=False, unscored=False, closed=False,
    ),
    "nemo": Case(
        _nemo, _nemo_facts, PLAIN.map(lambda text: text.strip(" ")), _numbers(1),
        references=False, unscored=False, closed=False, beam=2,
    ),
    "kaldi": Case(
        _kaldi, _kaldi_facts, WORDS, lambda count: _unique(KEYS, count), references=False, closed=False
    ),
}  # fmt: skip
