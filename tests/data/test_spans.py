"""Document spans as the paper says and as the released code makes them: their docstrings' examples, and their odds."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from quartet.data import open_source
from quartet.data.batch import Row
from quartet.data.released_spans import ReleasedSpanSource, join_spans, kept_lengths
from quartet.data.segments import SegmentedTokens
from quartet.data.spans import SpanSource
from quartet.errors import InputError
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import SPECIALS, TextTokenizer
from tests.models.shapes import KINDS, small
from tests.small_corpus import corpus_of

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]

#: The docstrings' document, a b c | d e and f g | h, with the ids 10 to 17.
EXAMPLE = corpus_of([[[[10, 11, 12], [13, 14]], [[15, 16], [17]]]])
CLS, SEP = SPECIALS.index("[CLS]"), SPECIALS.index("[SEP]")


class Fixed:
    """A generator that draws what it is told."""

    def __init__(self, **draws: list[float]) -> None:
        self.draws = draws

    def __getattr__(self, name: str) -> object:
        return lambda *args, **kwargs: self.draws[name].pop(0)


def source(
    kind: type[SpanSource], corpus: EncodedCorpus, tokenizer: TextTokenizer, length: int
) -> SpanSource:
    return kind(corpus, tokenizer, max_length=length, batch_size=8, seed=1)


def indices(row: Row) -> list[list[int]]:
    """Token, sentence and paragraph indices, a list each."""
    found: list[list[int]] = row.segments.T.tolist()
    return found


@pytest.mark.parametrize(
    ("start", "ids", "expected"),
    [
        (
            0,
            [10, 11, 12, 13, 14, 15],
            [[0, 0, 1, 2, 0, 1, 0, 0], [0, 0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1, 1]],
        ),
        (1, [13, 14, 15, 16, 17], [[0, 0, 1, 0, 1, 0, 0], [1, 1, 1, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1, 1]]),
    ],
)
def test_a_span_is_the_docstrings_example(
    small_corpus: Small, start: int, ids: list[int], expected: list[list[int]]
) -> None:
    spans = source(SpanSource, EXAMPLE, small_corpus[0], 8)
    row = spans.example(Fixed(random=[0.5], integers=[start]))  # type: ignore[arg-type]
    assert row.ids.tolist() == [CLS, *ids, SEP]
    assert indices(row) == expected


def test_a_released_input_is_the_docstrings_example(small_corpus: Small) -> None:
    spans = source(ReleasedSpanSource, EXAMPLE, small_corpus[0], 9)
    # not short, the only document; its first sentence, two sentences in A; one token of A off the front, none of B
    draws = Fixed(random=[0.5, 0.5], integers=[0, 2], binomial=[1, 0])
    row = spans.example(draws)  # type: ignore[arg-type]
    assert row.ids.tolist() == [CLS, 11, 12, 13, SEP, 15, 16, 17, SEP]
    assert indices(row) == [
        [1, 1, 2, 0, 1, 0, 1, 0, 1],
        [0, 0, 0, 1, 1, 0, 0, 1, 1],
        [0, 0, 0, 0, 0, 1, 1, 1, 1],
    ]


@given(st.integers(1, 40), st.integers(1, 40), st.integers(2, 50))
def test_the_longer_half_gives_up_one_token_after_the_other(a: int, b: int, room: int) -> None:
    left = [a, b]
    while sum(left) > room:
        left[0 if left[0] > left[1] else 1] -= 1
    assert kept_lengths(a, b, room) == tuple(left)
    assert min(left) >= 1


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=3), min_size=1, max_size=3),
        min_size=1,
        max_size=4,
    ),
    st.integers(5, 20),
    st.integers(0, 3),
)
def test_released_inputs_are_two_runs_of_one_document(
    small_corpus: Small, lengths: list[list[list[int]]], length: int, step: int
) -> None:
    """Every id of the corpus is another, so that a run of ids says where it comes from."""
    numbers = iter(range(len(SPECIALS), 10_000))
    corpus = corpus_of([[[[next(numbers) for _ in range(n)] for n in p] for p in d] for d in lengths])
    tokenizer = small_corpus[0]
    if all(sum(map(len, document)) < 2 for document in lengths):
        with pytest.raises(InputError, match="none has two sentences"):
            source(ReleasedSpanSource, corpus, tokenizer, length)
        return
    batch = source(ReleasedSpanSource, corpus, tokenizer, length).batch(step)
    whole = SegmentedTokens(corpus).row(0, len(corpus.ids))
    documents = np.repeat(np.arange(len(lengths)), np.diff(corpus.sentence_offsets[corpus.document_offsets]))
    for ids_T, real_T, positions_TP in zip(batch.ids_BT, batch.real_BT, batch.positions_BTP, strict=True):
        ids = ids_T[real_T].numpy()
        assert len(ids) <= length and ids[0] == CLS and ids[-1] == SEP
        middle = 1 + int(np.flatnonzero(ids[1:] == SEP)[0])
        a, b = ids[1:middle] - len(SPECIALS), ids[middle + 1 : -1] - len(SPECIALS)
        assert (np.diff(a) == 1).all() and (np.diff(b) == 1).all() and a[-1] < b[0]
        assert len({*documents[a], *documents[b]}) == 1
        halves = [Row(whole.ids[half], whole.segments[half]) for half in (a, b)]
        expected = join_spans(halves[0], halves[1], CLS, SEP)
        assert positions_TP[real_T][:, 1:].tolist() == expected.segments.tolist()


def test_one_in_a_hundred_released_inputs_is_short(small_corpus: Small) -> None:
    corpus = corpus_of([[[[9]] * 100_000]])
    spans = source(ReleasedSpanSource, corpus, small_corpus[0], 100)
    random = np.random.default_rng(3)
    lengths = np.array([len(spans.example(random).ids) for _ in range(4000)])
    assert 0.005 < (lengths < 100).mean() < 0.016, "as good as no start is near the end of the document"
    assert lengths.max() == 100 and lengths.min() < 50


def test_sentences_are_gathered_up_to_the_wanted_length(small_corpus: Small) -> None:
    spans = source(ReleasedSpanSource, corpus_of([[[[n] for n in range(10, 20)]]]), small_corpus[0], 16)
    # a short one, of 3 tokens; from the fifth sentence on, two of them in A
    row = spans.example(Fixed(random=[0.001, 0.5], integers=[3, 4, 2], binomial=[0, 0]))  # type: ignore[arg-type]
    assert row.ids.tolist() == [CLS, 14, 15, SEP, 16, SEP]


@pytest.mark.parametrize("kind", [SpanSource, ReleasedSpanSource])
def test_documents_come_in_proportion_to_their_tokens(small_corpus: Small, kind: type[SpanSource]) -> None:
    corpus = corpus_of([[[[7], [7]]], [[[8] * 3, [8] * 3]], [[[9] * 6, [9] * 6]]])
    spans = source(kind, corpus, small_corpus[0], 16)
    found = Counter(token for step in range(250) for token in spans.batch(step).ids_BT[:, 1].tolist())
    shares = np.array([found[token] for token in (7, 8, 9)]) / 2000
    assert np.abs(shares - [0.1, 0.3, 0.6]).max() < 0.04


def test_a_short_length_that_fits_no_two_sentences_still_gives_two(small_corpus: Small) -> None:
    corpus = corpus_of([[[[9] * 30, [8] * 30]]])
    spans = source(ReleasedSpanSource, corpus, small_corpus[0], 16)
    row = spans.example(np.random.default_rng(0))
    assert row.ids.tolist() == [CLS, *[9] * 7, SEP, *[8] * 6, SEP]


def test_both_forms_are_evaluated_on_the_same_tiles(small_corpus: Small) -> None:
    tokenizer, splits = small_corpus
    kinds = [{}, {"spans": {"form": "released"}}]
    paper, released = (
        open_source(small(**KINDS["segabert"], **extra), splits["valid"], tokenizer, batch_size=5, seed=None)
        for extra in kinds
    )
    assert type(paper) is SpanSource and type(released) is ReleasedSpanSource
    assert paper.steps_per_epoch == released.steps_per_epoch > 1
    for step in range(paper.steps_per_epoch):
        one, other = paper.batch(step), released.batch(step)
        assert torch.equal(one.ids_BT, other.ids_BT) and torch.equal(one.positions_BTP, other.positions_BTP)


@pytest.mark.parametrize("form", ["paper", "released"])
def test_a_step_gives_the_same_batch_whenever_it_is_asked_for(small_corpus: Small, form: str) -> None:
    tokenizer, splits = small_corpus
    config = small(**KINDS["segabert"], spans={"form": form})
    one, other = (open_source(config, splits["train"], tokenizer, batch_size=4, seed=3) for _ in range(2))
    for step in range(5):
        one.batch(step)
    assert torch.equal(one.batch(7).ids_BT, other.batch(7).ids_BT)
    assert not torch.equal(one.batch(7).ids_BT, one.batch(8).ids_BT)


def test_two_halves_need_room(small_corpus: Small) -> None:
    with pytest.raises(InputError, match="max_length: 4 has no room"):
        source(ReleasedSpanSource, EXAMPLE, small_corpus[0], 4)
