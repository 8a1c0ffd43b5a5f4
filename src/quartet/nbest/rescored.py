"""The reranked lists as JSON lines: one list a line, in the input's order, its hypotheses best first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quartet.files import write_jsonl
from quartet.nbest.rerank import Candidates


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
