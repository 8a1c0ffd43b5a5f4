"""Semantic similarity on the sets of ``tasks:``, for models, Word2Vec and word vectors from a file alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.task_sets import sets_of
from pipeline.tracking.progress import say
from quartet.results import EvaluatedSystem, Measure, Result
from quartet.statistics.intervals import Floats
from quartet.tasks.sts.data import FORMATS, ScoredPair, SimilaritySet
from quartet.tasks.sts.metrics import cosine_measures, mean_over_sets, similarities, similarity_set

TABLE = "sts"
#: The mean over all sets that are years of SemEval's STS, where there are several.
YEARS = "semeval"


@dataclass(frozen=True)
class JudgedSet:
    """Pairs on which a system is judged.

    Attributes:
        year: the set is one of SemEval's years.
    """

    dataset: str
    split: str
    pairs: SimilaritySet
    year: bool = False


def judged_sets(params: Params, layout: Layout) -> list[JudgedSet]:
    """Every set of documents or sentences in the order of params.yaml; training splits are left out."""
    found = []
    for name, documents in sets_of("documents-similarity", params, layout):
        assert isinstance(documents, SimilaritySet)
        found.append(JudgedSet(name, "test", documents))
    for name, splits in sets_of("sts", params, layout):
        form = params.tasks[name].format
        assert form is not None, "a kind with several formats"
        found += judged_splits(name, form, splits)
    return found


def judged_splits(name: str, form: str, splits: Mapping[str, Sequence[ScoredPair]]) -> list[JudgedSet]:
    """The splits of a set one by one, or all sub-tasks of a year of SemEval's STS as one."""
    if not FORMATS[form].splits:
        return [JudgedSet(name, "test", similarity_set(splits.values()), year=True)]
    return [
        JudgedSet(name, split, similarity_set([pairs])) for split, pairs in splits.items() if split != "train"
    ]


def texts_of(sets: Sequence[JudgedSet]) -> list[str]:
    """The distinct texts of all sets."""
    return list(dict.fromkeys(text for one in sets for text in one.pairs.texts))


def similarity_rows(
    params: Params, sets: Sequence[JudgedSet], texts: Sequence[str], vectors: Floats, system: EvaluatedSystem
) -> list[Result]:
    """The rows of one system on every set, and on the mean over SemEval's years.

    What is resampled goes by the system's seed, or by the first of params.yaml where it has none.

    Args:
        texts, vectors: the sets' texts and their vectors (T, d).
    """
    places = {text: number for number, text in enumerate(texts)}
    seed = params.seeds[0] if system.seed is None else system.seed
    rows: list[Result] = []
    years: list[tuple[Floats, Floats]] = []
    for one in sets:
        own = vectors[np.array([places[text] for text in one.pairs.texts])]
        predicted = similarities(one.pairs, own)
        measures = cosine_measures(one.pairs, predicted, params.bootstrap, seed)
        rows += judged_rows(params, one.dataset, one.split, measures, system)
        if one.year:
            years.append((predicted, one.pairs.gold))
        say(f"{system.name} on {one.dataset} {one.split}: Pearson {measures['pearson'].value:.3f}")
    if len(years) > 1:
        predicted_each, gold_each = zip(*years, strict=True)
        measures = mean_over_sets(predicted_each, gold_each, params.bootstrap, seed)
        rows += judged_rows(params, YEARS, "test", measures, system)
    return rows


def judged_rows(
    params: Params, dataset: str, split: str, measures: Mapping[str, Measure], system: EvaluatedSystem
) -> list[Result]:
    """Rows of the table of similarities."""
    return system.rows(measures, experiment=params.experiment, table=TABLE, dataset=dataset, split=split)
