"""What the batches hold, and that a step's batch depends on nothing but the step."""

from __future__ import annotations

import itertools
import time
import tracemalloc
from typing import Literal

import numpy as np
import pytest
import torch
from torch import Tensor

from quartet.config.model import POSITIONS
from quartet.config.training import BatchBy
from quartet.data import open_source
from quartet.data.batch import Row, collate, framed
from quartet.data.passages import sentence_row
from quartet.data.segments import SegmentedTokens
from quartet.data.sentences import SHAPES, BatchShapes, SentenceSource, least_padding
from quartet.data.spans import POOL, SpanSource
from quartet.data.streams import StreamSource, lay_out
from quartet.errors import InputError
from quartet.objectives import OBJECTIVES
from quartet.objectives.base import IGNORED
from quartet.objectives.clm import CausalLM
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import SPECIALS, TextTokenizer, is_own
from quartet.training import randomness
from tests.models.shapes import KINDS, small
from tests.small_corpus import corpus_of

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


def test_lay_out_is_the_docstrings_example() -> None:
    """a b | c . d: two sentences in the first paragraph, one in the second."""
    tokens, lengths = np.array([10, 11, 12, 13]), np.array([2, 1, 1])
    for index, expected in (
        ("running", [(0, 0, 0), (1, 0, 0), (2, 1, 0), (3, 1, 0), (4, 2, 1), (5, 2, 1)]),
        ("reset", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1)]),
    ):
        ids, positions = lay_out(tokens, lengths, np.array([0, 1, 0]), np.array([0, 0, 1]), 6, index)  # type: ignore[arg-type]
        assert ids.tolist() == [10, 11, 12, 6, 13, 6]
        assert [tuple(row) for row in positions[:, 1:].tolist()] == expected
        assert positions[:, 0].tolist() == list(range(6))


