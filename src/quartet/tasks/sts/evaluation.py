"""Semantic similarity without training for it: which pairs are judged, and every way of making a text's vector.

T-TA paper, Section 5.4 and Tables 3 and 4. For models, Word2Vec and word vectors from a file alike.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quartet.errors import InputError
from quartet.results import INTACT, EvaluatedSystem, system_name
from quartet.statistics.intervals import Floats
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.sts.data import FORMATS, ScoredPair, SimilaritySet
from quartet.tasks.sts.metrics import (
    cosine_measures,
    mean_over_sets,
    set_of_each,
    similarities,
    similarity_set,
)

if TYPE_CHECKING:  # word vectors are read without PyTorch
    from quartet.export.scorer import ExportedLM
    from quartet.scoring.language_model import LanguageModel
    from quartet.scoring.network_reader import Layer
    from quartet.scoring.pretrained_lm import PretrainedLM

TABLE = "sts"
#: The mean over all sets that are years of SemEval's STS, where there are several.
YEARS = "semeval"
#: The name of each layer's reading in the results.
READINGS: dict[Layer, str] = {
    "context": "context",
    "embed": "embed",
    "table": "table",
    "first": "cls",
    "last": "eos",
}


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


def judged_sets(
    documents: Iterable[tuple[str, SimilaritySet]],
    published: Iterable[tuple[str, str, Mapping[str, Sequence[ScoredPair]]]],
) -> list[JudgedSet]:
    """Every set of documents by its name, then every published one by its name and format; without training splits."""
    found = [JudgedSet(name, "test", pairs) for name, pairs in documents]
    for name, form, splits in published:
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


def vectors_of(one: JudgedSet, texts: Sequence[str], vectors: Floats) -> Floats:
    """The vectors (T, d) of a set's texts, of the vectors of all sets' texts."""
    places = {text: number for number, text in enumerate(texts)}
    found: Floats = vectors[np.array([places[text] for text in one.pairs.texts])]
    return found


@contextmanager
def naming(system: EvaluatedSystem, one: JudgedSet) -> Iterator[None]:
    """Within, a set that has no correlation, since all of one side is equal, is an InputError that names it."""
    try:
        yield
    except ValueError as error:
        remedy = "take the set out of tasks, or the system out of evaluate"
        raise InputError(f"{system.name} on {one.dataset} {one.split}", str(error), remedy) from error


def judge(
    run: Evaluation, system: EvaluatedSystem, sets: Sequence[JudgedSet], texts: Sequence[str], vectors: Floats
) -> None:
    """Add the rows of one system on every set, and on the mean over SemEval's years.

    Args:
        texts, vectors: the sets' texts and their vectors (T, d).

    Raises:
        InputError: a set, or one of its parts, has no correlation.
    """
    seed = run.seed_of(system)
    years: list[tuple[Floats, Floats]] = []
    for one in sets:
        predicted = similarities(one.pairs, vectors_of(one, texts, vectors))
        with naming(system, one):
            measures = cosine_measures(one.pairs, predicted, run.samples, seed)
        run.add(measures, system, one.dataset, one.split, TABLE)
        keep_cosines(run, ("pearson",), predicted, system, one)
        if one.year:
            years.append((predicted, one.pairs.gold))
        run.say(f"{system.name} on {one.dataset} {one.split}: Pearson {measures['pearson'].value:.3f}")
    if len(years) > 1:
        predicted_each, gold_each = zip(*years, strict=True)
        run.add(mean_over_sets(predicted_each, gold_each, run.samples, seed), system, YEARS, table=TABLE)
        keep_mean_over_sets(run, ("pearson-mean",), predicted_each, gold_each, system, YEARS)


def keep_cosines(
    run: Evaluation, metrics: tuple[str, ...], predicted: Floats, system: EvaluatedSystem, one: JudgedSet
) -> None:
    """Keep a system's cosines (P,) of a set."""
    pairs = one.pairs
    unit, units = ("texts", (pairs.first, pairs.second)) if pairs.shared else ("pairs", ())
    run.keep(
        metrics, predicted, system, one.dataset, one.split, TABLE, gold=pairs.gold, unit=unit, units=units
    )


def keep_mean_over_sets(
    run: Evaluation,
    metrics: tuple[str, ...],
    predicted: Sequence[Floats],
    gold: Sequence[Floats],
    system: EvaluatedSystem,
    dataset: str,
) -> None:
    """Keep a system's cosines of several sets, whose mean is a figure: see :func:`mean_over_sets`."""
    run.keep(
        metrics,
        np.concatenate(predicted),
        system,
        dataset,
        table=TABLE,
        gold=np.concatenate(gold),
        parts=set_of_each(gold),
        unit="pairs",
    )


def evaluate(
    run: Evaluation,
    model: LanguageModel | ExportedLM | PretrainedLM,
    system: EvaluatedSystem,
    sets: Sequence[JudgedSet],
) -> None:
    """Add the rows of every reading of a model on every set."""
    texts = texts_of(sets)
    for reading, vectors in readings(run, model, system.model, texts):
        judge(run, dataclasses.replace(system, reading=reading), sets, texts, vectors)


def readings(
    run: Evaluation, model: LanguageModel | ExportedLM | PretrainedLM, name: str, texts: list[str]
) -> Iterator[tuple[str, Floats]]:
    """Yield (name of the reading, vectors of the texts), one at a time.

    The context of a masked model is read both by mask-and-predict and with its input intact, as in the T-TA paper's
    Table 3. Every text is read as one sentence, by models with segment positions too.
    """
    ways = [(READINGS[layer], layer, True) for layer in model.layers]
    if model.masks:
        ways.insert(1, (f"{INTACT}/{READINGS['context']}", "context", False))
    for reading, layer, masked in ways:
        with run.bar(system_name(name, reading)) as shown:
            vectors = model.embed(texts, layer, masked, shown.set)
        yield reading, vectors
