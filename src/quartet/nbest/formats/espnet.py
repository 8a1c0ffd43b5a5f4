"""The data.json of an ESPnet (version 1) decoding.

``{"utts": {utterance: {"output": [{"rec_text": text, "score": number, "text": text, ...}, ...], ...}, ...}}``

"output" is best first. "rec_text" is the hypothesis with the marks of its units, which are taken away: "▁"
opens a word, "<space>" is a space, "<eos>" the end. "text" is the reference, the same in each (or in none).
"score" may be missing from every hypothesis of the file. All other keys are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quartet.errors import InputError
from quartet.nbest.formats import strict, text_file
from quartet.nbest.formats.ingest import ListEntry, NBestFiles
from quartet.nbest.types import Hypothesis, NBest

WORD_START = "\u2581"


def entries(files: NBestFiles) -> Iterator[ListEntry]:
    """An entry for each utterance.

    Raises:
        InputError: the file is not JSON (it names the line and column), or has no object of "utts".
    """
    path = files.hypotheses
    root = strict.unique(strict.parse(text_file.read_text(path), path), str(path))
    if not isinstance(root.get("utts"), strict.JsonFields):
        raise InputError(path, 'an object under "utts" was expected')
    for utterance, value in root["utts"]:
        yield _entry(utterance, value, path)


def words_of(text: str) -> str:
    """The words of a "rec_text".

    >>> words_of("▁he▁hoped▁there<eos>")
    'he hoped there'
    """
    plain = text.strip().removesuffix("<eos>").replace("<space>", " ").replace(WORD_START, " ")
    return " ".join(plain.split())


def _entry(utterance: str, value: Any, path: Path) -> ListEntry:
    place = f'{path}: utterance "{utterance}"'
    return ListEntry.of(
        place, lambda: _list(strict.text_of(utterance, place), value, place), utterance=utterance
    )


def _list(utterance: str, value: Any, place: str) -> NBest:
    """The list of one utterance from its JSON object."""
    fields = strict.unique(value, place)
    if "output" not in fields:
        raise InputError(place, 'has no "output"')
    hypotheses: list[Hypothesis] = []
    references: list[str | None] = []
    for index, row in enumerate(strict.elements(fields["output"], f"{place}, output"), start=1):
        inner = f"{place}, output {index}"
        one = strict.unique(row, inner)
        if "rec_text" not in one:
            raise InputError(inner, 'has no "rec_text"')
        text = words_of(strict.text_of(one["rec_text"], f"{inner}, rec_text"))
        score = strict.score_of(one["score"], f"{inner}, score") if "score" in one else None
        hypotheses.append(Hypothesis(text, score))
        references.append(strict.reference_of(one, inner, "text"))
        if references[-1] != references[0]:
            raise InputError(inner, 'its "text", the reference, is not that of the first')
    return strict.list_of(utterance, hypotheses, references[0] if references else None, place)
