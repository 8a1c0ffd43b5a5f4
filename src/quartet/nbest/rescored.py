"""The reranked lists as JSON lines: one list a line, in the input's order, its hypotheses best first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quartet.errors import InputError
from quartet.files import atomic_path, write_jsonl
from quartet.nbest.formats import strict, text_file
from quartet.nbest.rerank import Candidates


@dataclass(frozen=True)
class Rescored:
    """A line of a written result.

    Attributes:
        utterance, reference, best: as written.
        lm: by text, the language model's score of each hypothesis.
    """

    utterance: str
    reference: str | None
    best: str
    lm: dict[str, float]


def rescored_rows(candidates: Candidates, weight: float) -> Iterator[dict[str, Any]]:
    """One row a list: "utt", "ref" if known, "best", "hypotheses" ("text", "first_pass", "lm", "score").

    The texts are those of the lists as they were scored and counted, so that another tool's word error rate
    of "best" against "ref" is the reported one. Where the first pass gave no scores, "first_pass" is minus
    the rank.
    """
    scores = candidates.scores(weight)
    offsets = candidates.table.offsets
    for one, start, order in zip(candidates.lists, offsets[:-1], candidates.ranking(weight), strict=True):
        hypotheses = [
            {
                "text": one.hypotheses[index].text,
                "first_pass": float(candidates.first_pass[start + index]),
                "lm": float(candidates.lm[start + index]),
                "score": float(scores[start + index]),
            }
            for index in order
        ]
        known = {} if one.reference is None else {"ref": one.reference}
        yield {"utt": one.utterance, **known, "best": hypotheses[0]["text"], "hypotheses": hypotheses}


def write_rescored(path: str | Path, candidates: Candidates, weight: float) -> None:
    """Write the lists of `candidates` reranked with `weight`, atomically; equal input gives equal bytes."""
    write_jsonl(path, rescored_rows(candidates, weight))


def write_texts(
    rows: Iterable[Mapping[str, Any]], texts: str | Path | None, references: str | Path | None = None
) -> int:
    """Write the best hypotheses, a line each, and the references likewise, as they were counted: plain text.

    With references, both files have the lists that have one, so that their lines go together: what
    ``jiwer -r REFERENCES -h TEXTS`` and ``sacrebleu REFERENCES -i TEXTS`` want, whose figures are then ours.
    (jiwer's command, as of version 4, drops lines of fewer than two letters from either file. Where there is one,
    its figure is of other lines, and only its Python functions give ours.)

    Args:
        rows: as `rescored_rows` gives them.
        texts, references: where they go; None: nowhere.

    Returns:
        How many lines have fewer than two letters.
    """
    kept = [row for row in rows if references is None or "ref" in row]
    short = 0
    for path, key in ((texts, "best"), (references, "ref")):
        if path is not None:
            lines = [str(row[key]) for row in kept]
            with atomic_path(path) as temporary:
                temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            short += sum(len(line) < 2 for line in lines)
    return short


def read_rescored(path: str | Path) -> list[Rescored]:
    """The lines of a written result, in its order.

    Raises:
        InputError: a line is none, or an utterance occurs twice; it names the line.
    """
    found: list[Rescored] = []
    seen: set[str] = set()
    for number, line in text_file.lines(path, closed=False):
        place = f"{path}:{number}"
        if isinstance(line, InputError):
            raise line
        if not line.strip(text_file.BLANK):
            continue
        try:
            fields = strict.unique(strict.parse(line, path, number), place)
        except InputError as error:
            raise InputError(error.place, error.reason, "take what quartet rescore wrote") from error
        one = _row(fields, place)
        if one.utterance in seen:
            raise InputError(place, f'utterance "{one.utterance}" occurs twice')
        seen.add(one.utterance)
        found.append(one)
    if not found:
        raise InputError(path, "holds no list")
    return found


def _row(fields: dict[str, Any], place: str) -> Rescored:
    for key in ("utt", "best", "hypotheses"):
        if key not in fields:
            raise InputError(place, f'has no "{key}"', "take what quartet rescore wrote")
    lm = {}
    for index, entry in enumerate(strict.elements(fields["hypotheses"], f"{place}, hypotheses"), start=1):
        inner = f"{place}, hypothesis {index}"
        hypothesis = strict.unique(entry, inner)
        text = strict.text_of(hypothesis.get("text"), f"{inner}, text")
        lm[text] = strict.score_of(hypothesis.get("lm"), f"{inner}, lm")
    best = strict.text_of(fields["best"], f"{place}, best")
    if best not in lm:
        raise InputError(place, '"best" is none of its hypotheses')
    utterance = strict.text_of(fields["utt"], f"{place}, utt")
    return Rescored(utterance, strict.reference_of(fields, place), best, lm)
