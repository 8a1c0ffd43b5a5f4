"""Pairs of texts that people scored for likeness of meaning: STS Benchmark, SICK, SemEval's STS, Lee's documents.

The T-TA paper's Tables 3 and 4 and the Segatron paper's Table 5 are measured on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from quartet.errors import InputError
from quartet.statistics.intervals import Floats, Ints
from quartet.tasks.judged_texts import (
    FIRST,
    GOLD,
    MORE,
    SECOND,
    ColumnMap,
    Columns,
    JudgedTexts,
    set_format,
)
from quartet.tasks.set_files import SetFormat, SetKind, number_of, text_lines, western_lines

SPLITS = ("train", "dev", "test")
SENTENCES = ("sentence1", "sentence2")


@dataclass(frozen=True)
class SimilaritySet:
    """Pairs of texts that people scored for likeness of meaning.

    Attributes:
        texts: the T distinct texts.
        first, second: (P,) the texts of each pair as indices.
        gold: (P,) the human scores.
        shared: True where texts stand in many pairs, so that a bootstrap must resample texts, not pairs.
        parts: (P,) the part, a sub-task, that each pair belongs to; None where the set is one.
    """

    texts: tuple[str, ...]
    first: Ints
    second: Ints
    gold: Floats
    shared: bool
    parts: Ints | None = None


@dataclass(frozen=True)
class ScoredPair:
    """Two sentences and the mean of people's scores.

    Attributes:
        score: how like they are: 0 to 5 (STS Benchmark, SemEval) or 1 to 5 (SICK).
        label: SICK's judgement of entailment; "" for sets that have none.
    """

    first: str
    second: str
    score: float
    label: str = ""


def read_lee(texts_path: str | Path, similarities_path: str | Path) -> SimilaritySet:
    """Lee, Pincombe and Welsh's documents, one a line, with the matrix of their mean human similarity.

    The matrix (tab-separated, a row a document) is upper triangular; all pairs above its diagonal are taken,
    1,225 for the 50 documents of the set. The texts are in UTF-8, or all in Windows-1252.

    Raises:
        InputError: a file is missing or malformed, or the two do not fit each other.
    """
    texts = []
    for place, line in western_lines(Path(texts_path)):
        if not line.strip():
            raise InputError(place, "an empty document")
        texts.append(line.strip())
    if len(texts) < 3:
        raise InputError(texts_path, f"holds {len(texts)} documents, at least 3 were expected")
    rows = []
    for place, line in text_lines(Path(similarities_path)):
        cells = line.split("\t")
        if len(cells) != len(texts):
            raise InputError(place, f"{len(cells)} numbers, but {texts_path} holds {len(texts)} documents")
        rows.append([number_of(cell, place) for cell in cells])
    if len(rows) != len(texts):
        raise InputError(
            similarities_path, f"{len(rows)} rows, but {texts_path} holds {len(texts)} documents"
        )
    first, second = np.triu_indices(len(texts), k=1)
    gold = np.array(rows)[first, second]
    return SimilaritySet(tuple(texts), first.astype(np.int64), second.astype(np.int64), gold, shared=True)


def _pair(one: JudgedTexts) -> ScoredPair:
    assert one.score is not None, "every set has scores"
    return ScoredPair(one.texts[0], one.texts[1], one.score, one.label or "")


FORMATS: dict[str, SetFormat[ScoredPair]] = {
    # scores on the hub go from 0 to 5: nyu-mll/glue's are called label, PhilipMay/stsb_multi_mt's similarity_score, and
    # beside mteb/stsbenchmark-sts's are genres; sentence-transformers/stsb's go from 0 to 1;
    # tables: GLUE's have names, the task's have genre, file, year, number, score and sentences, sometimes licences
    "stsb": set_format(
        _pair,
        ColumnMap(
            hub=(
                Columns(SENTENCES, score="label"),
                Columns(SENTENCES, score="score", beside=("genre",)),
                Columns(SENTENCES, score="similarity_score"),
                Columns(SENTENCES, score="score", times=5.0),
            ),
            table=(Columns(SENTENCES, score="score"),),
            bare=(("", "", "", "", GOLD, FIRST, SECOND, MORE),),
            csv=((FIRST, SECOND, GOLD),),
        ),
        SPLITS,
        "sentence-transformers/stsb on the Hugging Face hub, or ixa2.si.ehu.eus/stswiki (STSbenchmark)",
    ),
    "sick": set_format(
        _pair,
        ColumnMap(
            hub=(Columns(("sentence_A", "sentence_B"), "label", "relatedness_score", "id"),),
            table=(
                Columns(("sentence_A", "sentence_B"), "entailment_judgment", "relatedness_score", "pair_ID"),
            ),
            labels=("ENTAILMENT", "NEUTRAL", "CONTRADICTION"),
            scores=(1.0, 5.0),
        ),
        SPLITS,
        "RobZamp/sick on the Hugging Face hub, or SemEval 2014 task 1 (SICK_train.txt, SICK_trial.txt is dev)",
    ),
    # a file is a sub-task; some pairs of 2015 and 2016 nobody judged
    "semeval": set_format(
        _pair,
        ColumnMap(
            hub=(Columns(SENTENCES, score="score"),),
            bare=((GOLD, FIRST, SECOND),),
            unjudged=("",),
            remedy="the task's own two files make one: paste STS.gs.X.txt STS.input.X.txt | cut -f 1-3 > X.tsv",
        ),
        (),
        "mteb/sts12-sts ... mteb/sts16-sts on the Hugging Face hub, or the SemEval tasks' own pages, by sub-task",
    ),
}

#: Pairs of sentences in published sets, and documents that are all compared with each other.
KIND = SetKind("sts", FORMATS)
DOCUMENTS = SetKind("documents-similarity", roles=("texts", "similarities"), read=read_lee)
