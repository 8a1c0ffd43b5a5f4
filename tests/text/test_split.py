"""Splits depend on the ids and the seed alone, have the asked size and are never empty."""

from __future__ import annotations

import random

import pytest

from quartet.errors import InputError
from quartet.text.split import SPLITS, HeldOutShares, given_split, none_empty


def split(ids: list[str], shares: HeldOutShares) -> dict[str, str]:
    return dict(zip(ids, shares.assign([shares.key(name) for name in ids]), strict=True))


def ids(count: int) -> list[str]:
    return [f"document {number}" for number in range(count)]


@pytest.mark.parametrize(
    ("count", "valid", "test"), [(3, 0.01, 0.01), (4, 0.49, 0.49), (107, 0.05, 0.1), (1000, 0.2, 0.003)]
)
def test_sizes_are_as_asked_and_never_zero(count: int, valid: float, test: float) -> None:
    splits = list(split(ids(count), HeldOutShares(valid, test)).values())
    assert splits.count("test") == min(max(1, round(count * test)), count - 2)
    assert splits.count("valid") == min(max(1, round(count * valid)), count - 1 - splits.count("test"))
    assert splits.count("train") >= 1


def test_the_order_does_not_matter_and_the_seed_does() -> None:
    names = ids(200)
    shuffled = random.Random(3).sample(names, len(names))
    assert split(shuffled, HeldOutShares(0.1, 0.1)) == split(names, HeldOutShares(0.1, 0.1))
    assert split(names, HeldOutShares(0.1, 0.1, seed=1)) != split(names, HeldOutShares(0.1, 0.1))


def test_a_new_document_moves_few_others() -> None:
    before = split(ids(200), HeldOutShares(0.1, 0.1))
    after = split(ids(201), HeldOutShares(0.1, 0.1))
    assert sum(before[name] != after[name] for name in before) <= 2


def test_a_split_is_pinned() -> None:
    splits = split(ids(10), HeldOutShares(0.1, 0.2))
    assert [name for name, where in splits.items() if where == "valid"] == ["document 9"]
    assert [name for name, where in splits.items() if where == "test"] == ["document 1", "document 3"]


def test_copies_of_a_document_stay_together() -> None:
    shares = HeldOutShares(0.3, 0.3)
    splits = shares.assign([shares.key(name) for name in ids(9) + ids(9)])
    assert splits[:9] == splits[9:]


@pytest.mark.parametrize(
    ("valid", "test"), [(0, 0.1), (0.1, 1), (-0.1, 0.1), (0.5, 0.5), (float("nan"), 0.1)]
)
def test_impossible_shares_are_refused(valid: float, test: float) -> None:
    with pytest.raises(InputError, match="split"):
        HeldOutShares(valid, test)


def test_two_documents_cannot_be_split() -> None:
    with pytest.raises(InputError, match="2 documents cannot be split"):
        split(ids(2), HeldOutShares(0.1, 0.1))


def test_folders_can_say_the_split() -> None:
    splits = [given_split(name) for name in ("test/a", "train/b/c", "valid/d")]
    assert none_empty(splits) == ["test", "train", "valid"]
    assert all(any(split is known for known in SPLITS) for split in splits), (
        "no document has a text of its own"
    )
    with pytest.raises(InputError, match="other/a: is in no folder"):
        given_split("other/a")
    with pytest.raises(InputError, match="valid/: the corpus has no document"):
        none_empty(["test", "train"])
