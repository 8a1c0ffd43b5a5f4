"""The word-similarity baseline: gensim's Word2Vec on the very token ids that the models were trained on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from quartet.evaluation.datasets import Floats, TokenIds


@dataclass(frozen=True)
class Word2VecConfig:
    """Settings of the baseline.

    Attributes:
        dimension: length of a vector; the models' own for a fair comparison.
        window: tokens looked at on each side.
        epochs: passes over the corpus.
        negative: noise tokens drawn a target.
        skip_gram: skip-gram; else continuous bag of words.
        minimum_count: tokens that are rarer get no vector.
    """

    dimension: int = 100
    window: int = 5
    epochs: int = 5
    negative: int = 5
    skip_gram: bool = True
    minimum_count: int = 1


def train_word2vec(
    sentences: Iterable[TokenIds], vocabulary: int, config: Word2VecConfig, seed: int
) -> Floats:
    """(vocabulary, dimension) vectors, a row a token id; zeros where an id never (or too rarely) occurs.

    Args:
        sentences: token ids, a sequence a sentence. They are gone through several times: pass a list or an
            object that can be iterated anew, not a generator. gensim cuts a sentence after 10,000 tokens.
        vocabulary: the number of ids.
        config: the settings.
        seed: the same one gives the same vectors (one thread).

    Raises:
        ValueError: no token occurs often enough, or `sentences` is a generator.
    """
    from gensim.models import Word2Vec  # only this baseline needs gensim

    if iter(sentences) is sentences:
        raise ValueError("sentences can be gone through only once: pass a list")
    corpus = _Sentences(sentences)
    model = Word2Vec(
        vector_size=config.dimension,
        window=config.window,
        negative=config.negative,
        sg=int(config.skip_gram),
        min_count=config.minimum_count,
        seed=seed,
        workers=1,
    )
    model.build_vocab(corpus)
    if not len(model.wv):
        raise ValueError("no token occurs often enough for a vector")
    model.train(corpus, total_examples=model.corpus_count, epochs=config.epochs)
    table: Floats = np.zeros((vocabulary, config.dimension))
    for token, row in model.wv.key_to_index.items():
        table[int(token)] = model.wv.vectors[row]
    return table


class _Sentences:
    """Token ids as the texts that gensim wants, one sentence at a time."""

    def __init__(self, sentences: Iterable[TokenIds]) -> None:
        self.sentences = sentences

    def __iter__(self) -> Iterator[list[str]]:
        return ([str(int(token)) for token in sentence] for sentence in self.sentences)
