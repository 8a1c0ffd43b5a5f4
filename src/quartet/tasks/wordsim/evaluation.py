"""Word similarity of a token table: a trained model's, or Word2Vec's over the same tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from quartet.results import EvaluatedSystem
from quartet.statistics.intervals import Floats
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.wordsim.data import WordPairs
from quartet.tasks.wordsim.metrics import word_similarity

TABLE = "wordsim"


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
        encode, table, unknown: see :func:`quartet.tasks.wordsim.metrics.word_similarity`.
    """
    for dataset, pairs in sets:
        measures = word_similarity(pairs, encode, table, unknown, run.samples, run.seed_of(system))
        run.add(measures, system, dataset, table=TABLE)
        found = f"Spearman {measures['spearman'].value:.3f}" if "spearman" in measures else "no correlation"
        run.say(f"{system.name} on {dataset}: {found}, {100 * measures['coverage'].value:.0f} % covered")
