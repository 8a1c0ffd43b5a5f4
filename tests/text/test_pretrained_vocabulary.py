"""A BERT's own vocabulary splits texts exactly as the BERT does, under our ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quartet.errors import InputError
from quartet.text.pretrained_vocabulary import read_source, read_vocabulary
from quartet.text.tokenizer import SPECIALS, TextTokenizer
from tests.bert import PIECES, save_bert_tokenizer

CLEAN_UPS: dict[str, dict[str, Any]] = {
    "uncased": {"do_lower_case": True},
    "cased": {"do_lower_case": False},
    "lower-with-accents": {"do_lower_case": True, "strip_accents": False},
    "cased-without-accents": {"do_lower_case": False, "strip_accents": True},
    "chinese-in-words": {"do_lower_case": True, "tokenize_chinese_chars": False},
}

#: Any text, with more of what tells clean-ups apart than chance would give.
ODD = st.sampled_from(
    [
        *("É", "é", "e\u0301", "İ", "ß", "ﬁ", "中文", "가", "\u200b", "\x00", "\x07", "\ufffd", "\u00ad"),
        *("\u3000", "\t", "\r\n", "[MASK]", "[CLS]", "[unused0]", "[unused0", "##s", "the", "unlikely"),
        *("CATS", "don't", "a" * 100, "a" * 101),
    ]
)
ANY_TEXT = st.lists(st.one_of(ODD, st.text(max_size=6)), max_size=12).flatmap(
    lambda parts: st.sampled_from(["", " "]).map(lambda gap: gap.join(parts))
)


@pytest.fixture(scope="module", params=CLEAN_UPS)
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Any, TextTokenizer]:
    """The tokenizer of transformers and ours, from the same folder."""
    folder = tmp_path_factory.mktemp("tokenizer")
    return save_bert_tokenizer(folder, **CLEAN_UPS[request.param]), read_vocabulary(folder)


@settings(max_examples=150, deadline=None)
@given(text=ANY_TEXT)
def test_a_text_gives_the_same_pieces(both: tuple[Any, TextTokenizer], text: str) -> None:
    theirs, ours = both
    expected = theirs.tokenize(text, split_special_tokens=True)  # ours never reads specials out of a text
    assert ours.tokens(ours.encode(text)) == expected


def test_words_of_100_characters_are_split_and_longer_ones_unknown(both: tuple[Any, TextTokenizer]) -> None:
    ours = both[1]
    assert len(ours.encode("a" * 100)) == 100
    assert ours.encode("a" * 101) == [ours.unk_id]


def test_our_specials_come_first_and_the_pieces_follow_in_order(tmp_path: Path) -> None:
    save_bert_tokenizer(tmp_path)
    ours = read_vocabulary(tmp_path)
    assert ours.tokens(range(ours.vocab_size)) == [*SPECIALS, *(p for p in PIECES if p not in SPECIALS)]
    assert "[unused0]" in ours.tokens(range(ours.vocab_size))
    assert read_source(tmp_path).rows == {piece: row for row, piece in enumerate(PIECES)}
    ids = ours.encode("unlikely cats")
    assert ours.tokens(ids) == ["un", "##like", "##ly", "cat", "##s"]
    assert ours.word_starts(ids) == [True, False, False, True, False]
    assert ours.decode(ids) == "unlikely cats"


def test_it_is_saved_and_opened_as_any_of_ours(tmp_path: Path) -> None:
    save_bert_tokenizer(tmp_path, do_lower_case=False)
    ours = read_vocabulary(tmp_path)
    ours.save(tmp_path / "ours.json")
    opened = TextTokenizer.load(tmp_path / "ours.json")
    assert opened.to_json() == ours.to_json()
    assert opened.encode("É the Cat") == ours.encode("É the Cat")


@pytest.mark.parametrize("lowercase", [True, False])
def test_vocab_txt_with_its_settings_is_the_same(tmp_path: Path, lowercase: bool) -> None:
    save_bert_tokenizer(tmp_path / "json", do_lower_case=lowercase)
    text = tmp_path / "text"
    text.mkdir()
    (text / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    (text / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lowercase}))
    assert read_vocabulary(text).to_json() == read_vocabulary(tmp_path / "json").to_json()


def test_tokenizer_json_alone_says_enough(tmp_path: Path) -> None:
    save_bert_tokenizer(tmp_path, do_lower_case=False, strip_accents=True)
    (tmp_path / "tokenizer_config.json").unlink()
    source = read_source(tmp_path)
    assert (source.lowercase, source.strip_accents, source.chinese) == (False, True, True)


def _change(folder: Path, name: str, *path: Any, value: Any) -> None:
    content = json.loads((folder / name).read_text())
    inner = content
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    (folder / name).write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("name", "path", "value", "reason"),
    [
        ("tokenizer.json", ("model", "type"), "BPE", "its model is BPE, not WordPiece; only WordPiece"),
        ("tokenizer.json", ("normalizer",), None, "its normalizer is None, not BertNormalizer"),
        ("tokenizer.json", ("pre_tokenizer", "type"), "Whitespace", "its pre_tokenizer is Whitespace"),
        ("tokenizer.json", ("model", "continuing_subword_prefix"), "@@", "mark continuations with ##"),
        ("tokenizer.json", ("model", "vocab"), [["a", 0.0]], "no map of pieces to numbers"),
        ("tokenizer.json", ("model", "vocab"), {"a": 0}, r"no \[PAD\], \[UNK\], \[CLS\], \[SEP\], \[MASK\]"),
        ("tokenizer.json", ("normalizer",), {"type": "BertNormalizer"}, "missing or malformed"),
        (
            "tokenizer.json",
            ("added_tokens",),
            [{"content": "<url>", "special": False}],
            "adds the token '<url>'",
        ),
        (
            "tokenizer_config.json",
            ("do_lower_case",),
            "yes",
            'do_lower_case: true or false was expected, not "yes"',
        ),
        ("tokenizer_config.json", ("do_basic_tokenize",), False, "do_basic_tokenize is off"),
    ],
)
def test_anything_else_is_refused_in_one_line(
    tmp_path: Path, name: str, path: tuple[Any, ...], value: Any, reason: str
) -> None:
    save_bert_tokenizer(tmp_path)
    _change(tmp_path, name, *path, value=value)
    with pytest.raises(InputError, match=reason) as caught:
        read_vocabulary(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_folder_that_does_not_say_enough_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"neither tokenizer\.json nor vocab\.txt"):
        read_vocabulary(tmp_path)
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES), encoding="utf-8")
    with pytest.raises(InputError, match="does not say whether text is lower-cased"):
        read_vocabulary(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "BertJapaneseTokenizer"}')
    with pytest.raises(InputError, match="tokenizer_class is BertJapaneseTokenizer"):
        read_vocabulary(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("[]")
    with pytest.raises(InputError, match="a JSON object was expected"):
        read_vocabulary(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("{}")
    (tmp_path / "vocab.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8"):
        read_vocabulary(tmp_path)