@pytest.mark.parametrize("kind", ["unilm", "segabert", "segatron-xl"])
@pytest.mark.parametrize("seed", [3, None])
def test_the_columns_of_a_batch_are_in_the_order_of_positions(
    small_corpus: Small, kind: str, seed: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A further kind is a further column, wherever it stands."""
    tokenizer, splits = small_corpus

    def positions() -> Tensor:
        source = open_source(small(**KINDS[kind]), splits["train"], tokenizer, batch_size=4, seed=seed)
        return source.batch(0).positions_BTP

    usual_BTP = positions()
    monkeypatch.setattr("quartet.data.batch.POSITIONS", POSITIONS[::-1])
    assert torch.equal(positions(), usual_BTP.flip(-1))
    assert usual_BTP[..., POSITIONS.index("token")].any()


def test_the_positions_of_sentences_are_those_of_framed_rows(small_corpus: Small) -> None:
    """As they are read when a text is scored."""
    tokenizer, splits = small_corpus
    batch = open_source(small(), splits["train"], tokenizer, batch_size=8, seed=3).batch(0)
    own = [ids_T[real_T][1:-1].numpy() for ids_T, real_T in zip(batch.ids_BT, batch.real_BT, strict=True)]
    rows = [framed(sentence_row(ids), tokenizer.bos_id, tokenizer.eos_id) for ids in own]
    again = collate(rows, tokenizer.pad_id, batch.ids_BT.shape[1])
    assert torch.equal(batch.ids_BT, again.ids_BT)
    assert torch.equal(batch.positions_BTP, again.positions_BTP)


def test_positions_are_kept_only_of_the_lengths_that_occur(small_corpus: Small) -> None:
    """One sentence as long as an input may be does not ask for the square of its length."""
    longest = 4096
    corpus = corpus_of([[[[20] * 5, [20] * longest]]])
    tracemalloc.start()
    source = SentenceSource(
        corpus, small_corpus[0], max_length=longest, batch_size=1, seed=None, batch_by="sentences"
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * longest * len(POSITIONS)
    widths = {source.batch(step).positions_BTP.shape[1] for step in range(source.steps_per_epoch)}
    assert widths == {7, longest}


def test_segment_indices_restart_where_they_should(small_corpus: Small) -> None:
    corpus = small_corpus[1]["train"]
    tokens = SegmentedTokens(corpus)
    for document in range(len(corpus.doc_ids)):
        row = tokens.document(document)
        token, sentence, paragraph = row.segments.T
        assert (token[0], sentence[0], paragraph[0]) == (0, 0, 0)
        opens = np.flatnonzero(token == 0)
        steps = np.diff(row.segments[opens], axis=0)
        new_paragraph = steps[:, 2] == 1
        assert set(steps[:, 2].tolist()) <= {0, 1}
        assert (sentence[opens[1:]][new_paragraph] == 0).all()
        assert (steps[~new_paragraph, 1] == 1).all()
        assert row.ids.tolist() == corpus.ids[tokens.document_tokens[document] :][: len(row.ids)].tolist()


def test_a_limited_document_ends_with_a_sentence(small_corpus: Small) -> None:
    corpus = small_corpus[1]["train"]
    tokens = SegmentedTokens(corpus)
    whole, part = tokens.document(1), tokens.document(1, limit=20)
    assert 20 <= len(part.ids) < len(whole.ids)
    assert whole.segments[len(part.ids), 0] == 0, "the next token opens a sentence"


def test_specials_take_their_neighbours_segments() -> None:
    row = framed(Row(np.array([9, 9, 9]), np.array([[0, 0, 2], [1, 0, 2], [0, 1, 2]])), 2, 3)
    assert row.ids.tolist() == [2, 9, 9, 9, 3]
    assert row.segments.tolist() == [[0, 0, 2], [0, 0, 2], [1, 0, 2], [0, 1, 2], [0, 1, 2]]
    assert framed(Row(np.zeros(0, dtype=np.int64), np.zeros((0, 3), dtype=np.int64)), 2, 3).ids.tolist() == [
        2,
        3,
    ]


def test_collate_pads_on_the_right() -> None:
    rows = [Row(np.array([7, 8]), np.zeros((2, 3))), Row(np.array([9]), np.zeros((1, 3)))]
    batch = collate(rows, pad_id=0)
    assert batch.ids_BT.tolist() == [[7, 8], [9, 0]]
    assert batch.real_BT.tolist() == [[True, True], [True, False]]
    assert batch.positions_BTP[0, :, 0].tolist() == [0, 1]


def test_own_tokens_are_the_unknown_one_and_the_ordinary_ones() -> None:
    ids = torch.arange(len(SPECIALS) + 2)
    assert is_own(ids).nonzero().flatten().tolist() == [1, 7, 8]


@pytest.mark.parametrize("batch_by", ["tokens", "sentences"])
@pytest.mark.parametrize("seed", [5, None])
def test_an_epoch_has_each_sentence_once(
    small_corpus: Small, seed: int | None, batch_by: Literal["tokens", "sentences"]
) -> None:
    tokenizer, splits = small_corpus
    source = SentenceSource(
        splits["train"], tokenizer, max_length=64, batch_size=8, seed=seed, batch_by=batch_by
    )
    seen = []
    for step in range(source.steps_per_epoch):
        batch = source.batch(step)
        if batch_by == "sentences":
            assert batch.ids_BT.shape[1] == batch.real_BT.sum(1).max(), "no column of padding alone"
        for row, real in zip(batch.ids_BT, batch.real_BT, strict=True):
            ids = row[real].tolist()
            assert (ids[0], ids[-1]) == (tokenizer.bos_id, tokenizer.eos_id)
            seen.append(tuple(ids[1:-1]))
    corpus = splits["train"]
    assert sorted(seen) == sorted(tuple(corpus.sentence(i).tolist()) for i in range(len(corpus)))
    assert source.cut == 0
    short = SentenceSource(splits["train"], tokenizer, max_length=8, batch_size=8, seed=5)
    assert short.cut == sum(max(0, len(ids) - 6) for ids in seen)


@pytest.mark.parametrize("batch_by", ["tokens", "sentences"])
def test_a_batch_of_more_sentences_than_there_are_is_refused(
    small_corpus: Small, batch_by: Literal["tokens", "sentences"]
) -> None:
    tokenizer, splits = small_corpus
    there = len(splits["train"])

    def source(batch_size: int, seed: int | None) -> SentenceSource:
        return SentenceSource(
            splits["train"], tokenizer, max_length=64, batch_size=batch_size, seed=seed, batch_by=batch_by
        )

    assert source(there, 1).steps_per_epoch >= 1
    with pytest.raises(
        InputError, match=rf"training.batch_size: {there + 1} .* {there} of .* write {there} or"
    ):
        source(there + 1, 1)
    assert source(there + 1, None).steps_per_epoch >= 1, "evaluation reads what there is"


def test_batches_by_tokens_are_of_few_shapes_and_about_equally_long() -> None:
    """Lengths as in running text: of 5,000 sentences the mean is 28 tokens, the longest 200."""
    lengths = np.random.default_rng(1).gamma(1.5, 18, 5000).astype(np.int64).clip(1, 198) + 2
    shapes = BatchShapes.of(lengths, batch_size=32)
    order, another = (np.random.default_rng(seed).permutation(5000) for seed in (2, 3))
    batches = shapes.batches(order, lengths[order])
    assert sorted(np.concatenate([sentences for sentences, _ in batches]).tolist()) == list(range(5000))
    assert len({(len(sentences), width) for sentences, width in batches}) <= SHAPES + 1
    assert all(lengths[sentences].max() <= width for sentences, width in batches)
    tokens = np.array([lengths[sentences].sum() for sentences, _ in batches])
    wanted = 32 * lengths.mean()
    assert (np.abs(tokens / wanted - 1) < 0.25).mean() > 0.97, "all but what is left of each shape"
    places = sum(len(sentences) * width for sentences, width in batches)
    assert tokens.sum() / places > 0.88, "little padding"
    assert shapes.steps == len(batches) == pytest.approx(5000 / 32, rel=0.05)
    other = shapes.batches(another, lengths[another])
    assert [(len(one), width) for one, width in other] == [(len(one), width) for one, width in batches]


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([4, 4, 4, 4], [([0, 1], 4), ([2, 3], 4)]),
        # tokens in the mean: 2 x 5 = 10; rows of 3 tokens: 3, of 9: 1; the last sentence of 3 goes on to the 9s
        ([3, 3, 3, 3, 9, 9], [([0, 1, 2], 3), ([3], 9), ([4], 9), ([5], 9)]),
        ([], []),
    ],
)
def test_batches_by_tokens_by_hand(lengths: list[int], expected: list[tuple[list[int], int]]) -> None:
    array = np.array(lengths, dtype=np.int64)
    batches = BatchShapes.of(array, batch_size=2).batches(np.arange(len(array)), array)
    assert [(sentences.tolist(), width) for sentences, width in batches] == expected


def test_no_other_lengths_pad_less() -> None:
    """Against all choices of three lengths of nine, of which the longest is one."""
    lengths, counts = np.array([3, 4, 5, 8, 9, 12, 20, 21, 40]), np.array([5, 9, 2, 7, 1, 6, 3, 4, 1])

    def places(chosen: np.ndarray) -> int:
        return int(counts @ chosen[np.searchsorted(chosen, lengths)])

    found = least_padding(lengths, counts, 3)
    every = [np.array([*two, 40]) for two in itertools.combinations(lengths[:-1], 2)]
    assert len(found) == 3
    assert places(found) == min(map(places, every)) < max(map(places, every))
    assert least_padding(lengths, counts, 9).tolist() == lengths.tolist()


@pytest.mark.parametrize("kind", ["unilm", "bilm", "tta", "segabert", "tta-segments", "segatron-xl"])
@pytest.mark.parametrize("specials", [False, True])
def test_a_step_is_divided_by_the_mean_number_of_targets(
    small_corpus: Small, kind: str, specials: bool
) -> None:
    """Counted over the batches themselves: a whole epoch, and for spans, which are drawn, 400 steps."""
    tokenizer, splits = small_corpus
    config = small(**KINDS[kind])
    objective = OBJECTIVES[config.objective](0.3, 0, specials)
    source = open_source(config, splits["train"], tokenizer, batch_size=4, seed=3)
    steps = 400 if config.reads == "spans" else source.steps_per_epoch
    counted = []
    for step in range(steps):
        _, targets = objective.training_pair(
            source.batch(step), tokenizer.vocab_size, randomness.rows(1, 0, 0)
        )
        counted.append(int((targets != IGNORED).sum()))
    expected = objective.targets_per_step(source.row_lengths)
    if config.reads == "streams":
        assert set(counted[:-1]) == {round(expected)} and counted[-1] <= expected, "the last window is short"
    else:
        assert np.mean(counted) == pytest.approx(expected, rel=0.02 if config.reads == "spans" else 1e-9)


def test_the_released_spans_targets_are_those_of_inputs_like_them(small_corpus: Small) -> None:
    tokenizer, splits = small_corpus
    config = small(**KINDS["segabert"], spans={"form": "released"})
    objective = OBJECTIVES["mlm"](0.3)
    source = open_source(config, splits["train"], tokenizer, batch_size=4, seed=3)
    counted = [
        int((objective.training_pair(source.batch(step), 99, randomness.rows(1, 0, 0))[1] != IGNORED).sum())
        for step in range(400)
    ]
    assert np.mean(counted) == pytest.approx(objective.targets_per_step(source.row_lengths), rel=0.02)


def test_spans_are_running_text_that_starts_with_a_sentence(small_corpus: Small) -> None:
    tokenizer, splits = small_corpus
    corpus = splits["train"]
    source = SpanSource(corpus, tokenizer, max_length=32, batch_size=16, seed=5)
    text = " ".join(str(token) for token in corpus.ids.tolist())
    full = 0
    for step in range(4):
        batch = source.batch(step)
        for row, real, positions in zip(batch.ids_BT, batch.real_BT, batch.positions_BTP, strict=True):
            ids = row[real].tolist()
            assert (ids[0], ids[-1]) == (tokenizer.cls_id, tokenizer.sep_id)
            assert " ".join(str(token) for token in ids[1:-1]) in text
            assert positions[1, 1] == 0, "a span starts with a sentence"
            full += len(ids) == 32
    assert full > 32, "most spans fill the input"


def test_evaluation_spans_tile_the_corpus(small_corpus: Small) -> None:
    tokenizer, splits = small_corpus
    source = SpanSource(splits["valid"], tokenizer, max_length=20, batch_size=7, seed=None)
    tokens = [
        token
        for step in range(source.steps_per_epoch)
        for row, real in zip(*(lambda batch: (batch.ids_BT, batch.real_BT))(source.batch(step)), strict=True)
        for token in row[real].tolist()[1:-1]
    ]
    assert tokens == splits["valid"].ids.tolist()


@pytest.mark.parametrize("index", ["running", "reset"])
def test_streams_go_on_where_they_stopped(small_corpus: Small, index: str) -> None:
    tokenizer, splits = small_corpus
    source = StreamSource(splits["train"], tokenizer, window=10, batch_size=3, seed=5, index=index)  # type: ignore[arg-type]
    batches = [source.batch(step) for step in range(source.steps_per_epoch)]
    assert [batch.fresh for batch in batches] == [True] + [False] * (len(batches) - 1)
    for before, after in itertools.pairwise(batches):
        assert before.following_B is not None
        assert torch.equal(before.following_B, after.ids_BT[:, 0])
    stream = torch.cat([batch.ids_BT for batch in batches], dim=1)
    assert stream.shape == (3, source.stream)
    own = stream[stream != tokenizer.eos_id]
    assert len(splits["train"].ids) - 3 <= len(own) + 3 and set(own.tolist()) <= set(
        splits["train"].ids.tolist()
    )
    if index == "running":
        positions = torch.cat([batch.positions_BTP for batch in batches], dim=1)
        assert (positions.diff(dim=1) >= 0).all(), "running counters never go back"
    assert not torch.equal(source.batch(0).ids_BT, source.batch(source.steps_per_epoch).ids_BT), "a new order"


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 40])
def test_a_validation_of_streams_predicts_every_token_but_the_first(small_corpus: Small, rows: int) -> None:
    """Whatever the number of streams, so that the curves of two of them compare."""
    tokenizer, splits = small_corpus
    whole = StreamSource(splits["valid"], tokenizer, window=10_000, batch_size=1, seed=None, index="running")
    expected = [*whole.batch(0).ids_BT[0].tolist(), *whole.batch(0).following_B.tolist()]  # type: ignore[union-attr]
    source = StreamSource(splits["valid"], tokenizer, window=10, batch_size=rows, seed=None, index="running")
    read: list[list[int]] = [[] for _ in range(rows)]
    predicted: list[list[int]] = [[] for _ in range(rows)]
    for step in range(source.steps_per_epoch):
        batch = source.batch(step)
        ids, targets = CausalLM().training_pair(batch, tokenizer.vocab_size, randomness.rows(1, 0, 0))
        for row in range(rows):
            read[row] += ids[row][batch.real_BT[row]].tolist()
            predicted[row] += targets[row][targets[row] != IGNORED].tolist()
    assert list(itertools.chain(*read)) == expected[:-1]
    assert list(itertools.chain(*predicted)) == expected[1:]


def test_too_short_a_split_for_the_streams_is_named(small_corpus: Small) -> None:
    tokenizer, splits = small_corpus
    with pytest.raises(InputError, match="training split"):
        StreamSource(splits["train"], tokenizer, window=8, batch_size=100_000, seed=1, index="running")


@pytest.mark.parametrize("kind", ["unilm", "segabert", "segatron-xl"])
def test_a_step_gives_the_same_batch_whenever_it_is_asked_for(small_corpus: Small, kind: str) -> None:
    tokenizer, splits = small_corpus
    config = small(**KINDS[kind])
    one, other = (open_source(config, splits["train"], tokenizer, batch_size=4, seed=3) for _ in range(2))
    for step in range(2 * one.steps_per_epoch):
        one.batch(step)
    for step in (one.steps_per_epoch + 1, 0, 3):
        assert torch.equal(one.batch(step).ids_BT, other.batch(step).ids_BT)
        assert torch.equal(one.batch(step).positions_BTP, other.batch(step).positions_BTP)


def test_a_batch_with_its_masks_is_made_in_milliseconds(small_corpus: Small) -> None:
    """256 sentences of 25 tokens on one core, the quickest of many, in the core's seconds: a GPU must not wait."""
    tokenizer, _ = small_corpus
    corpus = corpus_of([[[list(range(10, 35))] * 256]])
    source = SentenceSource(corpus, tokenizer, max_length=128, batch_size=256, seed=1)
    objective = OBJECTIVES["mlm"]()
    seconds = []
    for step in range(60):
        begun = time.thread_time()
        batch = source.batch(step)
        objective.label(batch, tokenizer.vocab_size, randomness.rows(1, 0, step))
        seconds.append(time.thread_time() - begun)
        assert batch.ids_BT.shape == (256, 27)
    assert min(seconds) < 6e-3  # twice what a slow core takes


@pytest.mark.parametrize("kind", ["unilm", "segabert", "segatron-xl"])
def test_the_parts_of_a_batch_may_all_be_as_wide_as_it_is(small_corpus: Small, kind: str) -> None:
    """A part of fewer columns is another shape, for which a GPU would choose its kernels anew."""
    tokenizer, splits = small_corpus
    source = open_source(small(**KINDS[kind]), splits["train"], tokenizer, batch_size=8, seed=3)
    trimmed = 0
    for step in range(source.steps_per_epoch):
        batch = source.batch(step)
        for part, narrow in zip(batch.split(3, trim=False), batch.split(3), strict=True):
            assert part.ids_BT.shape[1] == batch.ids_BT.shape[1]
            trimmed += part.ids_BT.shape[1] - narrow.ids_BT.shape[1]
            width = narrow.ids_BT.shape[1]
            assert torch.equal(part.ids_BT[:, :width], narrow.ids_BT)
            assert not bool(part.real_BT[:, width:].any())
    assert (trimmed > 0) is (kind != "segatron-xl")


@pytest.mark.parametrize("kind", ["unilm", "segabert", "segatron-xl"])
@pytest.mark.parametrize("batch_by", ["tokens", "sentences"])
def test_an_epoch_on_a_gpu_has_at_most_sixteen_shapes(
    small_corpus: Small, kind: str, batch_by: BatchBy
) -> None:
    """Of documents of sentences of one to two hundred tokens."""
    draw = np.random.default_rng(1)
    documents = [[[list(range(10, 10 + size))] for size in draw.integers(1, 200, 30)] for _ in range(40)]
    corpus, config = corpus_of(documents), small(**{**KINDS[kind], "max_length": 128})
    source = open_source(
        config, corpus, small_corpus[0], batch_size=4, seed=1, batch_by=batch_by, few_shapes=True
    )
    shapes = {source.batch(step).ids_BT.shape for step in range(source.steps_per_epoch)}
    assert source.steps_per_epoch > 100
    assert (5 if kind == "unilm" else 1) <= len(shapes) <= 16


@pytest.mark.parametrize("form", ["paper", "released"])
def test_the_spans_of_a_step_are_of_like_length(small_corpus: Small, form: str) -> None:
    """In few shapes; over the steps that draw together they are as long as spans are, and in any order."""
    tokenizer, splits = small_corpus
    config = small(**{**KINDS["segabert"], "spans": {"form": form}, "max_length": 64})
    source = open_source(config, splits["train"], tokenizer, batch_size=4, seed=3)
    assert isinstance(source, SpanSource)
    batches = [source.batch(step) for step in range(4 * POOL)]
    assert len({batch.ids_BT.shape for batch in batches}) <= 16
    assert all(batch.ids_BT.shape[1] % 4 == 0 for batch in batches), "a sixteenth of the longest"
    lengths = [batch.real_BT.sum(1).tolist() for batch in batches]
    for at in range(0, len(batches), POOL):
        pool = sorted(lengths[at : at + POOL])
        assert pool != lengths[at : at + POOL]
        assert all(max(one) <= min(other) for one, other in itertools.pairwise(pool))
    typical = source.row_lengths
    own = [length - typical.specials for step in lengths for length in step]
    expected = float(typical.own @ typical.chances)
    assert np.mean(own) == pytest.approx(expected, rel=0.1)
    again = open_source(config, splits["train"], tokenizer, batch_size=4, seed=3)
    assert torch.equal(again.batch(POOL + 3).ids_BT, batches[POOL + 3].ids_BT), "by its number"
