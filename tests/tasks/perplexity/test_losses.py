"""Losses by document: kept and read again, and two models' differences over the same documents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from quartet.errors import InputError
from quartet.results import Measure
from quartet.statistics.intervals import LEAST_DRAWS
from quartet.tasks.perplexity.losses import (
    DocumentLosses,
    loss_difference,
    nats_of,
    read_losses,
    write_losses,
)

TOKENS = (100, 50, 0, 200, 80) * 3


def losses(nats: tuple[float, ...], **changes: object) -> DocumentLosses:
    one = DocumentLosses(
        seed=1, split="test", dataset="books", tokenizer="wordpiece", pseudo=False, nats=nats, tokens=TOKENS
    )
    return replace(one, **changes)


HARD = losses((500.0, 300.0, 0.0, 800.0, 400.0) * 3)
#: Each document's loss is lower by a twentieth to a fiftieth of a nat a token.
EASY = losses((498.0, 298.5, 0.0, 790.0, 398.0) * 3)


def difference(ours: DocumentLosses, theirs: DocumentLosses) -> Measure:
    return loss_difference([ours], [theirs], LEAST_DRAWS, seed=1)


def test_the_difference_by_hand() -> None:
    found = difference(HARD, EASY)
    assert found.value == pytest.approx((2 + 1.5 + 10 + 2) / 430)
    assert (found.n, found.units, found.unit) == (3 * 430, 12, "documents")
    assert found.p is not None and found.p < 0.01
    assert found.ci_low is not None and found.ci_high is not None
    assert 1.5 / 80 < found.ci_low < found.value < found.ci_high < 10 / 200
    turned = difference(EASY, HARD)
    assert (turned.value, turned.ci_low, turned.ci_high) == pytest.approx(
        (-found.value, -found.ci_high, -found.ci_low)
    )


def test_what_is_common_to_both_is_not_in_the_interval() -> None:
    """One document is ten times as hard for both: the interval of their difference stays the same."""
    scales = (1, 10, *[1] * 13)
    hard = losses(tuple(nats * scale for nats, scale in zip(HARD.nats, scales, strict=True)))
    below = [one - other for one, other in zip(HARD.nats, EASY.nats, strict=True)]
    easy = losses(tuple(nats - less for nats, less in zip(hard.nats, below, strict=True)))
    found, plain = difference(hard, easy), difference(HARD, EASY)
    assert None not in (found.ci_low, found.ci_high)
    assert (found.value, found.ci_low, found.ci_high) == pytest.approx(
        (plain.value, plain.ci_low, plain.ci_high)
    )


def test_trainings_are_a_second_level() -> None:
    """Three trainings whose gains over one other model differ far more than the documents do."""
    gains = (0.01, 0.03, 0.05)
    trainings = [
        replace(
            HARD,
            seed=seed,
            nats=tuple(nats - gain * tokens for nats, tokens in zip(HARD.nats, TOKENS, strict=True)),
        )
        for seed, gain in enumerate(gains)
    ]
    found = loss_difference([HARD], trainings, LEAST_DRAWS, seed=1)
    assert found.value == pytest.approx(0.03)
    one = loss_difference([HARD], trainings[1:2], LEAST_DRAWS, seed=1)
    assert one.value == pytest.approx(0.03)
    assert one.ci_low is None and one.p is None, "its documents do not differ"
    # Student's t of 2 degrees of freedom at 97.5 % is 4.3: 0.02 / sqrt(3) times that is 0.05
    assert found.p is not None and found.ci_low is not None and found.ci_low < 0 and 0.05 < found.p < 0.2


def first(count: int, of: DocumentLosses) -> DocumentLosses:
    return replace(of, nats=of.nats[:count], tokens=of.tokens[:count])


def test_few_documents_have_no_interval() -> None:
    few = difference(first(11, HARD), first(11, EASY))  # two of them are empty
    assert few.value == pytest.approx((2 * (2 + 1.5 + 10 + 2) + 2) / (2 * 430 + 100))
    assert (few.ci_low, few.ci_high) == (None, None)
    enough = difference(first(12, HARD), first(12, EASY))
    assert enough.ci_low is not None


@pytest.mark.parametrize(
    "changes",
    [{"dataset": "wikitext-2"}, {"tokenizer": "words"}, {"pseudo": True}, {"split": "8-tokens"}],
    ids=str,
)
def test_other_tokens_and_another_kind_of_loss_do_not_compare(changes: dict[str, object]) -> None:
    other = replace(EASY, **changes)
    assert not HARD.comparable(other)
    with pytest.raises(ValueError, match="not of the same tokens"):
        difference(HARD, other)


def test_other_lengths_and_no_token_at_all_are_refused() -> None:
    with pytest.raises(ValueError, match="not of the same tokens"):
        difference(HARD, replace(EASY, tokens=(100, 50, 0, 200, 81)))
    none = replace(HARD, nats=(0.0,), tokens=(0,))
    with pytest.raises(ValueError, match="no token"):
        difference(none, none)


def test_they_are_read_as_they_were_written(tmp_path: Path) -> None:
    seeds = [HARD, replace(EASY, seed=2, pseudo=True)]
    write_losses(tmp_path / "losses.jsonl", seeds)
    assert read_losses(tmp_path / "losses.jsonl") == seeds


def test_nats_are_summed_by_document() -> None:
    assert nats_of([np.array([-1.0, -2.0]), np.array([]), np.array([-0.5])]) == (3.0, 0.0, 0.5)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"seed": 1', '"seed": "1"', r"losses\.jsonl:1: not losses \(seed: .*integer"),
        ("500.0", '"many"', r"losses\.jsonl:1: not losses \(nats\.0: .*number"),
        ('"tokens": [100, ', '"tokens": [', r"losses\.jsonl:1: 15 losses of 14 documents"),
        ('"pseudo"', '"pseudonym"', r"not losses \((pseudo|pseudonym): "),
    ],
)
def test_a_broken_file_is_named(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "losses.jsonl"
    write_losses(path, [HARD])
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=message):
        read_losses(path)
