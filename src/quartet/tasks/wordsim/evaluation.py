"""Word similarity of a token table, a trained model's or Word2Vec's: the cosine of two words against human scores.

A word's vector is the mean of its pieces' rows in the table. With a small WordPiece vocabulary nearly every word is
covered, but most are made of pieces. Pairs with an uncovered word are left out; the coverage is the others' share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from quartet.results import EvaluatedSystem, Measure
from quartet.statistics.correlation import correlations, cosines
from quartet.statistics.intervals import Floats, Ints
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.wordsim.data import WordPairs

TABLE = "wordsim"
#: Covered pairs from which on there is a correlation.
LEAST = 3


def evaluate(
    run: Evaluation,
    system: EvaluatedSystem,
    sets: Iterable[tuple[str, WordPairs]],
    encode: Callable[[str], Sequence[int]],
    table: Floats,
    unknown: int,
) -> None:
    """Add the rows of a table on every set.

    Args:
        encode, table, unknown: see :func:`word_similarity`.
    """
    for dataset, pairs in sets:
        covered, predicted = covered_pairs(pairs, encode, table, unknown)
        measures = _measures(pairs, covered, predicted, run.samples, run.seed_of(system))
        run.add(measures, system, dataset, table=TABLE)
        if "spearman" in measures:
            gold = pairs.gold[covered]
            run.keep(
                ("spearman",), predicted, system, dataset, table=TABLE, gold=gold, items=covered, unit="pairs"
            )
        found = f"Spearman {measures['spearman'].value:.3f}" if "spearman" in measures else "no correlation"
        run.say(f"{system.name} on {dataset}: {found}, {100 * measures['coverage'].value:.0f} % covered")


def word_vector(pieces: Sequence[int], table: Floats, unknown: int) -> Floats | None:
    """(d,) the mean of the pieces' rows of the table (V, d).

    None where the word has no piece, an unknown one, or one whose row is zero (a piece that was never
    trained).
    """
    if not len(pieces) or unknown in pieces:
        return None
    rows = table[list(pieces)]
    if not np.any(rows, axis=1).all():
        return None
    mean: Floats = rows.mean(axis=0)
    return mean


def word_similarity(
    pairs: WordPairs,
    encode: Callable[[str], Sequence[int]],
    table: Floats,
    unknown: int,
    samples: int,
    seed: int,
) -> dict[str, Measure]:
    """Correlate an embedding table with human scores: "pearson" and "spearman" over the covered pairs, and "coverage".

    Args:
        pairs: the words and their scores.
        encode: a word -> its pieces' ids, without specials.
        table: (V, d) a row a piece.
        unknown: the id of the unknown piece.
        samples: the number of resamples, of pairs. A third to a half of the words stand in several pairs, so
            that the interval is a little too narrow.
        seed: of their generator.

    Returns:
        "coverage" alone where fewer than three pairs are covered, or all of them are scored alike: these have no
        correlation.
    """
    return _measures(pairs, *covered_pairs(pairs, encode, table, unknown), samples, seed)


def covered_pairs(
    pairs: WordPairs, encode: Callable[[str], Sequence[int]], table: Floats, unknown: int
) -> tuple[Ints, Floats]:
    """The numbers (C,) of the pairs whose words both have a vector, and the cosines (C,) of these.

    Args:
        encode, table, unknown: see :func:`word_similarity`.
    """
    table = np.asarray(table, dtype=np.float64)
    vectors: dict[str, Floats | None] = {}
    for word in (*pairs.first, *pairs.second):
        if word not in vectors:
            vectors[word] = word_vector(encode(word), table, unknown)
    left, right, covered = [], [], []
    for number, (first, second) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        first_vector, second_vector = vectors[first], vectors[second]
        if first_vector is not None and second_vector is not None:
            left.append(first_vector)
            right.append(second_vector)
            covered.append(number)
    predicted = cosines(np.stack(left), np.stack(right)) if covered else np.zeros(0)
    return np.array(covered, dtype=np.int64), predicted


def _measures(
    pairs: WordPairs, covered: Ints, predicted: Floats, samples: int, seed: int
) -> dict[str, Measure]:
    """See :func:`word_similarity`."""
    gold = pairs.gold[covered]
    coverage = {"coverage": Measure(len(gold) / len(pairs.gold), len(pairs.gold))}
    if len(gold) < LEAST or np.ptp(predicted) == 0 or np.ptp(gold) == 0:
        return coverage
    return {**correlations(predicted, gold, samples, seed), **coverage}
