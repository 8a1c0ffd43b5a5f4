"""Vocabularies: our tokenizer.json, and the folders of BERTs that ours are made of."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any

from quartet.recognise.vocabulary import PieceTokenizer
from quartet.text.pretrained_vocabulary import read_vocabulary
from quartet.text.tokenizer import SPECIALS, TextTokenizer, train_tokenizer
from tests.bert import PIECES
from tests.reliability.malformed.case import Case, as_json, without

WORD = {"id": 7, "content": "heron", "special": False}
NAME, CONFIG = "tokenizer.json", "tokenizer_config.json"
TEXTS = ["the cat sat on the mat", "a heron stands in the river", "the heron sat on the cat"] * 3


@functools.cache
def own() -> dict[str, Any]:
    """A small tokenizer of ours, as JSON."""
    content: dict[str, Any] = json.loads(train_tokenizer("wordpiece", TEXTS, 200, True).to_json())
    return content


@functools.cache
def berts() -> dict[str, Any]:
    """The tokenizer.json of a BERT."""
    model = {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {piece: number for number, piece in enumerate(PIECES)},
    }
    clean_up = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }
    return {
        "version": "1.0",
        "model": model,
        "normalizer": clean_up,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
    }


def cases() -> Iterator[Case]:
    for what, (data, says) in _own().items():
        yield Case("tokenizer/own", what, {NAME: data}, lambda at: TextTokenizer.load(at / NAME), says)
    yield Case(
        "tokenizer/own", "no such file", {}, lambda at: TextTokenizer.load(at / NAME), "cannot be read"
    )
    yield Case(
        "tokenizer/own",
        "a folder",
        {f"{NAME}/a": b""},
        lambda at: TextTokenizer.load(at / NAME),
        "cannot be read",
    )
    yield Case(
        "tokenizer/translator",
        "a tokenizer of another kind",
        {NAME: as_json(own())},
        lambda at: PieceTokenizer.load(at / NAME),
        "not a translator's tokenizer",
    )
    for what, (files, says) in _folders().items():
        yield Case("tokenizer/bert", what, files, read_vocabulary, says)


def _with(content: dict[str, Any], *way: str, value: object) -> bytes:
    """A JSON value with another one at a place."""
    changed = json.loads(json.dumps(content))
    inner = changed
    for part in way[:-1]:
        inner = inner[part]
    inner[way[-1]] = value
    return as_json(changed)


def _own() -> dict[str, tuple[bytes, str]]:
    whole = as_json(own())
    vocabulary = own()["model"]["vocab"]
    last = max(vocabulary.values())
    gap = {piece: number + (number == last) for piece, number in vocabulary.items()}
    twice = {piece: min(number, last - 1) for piece, number in vocabulary.items()}
    moved = {**vocabulary, "[PAD]": vocabulary["[UNK]"], "[UNK]": vocabulary["[PAD]"]}
    limits = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    padding = {
        "strategy": {"Fixed": 8},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }
    return {
        "empty": (b"", "not a tokenizer of Quartet"),
        "cut short": (whole[:-20], "not a tokenizer of Quartet"),
        "a list": (b"[]", "not a tokenizer of Quartet"),
        "an empty object": (b"{}", "not a tokenizer of Quartet"),
        "HTML": (b"<html>404</html>", "not a tokenizer of Quartet"),
        "Latin-1": (whole.replace(b"heron", b"h\xe9ron"), "cannot be read"),
        "no model": (as_json(without(own(), "model")), "not a tokenizer of Quartet"),
        "an unknown model": (_with(own(), "model", "type", value="Klingon"), "not a tokenizer of Quartet"),
        "no vocabulary": (
            _with(own(), "model", "vocab", value={}),
            "should have the id|not a tokenizer of Quartet",
        ),
        "a vocabulary that is a list": (
            _with(own(), "model", "vocab", value=[]),
            "not a tokenizer of Quartet",
        ),
        "a negative id": (
            _with(own(), "model", "vocab", value={**vocabulary, "heron": -1}),
            "not a tokenizer",
        ),
        "an id of 10 digits": (
            _with(own(), "model", "vocab", value={**vocabulary, "zzz": 4_294_967_295}),
            "no piece has the id",
        ),
        "a gap among the ids": (_with(own(), "model", "vocab", value=gap), f"no piece has the id {last}"),
        "an id twice": (_with(own(), "model", "vocab", value=twice), "no piece has the id"),
        "specials in another order": (
            _with(_json(_with(own(), "model", "vocab", value=moved)), "added_tokens", value=[]),
            "should have the id",
        ),
        "no specials": (
            _with(
                _json(_with(own(), "added_tokens", value=[])),
                "model",
                "vocab",
                value={piece: n for piece, n in vocabulary.items() if piece not in SPECIALS},
            ),
            "should have the id",
        ),
        "another unknown token": (_with(own(), "model", "unk_token", value="[PAD]"), "unknown words are"),
        "a limit of the length": (_with(own(), "truncation", value=limits), "cuts texts"),
        "padding": (_with(own(), "padding", value=padding), "pads texts"),
        "a word that is cut out of texts": (
            _with(
                own(), "added_tokens", value=[*own()["added_tokens"], {**own()["added_tokens"][0], **WORD}]
            ),
            "it cuts 'heron' out of texts",
        ),
        "a normaliser that is none": (
            _with(own(), "normalizer", value={"type": "Klingon"}),
            "not a tokenizer",
        ),
        "a broken regular expression": (
            _with(own(), "normalizer", value={"type": "Replace", "pattern": {"Regex": "("}, "content": ""}),
            "not a tokenizer of Quartet",
        ),
        "ten thousand brackets": (b"[" * 10_000, "not a tokenizer of Quartet"),
    }


def _json(data: bytes) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(data)
    return content


def _folders() -> dict[str, tuple[dict[str, bytes], str]]:
    cased = as_json({"tokenizer_class": "BertTokenizer", "do_lower_case": True})
    words = "\n".join(PIECES).encode()
    vocabulary = berts()["model"]["vocab"]

    def only(data: bytes) -> dict[str, bytes]:
        return {NAME: data}

    added = [{"id": 999, "content": "<new>", "special": False}]
    return {
        "empty": ({}, "has neither tokenizer.json nor vocab.txt"),
        "a vocabulary that does not say its case": (
            {"vocab.txt": words},
            "does not say whether text is lower-cased",
        ),
        "a vocabulary without specials": (
            {"vocab.txt": b"the\ncat\n", CONFIG: cased},
            "its vocabulary has no",
        ),
        "a vocabulary in Latin-1": (
            {"vocab.txt": words + b"\ncaf\xe9", CONFIG: cased},
            "vocab.txt: not UTF-8",
        ),
        "an empty vocabulary": ({"vocab.txt": b"", CONFIG: cased}, "its vocabulary has no"),
        "settings that are a list": ({"vocab.txt": words, CONFIG: b"[]"}, "a JSON object was expected"),
        "settings that are cut short": ({"vocab.txt": words, CONFIG: cased[:-3]}, "not valid JSON"),
        "a case that is a text": (
            {"vocab.txt": words, CONFIG: as_json({"do_lower_case": "yes"})},
            "do_lower_case: true or false was expected",
        ),
        "a tokenizer of another class": (
            {"vocab.txt": words, CONFIG: as_json({"tokenizer_class": "T5Tokenizer"})},
            "tokenizer_class is T5Tokenizer",
        ),
        "texts that come split": (
            {"vocab.txt": words, CONFIG: as_json({"do_lower_case": True, "do_basic_tokenize": False})},
            "do_basic_tokenize is off",
        ),
        "JSON that is cut short": (only(as_json(berts())[:-3]), "tokenizer.json: not valid JSON"),
        "JSON that is a list": (only(b"[]"), "a JSON object was expected"),
        "another model": (
            only(_with(berts(), "model", "type", value="BPE")),
            "its model is BPE, not WordPiece",
        ),
        "another clean-up": (
            only(_with(berts(), "normalizer", "type", value="NFC")),
            "its normalizer is NFC",
        ),
        "no clean-up": (only(_with(berts(), "normalizer", value=None)), "its normalizer is None"),
        "another way to split": (
            only(_with(berts(), "pre_tokenizer", "type", value="Metaspace")),
            "its pre_tokenizer",
        ),
        "a vocabulary that is a list": (
            only(_with(berts(), "model", "vocab", value=PIECES)),
            "no map of pieces",
        ),
        "ids that are texts": (
            only(_with(berts(), "model", "vocab", value={"the": "1"})),
            "no map of pieces",
        ),
        "ids that are true": (
            only(_with(berts(), "model", "vocab", value={**vocabulary, "the": True})),
            "no map of",
        ),
        "an id twice": (
            only(_with(berts(), "model", "vocab", value={**vocabulary, "the": 3})),
            "two pieces with one number",
        ),
        "a negative id": (
            only(_with(berts(), "model", "vocab", value={**vocabulary, "the": -4})),
            "no map of pieces",
        ),
        "another mark": (
            only(_with(berts(), "model", "continuing_subword_prefix", value="@@")),
            "continuations",
        ),
        "a longest word that is a text": (
            only(_with(berts(), "model", "max_input_chars_per_word", value="long")),
            "missing or malformed",
        ),
        "a longest word below zero": (
            only(_with(berts(), "model", "max_input_chars_per_word", value=-1)),
            "malformed",
        ),
        "a case that is missing": (
            only(_with(berts(), "normalizer", value={"type": "BertNormalizer"})),
            "a part of it is missing",
        ),
        "a token that was added": (
            only(_with(berts(), "added_tokens", value=added)),
            "adds the token '<new>'",
        ),
    }
