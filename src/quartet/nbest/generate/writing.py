"""Translations as a file: the JSON of mlm-scoring, which `quartet.nbest.formats.mlm_scoring` reads.

``{"dev-000001": {"ref": …, "source": …, "hyp_1": {"score": …, "text": …, "log_probability": …, "tokens": …}, …}, …}``

The number is the line of the source file. What `score` is, `quartet.nbest.generate.beam` says; `log_probability` is the
sum over the `tokens` of the hypothesis, whatever the search ranked by.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quartet.nbest.generate.beam import Translation
from quartet.nbest.generate.lines import DECIMALS, write_entries
from quartet.nbest.generate.parallel import ParallelText


def entries(split: str, text: ParallelText, lists: Sequence[Sequence[Translation]]) -> dict[str, Any]:
    """The content of the file: an entry for each pair of `text`, in its order."""
    found: dict[str, Any] = {}
    for number, (source, reference, translations) in enumerate(
        zip(text.source, text.target, lists, strict=True), start=1
    ):
        entry: dict[str, Any] = {"ref": reference, "source": source}
        for rank, each in enumerate(translations, start=1):
            entry[f"hyp_{rank}"] = {
                "score": round(each.score, DECIMALS),
                "text": each.text,
                "log_probability": round(each.log_probability, DECIMALS),
                "tokens": each.tokens,
            }
        found[f"{split}-{number:06d}"] = entry
    return found


def write_lists(path: Path, split: str, text: ParallelText, lists: Sequence[Sequence[Translation]]) -> None:
    """Write the lists of one split, one a line, atomically; the same lists give the same bytes."""
    write_entries(path, entries(split, text, lists))
