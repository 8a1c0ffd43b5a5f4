"""The spans of a step are of like length, over the many steps that draw together."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from quartet.data import open_source
from quartet.data.spans import POOL, SpanSource
from tests.data.test_batches import Small
from tests.models.shapes import KINDS, small


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
