"""Pairs of texts that people scored for likeness of meaning: STS Benchmark, SICK, SemEval's STS, Lee's documents.

The T-TA paper's Tables 3 and 4 and the Segatron paper's Table 5 are measured on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from quartet.errors import InputError
from quartet.statistics.intervals import Floats, Ints
from quartet.tasks.set_files import (
    SetFormat,
    cells,
    csv_cells,
    json_rows,
    label_of,
    number_of,
    parquet_rows,
    score_of,
    table,
    text_lines,
    text_of,
)

#: Columns of the STS Benchmark as it was published (STSbenchmark/sts-dev.csv), with tabs between them.
PUBLISHED = 7
#: SICK's judgements of entailment, in the order of their numbers on the hub.
JUDGEMENTS = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")


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
        subset: SemEval's sub-task, from the file's name up to its first dot; "" for sets that are one.
        label: SICK's judgement, one of `JUDGEMENTS`; "" for sets that have none.
    """

    first: str
    second: str
    score: float
    subset: str = ""
    label: str = ""


def read_stsb(path: Path) -> Iterator[ScoredPair]:
    """Yield the pairs of a split of the STS Benchmark, scored 0 to 5.

    Four forms: ``.csv`` without a line of names (sentence, sentence, score), or as the task published it, with tabs and
    without quoting (genre, file, year, number, score, sentence, sentence, and sometimes licences); GLUE's ``.tsv``
    (columns sentence1, sentence2 and score); and ``.parquet``, where a column ``label`` holds 0 to 5 (nyu-mll/glue) and
    a column ``score`` 0 to 1 (sentence-transformers/stsb), which becomes 0 to 5.

    Raises:
        InputError: the file is malformed, or unlabelled (GLUE's test split has -1 for every score, or no column).
    """
    if path.suffix == ".parquet":
        for place, row in parquet_rows(path, ("sentence1", "sentence2")):
            if "label" in row:
                score = score_of(row["label"], 0.0, 5.0, place)
            elif "score" in row:
                score = 5 * score_of(row["score"], 0.0, 1.0, place)
            else:
                raise InputError(place, "no column label (0 to 5) or score (0 to 1)")
            yield ScoredPair(text_of(row, "sentence1", place), text_of(row, "sentence2", place), score)
    elif ".csv" in path.suffixes and len(next(cells(path), ("", [""]))[1]) >= PUBLISHED:
        for place, values in cells(path):
            if len(values) < PUBLISHED:
                raise InputError(place, f"{len(values)} columns, {PUBLISHED} were expected")
            yield _pair(place, values[5], values[6], values[4])
    elif ".csv" in path.suffixes:
        for place, values in csv_cells(path, 3):
            yield _pair(place, *values)
    else:
        for place, row in table(path, ("sentence1", "sentence2", "score")):
            yield _pair(place, row["sentence1"], row["sentence2"], row["score"])


def read_sick(path: Path) -> Iterator[ScoredPair]:
    """Yield the pairs of a split of SICK (2014), scored 1 to 5, with the judgement of entailment.

    The form is SemEval's (``SICK_train.txt``: pair_ID, sentence_A, sentence_B, relatedness_score,
    entailment_judgment), or ``.parquet`` (RobZamp/sick: id and label in the places of the first and the last).

    Raises:
        InputError: the file is malformed, or a pair's number occurs again.
    """
    hub = path.suffix == ".parquet"
    number, judgement = ("id", "label") if hub else ("pair_ID", "entailment_judgment")
    wanted = (number, "sentence_A", "sentence_B", "relatedness_score", judgement)
    seen: set[str] = set()
    for place, row in parquet_rows(path, wanted) if hub else table(path, wanted):
        if (pair := str(row[number])) in seen:
            raise InputError(place, f"the pair {pair} is there already")
        seen.add(pair)
        yield ScoredPair(
            text_of(row, "sentence_A", place),
            text_of(row, "sentence_B", place),
            score_of(row["relatedness_score"], 1.0, 5.0, place),
            label=label_of(row[judgement], JUDGEMENTS, place),
        )


def read_semeval(path: Path) -> Iterator[ScoredPair]:
    """Yield the scored pairs of a sub-task of SemEval's STS, 0 to 5; :func:`count_unscored` counts those without one.

    The form is ``score TAB sentence TAB sentence``, where the score is empty for pairs that nobody judged (2015, 2016);
    or a whole year as ``.jsonl`` or ``.parquet`` (mteb/sts12-sts ... mteb/sts16-sts: sentence1, sentence2, score).

    Raises:
        InputError: the file is malformed, or no pair of it has a score.
    """
    subset, scored = path.name.partition(".")[0], 0
    for pair in _semeval(path, subset):
        if pair is not None:
            scored += 1
            yield pair
    if not scored:
        raise InputError(path, "holds no scored pair")


def count_unscored(path: Path) -> int:
    """The pairs of a file that :func:`read_semeval` passes over, because nobody judged them."""
    return sum(pair is None for pair in _semeval(path, ""))


def _semeval(path: Path, subset: str) -> Iterator[ScoredPair | None]:
    """The pairs, None for each without a score."""
    if ".tsv" in path.suffixes or ".txt" in path.suffixes:
        for place, (score, first, second) in cells(path, 3):
            yield _pair(place, first, second, score, subset) if score.strip() else None
        return
    wanted = ("sentence1", "sentence2", "score")
    for place, row in parquet_rows(path, wanted) if path.suffix == ".parquet" else json_rows(path, wanted):
        points = score_of(row["score"], 0.0, 5.0, place)
        yield ScoredPair(text_of(row, "sentence1", place), text_of(row, "sentence2", place), points, subset)


def _pair(place: str, first: str, second: str, score: str, subset: str = "") -> ScoredPair:
    row = {"the first sentence": first, "the second sentence": second}
    left, right = (text_of(row, name, place) for name in row)
    return ScoredPair(left, right, score_of(score, 0.0, 5.0, place), subset)


def read_lee(texts_path: str | Path, similarities_path: str | Path) -> SimilaritySet:
    """Lee, Pincombe and Welsh's documents, one a line, with the matrix of their mean human similarity.

    The matrix (tab-separated, a row a document) is upper triangular; all pairs above its diagonal are taken,
    1,225 for the 50 documents of the set. The texts are in Windows-1252.

    Raises:
        InputError: a file is missing or malformed, or the two do not fit each other.
    """
    texts = []
    for place, line in text_lines(Path(texts_path), "cp1252"):
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


FORMATS: dict[str, SetFormat[ScoredPair]] = {
    "stsb": SetFormat(
        read_stsb,
        ("train", "dev", "test"),
        "sentence-transformers/stsb on the Hugging Face hub, or ixa2.si.ehu.eus/stswiki (STSbenchmark)",
    ),
    "sick": SetFormat(
        read_sick,
        ("train", "dev", "test"),
        "RobZamp/sick on the Hugging Face hub, or SemEval 2014 task 1 (SICK_train.txt, SICK_trial.txt is dev)",
    ),
    "semeval": SetFormat(
        read_semeval,
        (),
        "mteb/sts12-sts ... mteb/sts16-sts on the Hugging Face hub, or the SemEval tasks' own pages, by sub-task",
        count_unscored,
    ),
}
