"""A sentence over the model's length is read in parts, each of which is an input of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.scoring.test_language_model import random_model

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
UNIT = "the river crossed "


@pytest.mark.parametrize("kind", ["tta", "bilm"])
@pytest.mark.parametrize("positions", [["sequence"], ["token"], ["sequence", "token"]], ids=" ".join)
@pytest.mark.parametrize("parts", [2, 3])
def test_the_indices_of_a_part_start_anew(
    small_corpus: Small, kind: str, positions: list[Any], parts: int
) -> None:
    """So the same words are as likely in each part as they are alone."""
    model = random_model(kind, small_corpus[0], positions=positions, max_length=22)
    units = 20 // len(model.tokenizer.encode(UNIT))
    (alone,) = model.token_logprobs([UNIT * units])
    assert len(alone) > 10
    (whole,) = model.token_logprobs([UNIT * units * parts])
    assert np.allclose(whole, np.tile(alone, parts), atol=1e-5)
    assert np.allclose(model.embed([UNIT * units * parts]), model.embed([UNIT * units]), atol=1e-5)
