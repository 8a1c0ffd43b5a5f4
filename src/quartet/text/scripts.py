"""Words of texts, also in scripts that are written without spaces between them.

White space ends a word. In Chinese, Japanese, Thai and the like it ends a sentence at most, so there each letter counts
as a word, as the character error rate has it. Figures per word are then figures per character.
"""

from __future__ import annotations

import unicodedata
from functools import cache

#: How Unicode's names of the letters begin that are written without spaces between words.
WITHOUT_SPACES = ("CJK ", "HIRAGANA ", "KATAKANA ", "THAI ", "LAO ", "KHMER ", "MYANMAR ", "TIBETAN ", "YI ")


def words_of(token: str) -> int:
    """How many words a stretch without white space counts as: its letters of scripts without spaces, or one.

    >>> words_of("heron"), words_of("ご視聴")
    (1, 3)
    """
    return 1 if token.isascii() else max(1, sum(map(_is_unspaced, token)))


def count_words(text: str) -> int:
    """How many words a text has.

    >>> count_words("a grey heron"), count_words("ご視聴 ありがとう")
    (3, 8)
    """
    return sum(map(words_of, text.split()))


@cache
def _is_unspaced(character: str) -> bool:
    return unicodedata.name(character, "").startswith(WITHOUT_SPACES)
