"""Vocabularies: the same bytes each time, BERT's habits, specials that no text can forge."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from quartet.config.text import Pieces
from quartet.errors import InputError
from quartet.text.tokenizer import SPECIALS, TextTokenizer, train_tokenizer
from tests.text import corpus

TEXTS = [
    *corpus.sentences(300, seed=1),
    "Čapek's café, naïve and unnaïve: walker, walking, walked!",
    "中 Ωmega",
]


LOWER, CASED = (
    train_tokenizer(
        "wordpiece", TEXTS, 260, lowercase=lowercase, strip_accents=lowercase, character_coverage=1.0
    )
    for lowercase in (True, False)
)


@pytest.fixture(scope="module")
def pieces() -> TextTokenizer:
    return train_tokenizer(
        "wordpiece", TEXTS, 200, lowercase=True, strip_accents=True, character_coverage=1.0
    )


@pytest.fixture(scope="module")
def words() -> TextTokenizer:
    return train_tokenizer("word", iter(TEXTS), 30, lowercase=True, strip_accents=True)


@pytest.fixture(scope="module")
def blanks() -> TextTokenizer:
    texts = ["The <unk> well @-@ known Café ran .", "The pond is 3 @.@ 5 [MASK] deep ; <unk> <unk> <unk> ."]
    return train_tokenizer("whitespace", iter(texts), 30, lowercase=False)


@pytest.mark.parametrize("kind", ["wordpiece", "word", "whitespace"])
def test_the_same_texts_give_the_same_file(kind: Pieces) -> None:
    # The library alone numbers the ## characters anew in each training.
    made = {train_tokenizer(kind, TEXTS, 150, lowercase=True, strip_accents=True).to_json() for _ in range(4)}
    assert len(made) == 1


def test_the_specials_come_first_and_have_names(pieces: TextTokenizer, words: TextTokenizer) -> None:
    for tokenizer in (pieces, words):
        assert tuple(tokenizer.tokens(range(tokenizer.n_specials))) == SPECIALS
        ids = (tokenizer.pad_id, tokenizer.unk_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id)
        assert (*ids, tokenizer.bos_id, tokenizer.eos_id) == tuple(range(7))


def test_the_vocabulary_has_the_asked_size(pieces: TextTokenizer, words: TextTokenizer) -> None:
    assert (pieces.vocab_size, words.vocab_size) == (200, 30)


def test_encoding_lowers_strips_accents_and_splits_punctuation(pieces: TextTokenizer) -> None:
    assert pieces.encode("WALKED, Café!") == pieces.encode("walked , cafe !")
    assert (
        pieces.decode(pieces.encode("The children walked to the Harbour."))
        == "the children walked to the harbour."
    )
    assert pieces.encode("") == pieces.encode("  ") == []


def test_case_is_kept_where_asked() -> None:
    tokenizer = train_tokenizer("wordpiece", TEXTS, 260, lowercase=False, character_coverage=1.0)
    assert tokenizer.encode("The") != tokenizer.encode("the")
    assert tokenizer.decode(tokenizer.encode("Čapek naïve")) == "Čapek naïve"


def test_batches_encode_as_single_texts(pieces: TextTokenizer) -> None:
    assert pieces.encode_batch(TEXTS[-5:]) == [pieces.encode(text) for text in TEXTS[-5:]]
    assert pieces.encode_batch([]) == []


@given(st.lists(st.text(st.characters() | st.sampled_from("aB .,#\t\x7f'é中")), max_size=4), st.booleans())
def test_what_needs_no_clean_up_is_read_the_same_without_it(texts: list[str], lowercase: bool) -> None:
    tokenizer = {True: LOWER, False: CASED}[lowercase]
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    assert tokenizer.encode_batch([*texts, "Plain TEXT, (a_b)?"]) == [
        tokenizer.encode(text) for text in [*texts, "Plain TEXT, (a_b)?"]
    ]


def test_a_tokenizer_can_be_sent_to_another_process(
    pieces: TextTokenizer, words: TextTokenizer, blanks: TextTokenizer
) -> None:
    for tokenizer in (pieces, words, blanks):
        sent: TextTokenizer = pickle.loads(pickle.dumps(tokenizer))
        assert sent.sha256 == tokenizer.sha256
        assert sent.encode_batch([*TEXTS, "[MASK]"]) == tokenizer.encode_batch([*TEXTS, "[MASK]"])


def test_word_starts_are_false_on_continuations(pieces: TextTokenizer) -> None:
    ids = pieces.encode("She unwalked.")
    tokens = pieces.tokens(ids)
    assert pieces.word_starts(ids) == [not token.startswith("##") for token in tokens]
    assert sum(pieces.word_starts(ids)) == 3
    assert not all(pieces.word_starts(ids))


def test_a_literal_special_in_a_text_is_only_words(
    pieces: TextTokenizer, words: TextTokenizer, blanks: TextTokenizer, tmp_path: Path
) -> None:
    for tokenizer in (pieces, words, blanks):
        path = tmp_path / "tokenizer.json"
        tokenizer.save(path)
        for opened in (tokenizer, TextTokenizer.load(path)):
            assert opened.mask_id not in opened.encode("a [MASK] b [EOS]")
            assert opened.eos_id not in opened.encode_batch(["a [MASK] b [EOS]"])[0]


def test_words_are_whole_or_unknown(words: TextTokenizer) -> None:
    assert words.tokens(words.encode("The zebra walked.")) == ["the", "[UNK]", "walked", "."]
    assert all(words.word_starts(words.encode("the zebra")))


def test_words_between_blanks_stay_as_they_are(blanks: TextTokenizer) -> None:
    assert blanks.tokens(blanks.encode("The  Café @-@\tcafé <unk> [MASK] [EOS] a[MASK] deep .")) == [
        *("The", "Café", "@-@", "[UNK]", "[UNK]", "[UNK]", "[UNK]", "[UNK]", "deep", "."),
    ]
    assert all(blanks.word_starts(range(blanks.vocab_size)))
    assert blanks.vocab_size == blanks.n_specials + 14, "neither <unk> nor [MASK] is a word"
    assert blanks.decode(blanks.encode("well @-@ known")) == "well @-@ known"


def test_unknown_words_of_the_corpus_take_no_place_in_a_small_vocabulary() -> None:
    tokenizer = train_tokenizer("whitespace", ["b b b <unk> <unk> <unk> <unk> a a c"], 9, lowercase=False)
    assert tokenizer.tokens(range(7, tokenizer.vocab_size)) == ["b", "a"]


def test_words_between_blanks_are_lower_cased_where_asked() -> None:
    tokenizer = train_tokenizer("whitespace", ["É The <unk> [MASK]"], 30, lowercase=True, strip_accents=True)
    assert tokenizer.tokens(tokenizer.encode("THE é [mask] [MASK]")) == ["the", "é", "[UNK]", "[UNK]"]


def test_rare_characters_get_no_piece_and_ascii_always_does() -> None:
    texts = ["the cat sat on the mat"] * 1000 + ["Ω"]
    tokenizer = train_tokenizer("wordpiece", texts, 150, lowercase=True, strip_accents=True)
    assert tokenizer.tokens(tokenizer.encode("Ω z {")) == ["[UNK]", "z", "{"]


def test_saving_and_loading_changes_nothing(pieces: TextTokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    pieces.save(path)
    loaded = TextTokenizer.load(path)
    assert loaded.to_json() == pieces.to_json() == path.read_text(encoding="utf-8")
    assert loaded.sha256 == pieces.sha256
    assert loaded.encode_batch(TEXTS) == pieces.encode_batch(TEXTS)
    plain = Tokenizer.from_file(str(path))  # any user of the library can open it
    assert plain.encode(TEXTS[0]).ids == pieces.encode(TEXTS[0])


@pytest.mark.parametrize("content", ["", "{}", "{", '{"version": "1.0"}', "\xff"])
def test_a_broken_file_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(InputError, match=r"tokenizer\.json"):
        TextTokenizer.load(path)
    with pytest.raises(InputError, match=r"absent\.json"):
        TextTokenizer.load(tmp_path / "absent.json")


def test_a_tokenizer_with_other_specials_is_refused(pieces: TextTokenizer, tmp_path: Path) -> None:
    content = json.loads(pieces.to_json())
    vocabulary = content["model"]["vocab"]
    vocabulary["[MASK]"], vocabulary["[SEP]"] = vocabulary["[SEP]"], vocabulary["[MASK]"]
    content["added_tokens"] = []
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"\[SEP\] should have the id 3"):
        TextTokenizer.load(path)


@pytest.mark.parametrize(
    ("kind", "texts", "size"),
    [
        *[("wordpiece", ["a text"], 60), ("wordpiece", [], 500), ("word", [], 500), ("word", ["a text"], 7)],
        ("whitespace", ["<unk> <unk>"], 500),
    ],
)
def test_a_vocabulary_needs_text_and_room(kind: Pieces, texts: list[str], size: int) -> None:
    with pytest.raises(InputError, match="tokenizer"):
        train_tokenizer(kind, texts, size, lowercase=True, strip_accents=True)


def test_an_iterator_that_ends_is_refused_for_pieces() -> None:
    with pytest.raises(TypeError, match="read twice"):
        train_tokenizer("wordpiece", iter(TEXTS), 300, lowercase=True, strip_accents=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("m\u00f6chte", "mochte"),
        ("\u043c\u043e\u0439", "\u043c\u043e\u0438"),
        ("\u30d1\u30f3\u30c0", "\u30cf\u30f3\u30c0"),
        ("\u092e\u0947\u0902", "\u092e"),
    ],
)
def test_lower_case_keeps_accents_unless_they_are_stripped(one: str, other: str) -> None:
    for strip in (False, True):
        made = train_tokenizer("wordpiece", [one, other] * 50, 400, lowercase=True, strip_accents=strip)
        assert (made.encode(one) == made.encode(other)) is strip
