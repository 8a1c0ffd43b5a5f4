"""Formats of N-best files by name; a new one is a file here and a line in `FORMATS`.

It never guesses: a format that is not named must be plain from the content, and what is malformed is an
`quartet.errors.InputError` that names the file, the utterance or line, and the reason.
"""

from __future__ import annotations

from quartet.config.choices import ScoreMeaning
from quartet.errors import InputError
from quartet.nbest.formats import (
    detect,
    espnet,
    hyporadise,
    jsonl,
    kaldi,
    mlm_scoring,
    moses,
    nemo,
    references,
    text_file,
)
from quartet.nbest.formats.ingest import (
    IngestedLists,
    NBestFiles,
    NBestFormat,
    UtteranceNames,
    attach_references,
    collect,
    gaps,
    orient_scores,
    with_missing,
)
from quartet.nbest.guards import check_shared_words

__all__ = ["FORMATS", "IngestedLists", "NBestFiles", "read"]

FORMATS: dict[str, NBestFormat] = {
    "mlm-scoring": NBestFormat(mlm_scoring.entries),
    "jsonl": NBestFormat(jsonl.entries),
    "espnet": NBestFormat(espnet.entries),
    "hyporadise": NBestFormat(hyporadise.entries, UtteranceNames.ORDER),
    "moses": NBestFormat(moses.entries, UtteranceNames.IDS),
    "nemo": NBestFormat(nemo.entries, UtteranceNames.ORDER, beam=True, check=nemo.check_beam),
    "kaldi": NBestFormat(kaldi.entries, scores=True),
}


def read(
    name: str | None,
    files: NBestFiles,
    skip: bool = False,
    skip_missing: bool = False,
    scores_are: ScoreMeaning | None = None,
) -> IngestedLists:
    """Every list of a set, in its file's order, with its references.

    Args:
        name: a key of `FORMATS`; None: told by the content, where it fits one alone.
        skip: malformed entries are counted and left out; else the first one ends the reading.
        skip_missing: utterances that have a reference and no list are left out; else an empty hypothesis stands for
            what the first pass lost (see `IngestedLists.missing`).
        scores_are: what the first pass's numbers are; None: what the format says, unless the lists contradict.

    Raises:
        InputError: the content fits no format or several, an entry is malformed and `skip` is off, nothing can be
            read, the files are not those that the format wants, or the scores seem to be costs.
    """
    with text_file.streams_kept():
        return _read(_told(files) if name is None else name, files, skip, skip_missing, scores_are)


def _told(files: NBestFiles) -> str:
    """The only format that the content fits, and the beam or the costs beside it where it fits several."""
    path = files.hypotheses
    fitting = detect.fitting_formats(path)
    if len(fitting) > 1 and files.scores:
        fitting = [name for name in fitting if FORMATS[name].scores] or fitting
    elif len(fitting) > 1 and files.beam is not None:
        fitting = [name for name in fitting if FORMATS[name].beam] or fitting
    if len(fitting) == 1:
        return fitting[0]
    which = "name the format (--format, format)"
    if fitting:
        raise InputError(path, f"may be {' or '.join(fitting)}", which)
    if not text_file.read_text(path).strip():
        raise InputError(path, "holds no N-best list")
    raise InputError(path, "does not look like lists in any known format", f"{which}: {', '.join(FORMATS)}")


def _read(
    name: str, files: NBestFiles, skip: bool, skip_missing: bool, scores_are: ScoreMeaning | None
) -> IngestedLists:
    form = FORMATS[name]
    path = files.hypotheses
    if files.scores and not form.scores:
        raise InputError(path, f"the format {name} has its scores in the same file", "give no others")
    if (files.beam is None) == form.beam:
        needs = "needs to be told the beam" if form.beam else "tells its hypotheses itself"
        remedy = "say how many hypotheses each utterance has" if form.beam else "give no beam"
        raise InputError(path, f"the format {name} {needs}", remedy)
    collected = collect(form.entries(files), path, skip)
    if form.check is not None and scores_are is None:
        form.check(files)
    reading = orient_scores(collected, path, scores_are, form.scores, files.beam)
    if files.references is not None:
        found = references.read(files.references)
        attached = attach_references(reading, found, form.names, files.references, skip, skip_missing)
        check_shared_words(attached.lists, files.references)
        return attached
    check_shared_words(reading.lists, path)
    if form.names is UtteranceNames.IDS and not skip_missing:
        return with_missing(reading, gaps(reading, path), form.names)
    return reading
