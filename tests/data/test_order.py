"""In which order a training reads a corpus, and a validation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest

from quartet.data import open_source
from quartet.data.batch import BatchSource
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import SPECIALS, TextTokenizer
from tests.models.shapes import KINDS, small
from tests.small_corpus import corpus_of

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
BatchBy = Literal["tokens", "sentences"]
FIRST = len(SPECIALS)


def sentences_of(lengths: Sequence[int]) -> EncodedCorpus:
    """A document a sentence; each sentence repeats an id of its own."""
    return corpus_of([[[[FIRST + number] * length]] for number, length in enumerate(lengths)])


def source(
    corpus: EncodedCorpus,
    tokenizer: TextTokenizer,
    kind: str,
    batch_size: int,
    seed: int | None,
    length: int,
    batch_by: BatchBy = "tokens",
) -> BatchSource:
    config = small(**{**KINDS[kind], "max_length": length})
    return open_source(config, corpus, tokenizer, batch_size=batch_size, seed=seed, batch_by=batch_by)


def epoch(found: BatchSource, number: int) -> list[list[int]]:
    """The number of each sentence of each batch of an epoch."""
    steps = range(number * found.steps_per_epoch, (number + 1) * found.steps_per_epoch)
    return [(found.batch(step).ids_BT[:, 1] - FIRST).tolist() for step in steps]


def sentences(
    corpus: EncodedCorpus,
    small_corpus: Small,
    batch_size: int,
    seed: int | None,
    batch_by: BatchBy = "tokens",
) -> BatchSource:
    return source(corpus, small_corpus[0], "bilm", batch_size, seed, 64, batch_by)


@pytest.mark.parametrize("batch_by", ["tokens", "sentences"])
def test_an_epoch_has_each_sentence_once_in_an_order_of_its_own(
    small_corpus: Small, batch_by: BatchBy
) -> None:
    corpus = sentences_of([3] * 40)
    orders = [
        epoch(sentences(corpus, small_corpus, 4, seed, batch_by), number)
        for seed in (1, 2)
        for number in (0, 1)
    ]
    for order in orders:
        assert sorted(itertools.chain(*order)) == list(range(40))
    for one, other in itertools.combinations(
        [*orders, epoch(sentences(corpus, small_corpus, 4, None, batch_by), 0)], 2
    ):
        assert one != other
    assert orders[0] == epoch(sentences(corpus, small_corpus, 4, 1, batch_by), 0)


@pytest.mark.parametrize("batch_by", ["tokens", "sentences"])
def test_neighbours_of_the_corpus_are_no_neighbours_of_a_batch(
    small_corpus: Small, batch_by: BatchBy
) -> None:
    """Of sentences that are all as long: 99 of 4,950 pairs are neighbours."""
    batches = epoch(sentences(sentences_of([3] * 100), small_corpus, 2, 1, batch_by), 0)
    assert sum(abs(one - other) == 1 for one, other in batches) < 6


def test_a_batch_is_of_sentences_of_like_length_and_batches_come_in_any_order(small_corpus: Small) -> None:
    lengths = np.random.default_rng(0).permutation(np.arange(1, 41))
    batches = epoch(sentences(sentences_of(lengths.tolist()), small_corpus, 4, 1, "sentences"), 0)
    ranges = [sorted(int(lengths[number]) for number in batch) for batch in batches]
    assert sorted(ranges) == [list(range(at, at + 4)) for at in range(1, 41, 4)]
    assert ranges != sorted(ranges) and ranges != sorted(ranges, reverse=True)


def test_a_batch_by_tokens_is_of_sentences_of_one_shape_and_batches_come_in_any_order(
    small_corpus: Small,
) -> None:
    """15 shapes at most for 40 lengths, each six times."""
    lengths = np.random.default_rng(0).permutation(np.repeat(np.arange(1, 41), 6))
    corpus = corpus_of([[[[FIRST + number % 9] * length]] for number, length in enumerate(lengths.tolist())])
    found = sentences(corpus, small_corpus, 4, 1)
    batches = [found.batch(step).real_BT for step in range(found.steps_per_epoch)]
    widths = [real_BT.shape[1] for real_BT in batches]
    assert 10 < len(set(widths)) <= 15 and max(widths) == 42
    assert np.mean([real_BT.float().mean().item() for real_BT in batches]) > 0.85
    assert widths != sorted(widths) and widths != sorted(widths, reverse=True)


def test_only_a_pool_of_32_batches_is_sorted_together(small_corpus: Small) -> None:
    """Of 128 lengths, 2 a batch and so 64 a pool: sorted all together, the two of a batch would differ by 1."""
    lengths = np.random.default_rng(0).permutation(np.arange(1, 129))
    found = source(sentences_of(lengths.tolist()), small_corpus[0], "bilm", 2, 1, 140, "sentences")
    differences = [abs(int(lengths[one]) - int(lengths[other])) for one, other in epoch(found, 0)]
    assert 1.5 < np.mean(differences) < 3, "half of all lengths are in a pool: 2 on the mean"


def test_a_validation_reads_the_same_batches_always(small_corpus: Small) -> None:
    """By sentences in the order of the corpus; by tokens mixed, so that the first batches are like all."""
    corpus = sentences_of([5, 1, 4, 2, 3])
    found = sentences(corpus, small_corpus, 2, None, "sentences")
    assert [epoch(found, number) for number in (0, 1)] == [[[0, 1], [2, 3], [4]]] * 2
    lengths = [length for length in range(1, 21) for _ in range(5)]
    mixed = epoch(sentences(sentences_of(lengths), small_corpus, 2, None), 0)
    assert mixed == epoch(sentences(sentences_of(lengths), small_corpus, 2, None), 1)
    assert 6 < np.mean([lengths[batch[0]] for batch in mixed[: len(mixed) // 2]]) < 15, "10.5 in all"


def test_a_validation_tiles_each_document_from_its_beginning(small_corpus: Small) -> None:
    """Documents of 8, 3 and 5 tokens in inputs that have room for 5."""
    numbers = iter(range(FIRST, 99))
    corpus = corpus_of([[[[next(numbers) for _ in range(size)]]] for size in (8, 3, 5)])
    found = source(corpus, small_corpus[0], "segabert", 2, None, 7)
    rows = [
        [token - FIRST for token in ids[real].tolist()[1:-1]]
        for step in range(found.steps_per_epoch)
        for ids, real in zip(found.batch(step).ids_BT, found.batch(step).real_BT, strict=True)
    ]
    assert rows == [[0, 1, 2, 3, 4], [5, 6, 7], [8, 9, 10], [11, 12, 13, 14, 15]]


def spans(found: BatchSource, steps: range) -> list[list[list[int]]]:
    return [found.batch(step).ids_BT.tolist() for step in steps]


def test_spans_are_others_with_each_seed_and_step(small_corpus: Small) -> None:
    corpus = sentences_of([6] * 60)
    one, other = (spans(source(corpus, small_corpus[0], "segabert", 4, seed, 8), range(5)) for seed in (1, 2))
    assert len({str(batch) for batch in [*one, *other]}) == 10


def documents_of_stream(
    corpus: EncodedCorpus, small_corpus: Small, seed: int | None, number: int
) -> list[int]:
    """The documents in the order of one stream, by the id that each repeats; without the [EOS] between them."""
    found = source(corpus, small_corpus[0], "transformer-xl", 1, seed, 8)
    steps = range(number * found.steps_per_epoch, (number + 1) * found.steps_per_epoch)
    ids = [token for step in steps for token in found.batch(step).ids_BT[0].tolist()]
    return [key - FIRST for key, _ in itertools.groupby(ids) if key >= FIRST]


def test_a_stream_has_each_document_once_in_an_order_of_its_own(small_corpus: Small) -> None:
    corpus = sentences_of([3] * 20)
    orders = [documents_of_stream(corpus, small_corpus, seed, number) for seed in (1, 2) for number in (0, 1)]
    for order in orders:
        assert sorted(order) == list(range(20))
    in_order = documents_of_stream(corpus, small_corpus, None, 1)
    assert in_order == list(range(20)), "a validation's"
    assert len({str(order) for order in [*orders, in_order]}) == 5


@pytest.mark.parametrize("kind", ["bilm", "segabert", "transformer-xl"])
def test_the_fresh_batch_is_the_first_of_its_streams(small_corpus: Small, kind: str) -> None:
    """Only windows of a stream go on where the batch before them stopped."""
    found = source(sentences_of([3] * 20), small_corpus[0], kind, 2, 1, 8)
    fresh = [found.batch(step).fresh for step in range(2 * found.steps_per_epoch)]
    once = [kind != "transformer-xl" or step == 0 for step in range(found.steps_per_epoch)]
    assert fresh == once * 2 and found.steps_per_epoch > 1
