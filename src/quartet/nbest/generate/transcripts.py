"""Transcripts as a file: the JSON of mlm-scoring, which `quartet.nbest.formats.mlm_scoring` reads.

``{utterance: {"ref": …, "seconds": …, "hyp_1": {"score": …, "text": …, "tokens": …}, …}, …}``

"ref" is absent where no reference is known. What `score` is, `quartet.nbest.generate.speech` says; `tokens` counts the
end of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quartet.nbest.generate.audio import RATE
from quartet.nbest.generate.lines import DECIMALS, write_entries
from quartet.nbest.generate.speech import Admitted, Transcript


def entries(admitted: Admitted, lists: Sequence[Sequence[Transcript]]) -> dict[str, Any]:
    """The content of the file: an entry for each utterance, in its order."""
    found: dict[str, Any] = {}
    for utterance, samples, transcripts in zip(admitted.utterances, admitted.samples, lists, strict=True):
        entry: dict[str, Any] = {} if utterance.reference is None else {"ref": utterance.reference}
        entry["seconds"] = round(samples / RATE, 3)
        for rank, each in enumerate(transcripts, start=1):
            score = round(each.score, DECIMALS)
            entry[f"hyp_{rank}"] = {"score": score, "text": each.text, "tokens": len(each.ids)}
        found[utterance.name] = entry
    return found


def write_transcripts(path: Path, admitted: Admitted, lists: Sequence[Sequence[Transcript]]) -> None:
    """Write the lists of one split, one a line, atomically; the same lists give the same bytes."""
    write_entries(path, entries(admitted, lists))
