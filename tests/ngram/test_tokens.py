"""A text becomes the same tokens when a model is estimated, when it scores, and as the other scorers read it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quartet.config.ngram import TokenConfig
from quartet.nbest.normalise import Normalisation
from quartet.ngram.tokens import splitter
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer, train_tokenizer

TEXT = "Don't  count\u00a0on it \u2013 the Caf\u00e9's well-known, [MASK] 3.5%!"


@pytest.mark.parametrize(
    ("lowercase", "punctuation", "tokens"),
    [
        (True, "strip", "don't count on it the cafe's well known mask 3 5"),
        (True, "keep", "don't count on it \u2013 the cafe's well-known, [mask] 3.5%!"),
        (False, "strip", "Don't count on it the Caf\u00e9's well known MASK 3 5"),
        (True, "split", "don ' t count on it \u2013 the cafe ' s well - known , [ mask ] 3 . 5 % !"),
    ],
)
def test_what_each_setting_makes_of_a_text(lowercase: bool, punctuation: str, tokens: str) -> None:
    split = splitter(TokenConfig(lowercase=lowercase, punctuation=punctuation))
    assert split(TEXT) == tokens.split(" ")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), st.booleans())
@settings(max_examples=100, deadline=None)
def test_split_words_are_those_of_a_word_tokenizer(text: str, lowercase: bool) -> None:
    words = splitter(TokenConfig(lowercase=lowercase, punctuation="split"))(text)
    assert all(word.split() == [word] for word in words), "KenLM reads the same tokens"
    if words:
        tokenizer = train_tokenizer("word", [text], 1000, lowercase, strip_accents=lowercase)
        assert tokenizer.tokens(tokenizer.encode(text)) == words


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=30))
@settings(max_examples=100, deadline=None)
def test_a_normalised_hypothesis_is_read_word_by_word(text: str) -> None:
    """So the words of a list, as normalised for every scorer, are the n-gram's words, but for accents."""
    normalised = Normalisation(lowercase=True, strip_punctuation=True).text(text)
    strip = splitter(TokenConfig(lowercase=True, punctuation="strip"))
    assert strip(normalised) == normalised.split() == strip(text)


def test_pieces_are_the_tokenizers(small_corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]]) -> None:
    tokenizer, _ = small_corpus
    pieces = splitter(TokenConfig(units="pieces"), tokenizer)
    assert pieces("The millers \u2603") == ["the", "miller", "##s", "[UNK]"]
    with pytest.raises(ValueError, match="needs a tokenizer"):
        splitter(TokenConfig(units="pieces"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"lowercase": True}, "punctuation is missing"),
        ({"punctuation": "split"}, "lowercase is missing"),
        ({"units": "pieces", "lowercase": True}, "lowercase is for units words"),
    ],
)
def test_settings_fit_their_units(settings: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        TokenConfig(**settings)
