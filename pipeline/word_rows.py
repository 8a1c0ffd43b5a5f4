"""Word similarity of a table, for a model and for the Word2Vec baseline alike."""

from __future__ import annotations

import numpy as np

from quartet.results import Measure
from quartet.tasks.wordsim.data import WordPairs
from quartet.tasks.wordsim.metrics import word_similarity
from quartet.text.tokenizer import TextTokenizer


def word_measures(
    pairs: WordPairs, tokenizer: TextTokenizer, table: np.ndarray, samples: int, seed: int
) -> dict[str, Measure]:
    """Correlations over all covered pairs, and the share of pairs that are covered."""
    found = word_similarity(pairs, tokenizer.encode, table, tokenizer.unk_id, samples, seed)
    return {**found.measures, "coverage": Measure(found.covered / found.total, found.total)}
