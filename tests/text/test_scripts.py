"""Words are those between white space, and the letters of scripts that have none."""

from __future__ import annotations

import numpy as np
import pytest

from quartet.statistics.perplexity import perplexity_measures
from quartet.text.scripts import count_words, words_of


def test_letters_of_scripts_without_spaces_are_words() -> None:
    assert [words_of(each) for each in ("zzz", "ありがとう", "iPhone手机", "ขอบคุณ", "…", "мама")] == [
        1,
        5,
        2,
        6,
        1,
        1,
    ]
    assert count_words("the ありがとう rabbit\u3000zzz") == 8
    assert count_words("") == 0


def test_a_figure_per_word_of_an_unspaced_text_is_per_letter() -> None:
    text = "吾輩は猫である名前はまだ無い"
    logprobs = [np.full(len(text), -3.0)]
    found = perplexity_measures(logprobs, [count_words(text)], False, samples=20, seed=1)
    assert found["ppl-word"].value == pytest.approx(found["ppl"].value), "and not e^42"
