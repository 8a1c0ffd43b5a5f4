"""Which documents are for training, for validation and for the test: by a hash of their ids, or by folder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quartet.errors import InputError

SPLITS = ("train", "valid", "test")


@dataclass(frozen=True)
class HeldOutShares:
    """The shares of the documents that are held out; training gets the rest.

    Every document has a 64-bit key, a hash of the seed and its id. Sorted by key, the first documents are the
    test split and the next the validation split, as many as the shares say, rounded, but at least one each. So
    a split depends on no order, it has the asked size even in a small corpus, and a document that is added or
    removed moves at most a few others.

    Attributes:
        valid: share of the validation split, above 0.
        test: share of the test split, above 0.
        seed: another seed gives another split.

    Raises:
        InputError: a share is not above 0, or nothing would be left for training.
    """

    valid: float
    test: float
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("valid", "test"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"split.{name}", f"{getattr(self, name)} is no share between 0 and 1")
        if self.valid + self.test >= 1:
            raise InputError("split", f"valid {self.valid} and test {self.test} leave nothing for training")

    def key(self, document_id: str) -> int:
        """The 64-bit number that ranks a document."""
        text = f"{self.seed}\0{document_id}".encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")

    def assign(self, keys: Sequence[int]) -> list[str]:
        """The split of each document, given the keys of all.

        Raises:
            InputError: fewer than three documents cannot fill three splits.
        """
        ranked = np.unique(np.asarray(keys, dtype=np.uint64))
        if len(ranked) < len(SPLITS):
            raise InputError(
                "split",
                f"{len(keys)} documents cannot be split into train, valid and test",
                "give a corpus of at least three documents",
            )
        test = min(max(1, round(self.test * len(ranked))), len(ranked) - 2)
        valid = min(max(1, round(self.valid * len(ranked))), len(ranked) - 1 - test)
        first_valid, first_train = int(ranked[test]), int(ranked[test + valid])
        return ["test" if key < first_valid else "valid" if key < first_train else "train" for key in keys]


def folder_of(document_id: str) -> str:
    """The first folder in the id of a document: its split, where a corpus brings its splits."""
    return document_id.partition("/")[0]


def given_split(document_id: str) -> str:
    """The split that a corpus brings along for a document: the first folder in its id, one of `SPLITS`.

    Raises:
        InputError: it lies elsewhere.
    """
    split = folder_of(document_id)
    if split not in SPLITS:
        raise InputError(document_id, "is in no folder train/, valid/ or test/", "or give shares")
    return SPLITS[SPLITS.index(split)]  # one text for all documents


def none_empty(splits: list[str]) -> list[str]:
    """The splits of all documents, as they are.

    Raises:
        InputError: a split has no document.
    """
    for split in SPLITS:
        if split not in splits:
            raise InputError(f"{split}/", "the corpus has no document there")
    return splits
