"""Formats of N-best files by name; a new one is a file here and a line in `FORMATS`.

It never guesses: what is malformed is an `quartet.errors.InputError` that names the file, the utterance or
line, and the reason.
"""

from __future__ import annotations

from quartet.errors import InputError
from quartet.nbest.formats import espnet, hyporadise, jsonl, kaldi, mlm_scoring, moses, nemo, references
from quartet.nbest.formats.reading import Files, Format, Names, Reading, attach, collect

__all__ = ["FORMATS", "Files", "Reading", "read"]

FORMATS: dict[str, Format] = {
    "mlm-scoring": Format(mlm_scoring.entries),
    "jsonl": Format(jsonl.entries),
    "espnet": Format(espnet.entries),
    "hyporadise": Format(hyporadise.entries, Names.ORDER),
    "moses": Format(moses.entries, Names.IDS),
    "nemo": Format(nemo.entries, Names.ORDER, beam=True),
    "kaldi": Format(kaldi.entries, scores=True),
}


def read(name: str, files: Files, skip: bool = False) -> Reading:
    """Every list of a set, in its file's order, with its references.

    Args:
        name: a key of `FORMATS`.
        skip: malformed entries are counted and left out; else the first one ends the reading.

    Raises:
        InputError: an entry is malformed and `skip` is off, nothing can be read, or the files are not those
            that the format wants.
    """
    form = FORMATS[name]
    path = files.hypotheses
    if files.scores and not form.scores:
        raise InputError(path, f"the format {name} has its scores in the same file", "give no others")
    if (files.beam is None) == form.beam:
        needs = "needs to be told the beam" if form.beam else "tells its hypotheses itself"
        remedy = "say how many hypotheses each utterance has" if form.beam else "give no beam"
        raise InputError(path, f"the format {name} {needs}", remedy)
    reading = collect(form.entries(files), path, skip)
    if files.references is None:
        return reading
    return attach(reading, references.read(files.references, form.names, skip), form.names, files.references)
