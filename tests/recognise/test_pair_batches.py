"""Batches of pairs: within the budget, every pair once an epoch, the same for the same step."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from quartet.recognise import parallel_text
from quartet.recognise.parallel_text import IGNORED, PairBatch, PairSource, ParallelText, encode_pairs
from quartet.recognise.vocabulary import PieceTokenizer
from tests.recognise import toy

PIECES = toy.tokenizer()
PAIRS = encode_pairs(toy.TRAIN, PIECES, 24)


def texts(batch: PairBatch) -> list[tuple[str, str]]:
    """What a batch holds, read back."""
    targets = batch.targets_BT.masked_fill(batch.targets_BT == IGNORED, PieceTokenizer.pad_id)
    rows = zip(batch.source_BS.tolist(), targets.tolist(), strict=True)
    return [(PIECES.decode(source), PIECES.decode(target)) for source, target in rows]


@pytest.mark.parametrize("seed", [None, 5])
def test_an_epoch_holds_every_pair_once_within_the_budget(seed: int | None) -> None:
    source = PairSource(PAIRS, batch_tokens=100, seed=seed)
    seen, targets = [], 0
    for step in range(source.steps_per_epoch):
        batch = source.batch(step)
        assert max(batch.source_BS.numel(), batch.targets_BT.numel()) <= 100
        targets += batch.targets
        seen += texts(batch)
    assert targets == len(PAIRS) + len(PAIRS.target.ids), "[EOS] is one of them"
    assert source.targets_per_step == pytest.approx(targets / source.steps_per_epoch)
    assert sorted(seen) == sorted(zip(toy.TRAIN.source, toy.TRAIN.target, strict=True))


def test_a_batch_is_laid_out_as_the_network_wants_it() -> None:
    one = ParallelText(("der Hund", "sah"), ("the dog", "saw that"))
    batch = PairSource(encode_pairs(one, PIECES, 24), batch_tokens=100, seed=None).batch(0)
    bos, eos, pad = PieceTokenizer.bos_id, PieceTokenizer.eos_id, PieceTokenizer.pad_id
    row = one.source.index("der Hund") if texts(batch)[0][0] == "der Hund" else 1
    source, target = PIECES.encode("der Hund"), PIECES.encode("the dog")
    assert batch.source_BS[row].tolist()[: len(source) + 1] == [*source, eos]
    assert batch.inputs_BT[row].tolist()[: len(target) + 1] == [bos, *target]
    assert batch.targets_BT[row].tolist()[: len(target) + 1] == [*target, eos]
    assert torch.equal(batch.real_BS, batch.source_BS != pad)
    assert torch.equal(batch.inputs_BT == pad, batch.targets_BT == IGNORED)


def test_steps_are_the_same_for_whoever_asks_and_epochs_differ() -> None:
    ahead, again = (PairSource(PAIRS, batch_tokens=100, seed=5) for _ in range(2))
    far = ahead.steps_per_epoch + 3
    for step in range(far):
        last = ahead.batch(step)
    assert texts(again.batch(far - 1)) == texts(last)
    assert texts(again.batch(far)) != texts(again.batch(3))
    assert texts(PairSource(PAIRS, batch_tokens=100, seed=6).batch(3)) != texts(again.batch(3))


def test_a_pair_longer_than_the_budget_is_alone() -> None:
    source = PairSource(PAIRS, batch_tokens=3, seed=None)
    assert source.steps_per_epoch == len(PAIRS)
    assert len(source.batch(0).source_BS) == 1


def test_text_is_encoded_in_chunks_as_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_text, "CHUNK", 7)
    chunked = encode_pairs(toy.TRAIN, PIECES, 8)
    monkeypatch.undo()
    whole = encode_pairs(toy.TRAIN, PIECES, 8)
    assert 0 < chunked.dropped == whole.dropped
    for side in ("source", "target"):
        first, second = getattr(chunked, side), getattr(whole, side)
        assert np.array_equal(first.ids, second.ids)
        assert np.array_equal(first.offsets, second.offsets)


def test_pairs_that_do_not_fit_are_dropped_and_counted() -> None:
    lengths = [
        max(len(PIECES.encode(source)), len(PIECES.encode(target)))
        for source, target in zip(toy.TRAIN.source, toy.TRAIN.target, strict=True)
    ]
    few = encode_pairs(toy.TRAIN, PIECES, 5)
    assert len(few) == sum(length <= 4 for length in lengths)
    assert 0 < few.dropped == len(toy.TRAIN) - len(few)
    assert few.source.lengths.max() <= 4


def test_parts_are_the_whole() -> None:
    batch = PairSource(PAIRS, batch_tokens=100, seed=5).batch(1)
    parts = batch.split(3)
    assert [part.part for part in parts] == [0, 1, 2]
    assert [row for part in parts for row in texts(part)] == texts(batch)
    assert sum(part.targets for part in parts) == batch.targets
    assert [len(part.source_BS) for part in batch.split(100)].count(0) == 100 - len(batch.source_BS)


def test_few_shapes_change_no_target() -> None:
    """Of sentences of one to twenty words, in batches that are small beside them."""
    draw = random.Random(4)
    rows = [" ".join(draw.choices(list(toy.WORDS), k=draw.randint(1, 20))) for _ in range(900)]
    long = encode_pairs(ParallelText(tuple(rows), tuple(reversed(rows))), PIECES, 128)
    plain, shaped = (PairSource(long, batch_tokens=300, seed=5, few_shapes=few) for few in (False, True))
    assert plain.steps_per_epoch == shaped.steps_per_epoch > 50
    shapes, places = set(), [0, 0]
    for step in range(plain.steps_per_epoch):
        one, other = plain.batch(step), shaped.batch(step)
        shapes.add((other.source_BS.shape, other.inputs_BT.shape))
        assert texts(other)[: len(one.source_BS)] == texts(one)
        assert torch.equal(one.targets_N, other.targets_N)
        assert bool(other.real_BS.any(dim=1).all()), "no source is of padding alone"
        for part in other.split(2, trim=False):
            assert part.source_BS.shape[1] == other.source_BS.shape[1] == part.inputs_BT.shape[1]
        sizes = [max(batch.source_BS.numel(), batch.inputs_BT.numel()) for batch in (one, other)]
        places = [before + more for before, more in zip(places, sizes, strict=True)]
    assert (
        len(shapes) <= parallel_text.SHAPES < len({plain.batch(step).source_BS.shape for step in range(50)})
    )
    assert places[1] < 1.25 * places[0], "little of it is padding"
