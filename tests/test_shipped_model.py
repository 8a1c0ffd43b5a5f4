"""The model that comes with Quartet: it opens, it is small, and its page says what was measured."""

from __future__ import annotations

import quartet
from quartet.shipped_model import IN_CLONE


def test_it_opens_and_prefers_english_to_the_same_words_in_disorder() -> None:
    model = quartet.load(IN_CLONE)
    ordered, disordered = model.score(
        ["the old man went down to the river", "river the to down went man old the"]
    )
    assert ordered > disordered + 5


def test_it_is_small_enough_for_a_repository() -> None:
    assert sum(path.stat().st_size for path in IN_CLONE.iterdir()) < 20e6


def test_without_a_name_it_is_this_one() -> None:
    assert quartet.load().fingerprint == quartet.load(IN_CLONE).fingerprint
