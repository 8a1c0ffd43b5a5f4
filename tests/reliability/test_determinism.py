"""What may change a number, and by how much: threads and batch sizes by rounding, 1e-5 at most; nothing else does.

Processes change no byte (tests/slow/text/test_segmented_processes.py), a second run from nothing none
(tests/slow/test_tiny.py), kills none (tests/reliability/kills.py), parts of a batch 1e-5 of a loss
(tests/training/test_fit.py), threads as much in a training (tests/slow/reliability/test_threads.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch

from quartet.scoring import reading
from quartet.text.encoded import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.models.shapes import VARIANTS
from tests.scoring.test_language_model import TEXTS, random_model

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]

#: In nats a token, of any score and any point of a curve.
ROUNDING = 1e-5
#: Large enough for torch to share the work among threads.
SIZES = {"dim": 128, "heads": 4, "inner": 512}


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let torch use so many."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("kind", VARIANTS)
def test_threads_and_batch_sizes_change_scores_by_rounding(
    small_corpus: Small, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = random_model(kind, small_corpus[0], init_std=0.1, **SIZES)
    with threads(1):
        expected = model.token_logprobs(TEXTS * 4)
    for count in (1, 2):
        for budget in (1, 100, 100_000):
            monkeypatch.setattr(reading, "TOKEN_BUDGET", budget)
            with threads(count):
                found = model.token_logprobs(TEXTS * 4)
            for one, other in zip(found, expected, strict=True):
                assert np.abs(one - other).max(initial=0.0) < ROUNDING, (count, budget)
