"""Word similarity: a word is the mean of its pieces, coverage is counted, and Word2Vec repeats itself."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from quartet.config.evaluation import Word2VecSettings
from quartet.errors import InputError
from quartet.results import EvaluatedSystem
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.word_vectors import train_word2vec
from quartet.tasks.wordsim.data import read_word_pairs
from quartet.tasks.wordsim.evaluation import evaluate, word_similarity, word_vector
from tests.tasks.test_small_sets import FIXTURES

PAIRS = read_word_pairs(FIXTURES / "words.tsv")
UNKNOWN = 0
PIECES = {"boat": [1], "ship": [2], "bread": [3], "loaf": [4, 5], "harbour": [6], "tide": [0, 7]}
TABLE = np.random.default_rng(0).normal(size=(8, 5))


def encode(word: str) -> list[int]:
    return PIECES[word]


def test_a_word_is_the_mean_of_its_pieces() -> None:
    assert word_vector([4, 5], TABLE, UNKNOWN) == pytest.approx((TABLE[4] + TABLE[5]) / 2)
    assert word_vector([], TABLE, UNKNOWN) is None
    assert word_vector([1, UNKNOWN], TABLE, UNKNOWN) is None
    untrained = TABLE.copy()
    untrained[5] = 0
    assert word_vector([4, 5], untrained, UNKNOWN) is None


def test_uncovered_pairs_are_left_out_and_counted() -> None:
    found = word_similarity(PAIRS, encode, TABLE, UNKNOWN, samples=100, seed=1)
    assert (found["coverage"].value, found["coverage"].n) == (4 / 5, 5)  # tide has an unknown piece
    assert found["spearman"].n == 4
    loaf = (TABLE[4] + TABLE[5]) / 2
    vectors = [(TABLE[1], TABLE[2]), (TABLE[1], TABLE[3]), (TABLE[3], loaf), (TABLE[2], TABLE[6])]
    predicted = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in vectors]
    assert found["spearman"].value == pytest.approx(spearmanr(predicted, PAIRS.gold[:4]).statistic)


def test_a_vocabulary_that_covers_too_little_has_a_coverage_and_no_correlation() -> None:
    """A set that a model cannot be judged on ends no run."""
    nothing = word_similarity(PAIRS, lambda word: [UNKNOWN], TABLE, UNKNOWN, samples=10, seed=1)
    assert {name: (one.value, one.n) for name, one in nothing.items()} == {"coverage": (0.0, 5)}
    alike = word_similarity(PAIRS, encode, np.ones_like(TABLE), UNKNOWN, samples=10, seed=1)
    assert {name: (one.value, one.n) for name, one in alike.items()} == {"coverage": (0.8, 5)}
    run = Evaluation("notebook", "wordsim", samples=10, seed=1)
    evaluate(
        run,
        EvaluatedSystem("word2vec", "cpu", "small"),
        [("words", PAIRS)],
        lambda word: [UNKNOWN],
        TABLE,
        UNKNOWN,
    )
    assert [row.metric for row in run.rows] == ["coverage"]


CONFIG = Word2VecSettings(dimension=8, window=2, epochs=2, negative=5, skip_gram=True, minimum_count=1)
TRAIN = """
import hashlib
from quartet.tasks.word_vectors import train_word2vec
from tests.tasks.wordsim.test_evaluation import CONFIG, sentences
print(hashlib.sha256(train_word2vec(sentences(), 12, CONFIG, seed=1).tobytes()).hexdigest())
"""


def sentences() -> list[np.ndarray]:
    generator = np.random.default_rng(2)
    return [generator.integers(1, 10, generator.integers(3, 12)) for _ in range(200)]


def test_word2vec_gives_a_row_a_token_and_zeros_for_what_never_occurs() -> None:
    table = train_word2vec(sentences(), 12, CONFIG, seed=1)
    assert table.shape == (12, 8)
    assert table.any(axis=1).tolist() == [False] + [True] * 9 + [False] * 2
    assert not np.array_equal(table, train_word2vec(sentences(), 12, CONFIG, seed=2))


def test_word2vec_is_the_same_whatever_the_hash_seed() -> None:
    here = hashlib.sha256(train_word2vec(sentences(), 12, CONFIG, seed=1).tobytes()).hexdigest()
    environment = dict(os.environ, PYTHONHASHSEED="77", PYTHONPATH=os.pathsep.join(sys.path))
    run = subprocess.run(
        [sys.executable, "-c", TRAIN], capture_output=True, text=True, check=True, env=environment
    )
    assert run.stdout.strip() == here


def test_word2vec_learns_which_tokens_are_alike() -> None:
    generator = np.random.default_rng(3)
    # 1 and 2 stand in the same company, 3 in another
    corpus = []
    for _ in range(600):
        centre, company = [(1, (4, 5)), (2, (4, 5)), (3, (6, 7))][generator.integers(3)]
        corpus.append([company[generator.integers(2)], centre, company[generator.integers(2)]])
    table = train_word2vec(corpus, 8, replace(CONFIG, epochs=80), seed=1)
    unit = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)
    assert unit[1] @ unit[2] > unit[1] @ unit[3] + 0.2


def test_word2vec_refuses_what_it_cannot_train_on() -> None:
    with pytest.raises(ValueError, match="only once"):
        train_word2vec((row for row in sentences()), 12, CONFIG, seed=1)
    with pytest.raises(InputError, match="no token occurs 2 times"):
        train_word2vec([[1, 2, 3]], 12, replace(CONFIG, minimum_count=2), seed=1)
