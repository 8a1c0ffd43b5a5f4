"""The vocabulary of a BERT of Hugging Face as one of ours: the same pieces for the same text, our ids.

Only WordPiece with BERT's clean-up and word splitting can be read: that of BERT, DistilBERT, ELECTRA and MobileBERT.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

from quartet.errors import InputError
from quartet.files import read_json
from quartet.text.tokenizer import PREFIX, SPECIALS, TextTokenizer

#: Specials that a vocabulary of BERT has under these names; [BOS] and [EOS] are ours.
NEEDED = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

_CLASSES = re.compile(r"(Bert|DistilBert|Electra|MobileBert)Tokenizer(Fast)?")
_REMEDY = "only WordPiece as BERT's can be read: take another model, or train a tokenizer of kind wordpiece"


@dataclass(frozen=True)
class SourceVocabulary:
    """What the files of a BERT tokenizer say.

    Attributes:
        rows: each piece's id in the source, specials included, in the order of the ids.
        lowercase: whether text is lower-cased first.
        strip_accents: None: where it is lower-cased.
        chinese: whether each Chinese character is a word.
        longest_word: characters; a longer word is [UNK].
    """

    rows: dict[str, int]
    lowercase: bool
    strip_accents: bool | None = None
    chinese: bool = True
    longest_word: int = 100


def read_source(folder: Path) -> SourceVocabulary:
    """Read tokenizer.json, or vocab.txt, with tokenizer_config.json.

    Where they disagree on the clean-up, tokenizer_config.json wins, as it does in transformers.

    Raises:
        InputError: there is no vocabulary in the folder, it is not WordPiece as BERT's, or a file is broken.
    """
    settings = _object(folder / "tokenizer_config.json")
    if (folder / "tokenizer.json").is_file():
        source = _from_json(folder / "tokenizer.json")
    elif (folder / "vocab.txt").is_file():
        source = _from_text(folder / "vocab.txt", settings)
    else:
        raise InputError(folder, "has neither tokenizer.json nor vocab.txt", _REMEDY)
    missing = [piece for piece in NEEDED if piece not in source.rows]
    if missing:
        raise InputError(folder, f"its vocabulary has no {', '.join(missing)}", _REMEDY)
    return _with_settings(source, settings or {}, folder / "tokenizer_config.json")


def read_vocabulary(folder: Path) -> TextTokenizer:
    """The tokenizer of a folder, its pieces in their order behind our special tokens.

    Its [PAD], [UNK], [CLS], [SEP] and [MASK] become ours. Other special tokens are ordinary pieces here.

    Raises:
        InputError: as `read_source` does.
    """
    source = read_source(folder)
    pieces = [*SPECIALS, *(piece for piece in source.rows if piece not in SPECIALS)]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    model = models.WordPiece(vocabulary, unk_token=SPECIALS[1], max_input_chars_per_word=source.longest_word)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(
        handle_chinese_chars=source.chinese, strip_accents=source.strip_accents, lowercase=source.lowercase
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix=PREFIX)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIALS])
    return TextTokenizer(tokenizer)


def _object(path: Path) -> dict[str, Any] | None:
    """A JSON file that holds an object; None where there is no file."""
    if not path.is_file():
        return None
    content = read_json(path)
    if not isinstance(content, dict):
        raise InputError(path, "a JSON object was expected", "copy it again")
    return content


def _in_order(rows: dict[str, int]) -> dict[str, int]:
    """By id; an empty line of vocab.txt is no piece."""
    return {piece: row for piece, row in sorted(rows.items(), key=lambda item: item[1]) if piece}


def _from_json(path: Path) -> SourceVocabulary:
    """The parts of a tokenizer.json, each of which must be BERT's."""
    content = _object(path) or {}
    parts = {name: _part(content, name) for name in ("model", "normalizer", "pre_tokenizer")}
    model, clean_up = parts["model"], parts["normalizer"]
    kinds = {name: part.get("type") for name, part in parts.items()}
    if kinds["model"] is None and "max_input_chars_per_word" in model:
        kinds["model"] = "WordPiece"  # older files do not say
    expected = {"model": "WordPiece", "normalizer": "BertNormalizer", "pre_tokenizer": "BertPreTokenizer"}
    for name, kind in expected.items():
        if kinds[name] != kind:
            raise InputError(path, f"its {name} is {kinds[name]}, not {kind}", _REMEDY)
    rows = model.get("vocab")
    if not isinstance(rows, dict) or not all(type(row) is int and row >= 0 for row in rows.values()):
        raise InputError(path, "its vocabulary is no map of pieces to numbers from 0", "copy it again")
    if len(set(rows.values())) < len(rows):
        raise InputError(path, "its vocabulary has two pieces with one number", "copy it again")
    if model.get("continuing_subword_prefix", PREFIX) != PREFIX or model.get("unk_token") != SPECIALS[1]:
        raise InputError(
            path, f"it does not mark continuations with {PREFIX} or unknown words with [UNK]", _REMEDY
        )
    _refuse_added(path, content.get("added_tokens") or [])
    try:
        return SourceVocabulary(
            _in_order(rows),
            bool(clean_up["lowercase"]),
            clean_up["strip_accents"],
            bool(clean_up["handle_chinese_chars"]),
            _count(model["max_input_chars_per_word"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(path, f"a part of it is missing or malformed ({error})", "copy it again") from error


def _count(value: Any) -> int:
    if type(value) is not int or not 0 < value < 1 << 31:
        raise ValueError(f"max_input_chars_per_word is {value!r:.40}")
    return value


def _part(content: dict[str, Any], name: str) -> dict[str, Any]:
    part = content.get(name)
    return part if isinstance(part, dict) else {}


def _from_text(path: Path, settings: dict[str, Any] | None) -> SourceVocabulary:
    """One piece a line; its number is its id."""
    if settings is None:
        raise InputError(
            path.parent,
            "vocab.txt alone does not say whether text is lower-cased",
            'add a tokenizer_config.json, {"do_lower_case": true} or false',
        )
    try:
        with open(path, encoding="utf-8") as file:
            rows = {line.rstrip("\n"): row for row, line in enumerate(file)}
    except UnicodeDecodeError as error:
        raise InputError(path, f"not UTF-8 ({error.reason})", "copy it again") from error
    return SourceVocabulary(
        _in_order(rows), lowercase=True
    )  # BERT's own default, where the settings do not say


def _with_settings(source: SourceVocabulary, settings: dict[str, Any], path: Path) -> SourceVocabulary:
    """What tokenizer_config.json says of the clean-up."""
    kind = settings.get("tokenizer_class")
    generic = (
        path.parent / "tokenizer.json"
    ).is_file()  # its parts were looked at, whatever the class is called
    if isinstance(kind, str) and not generic and not _CLASSES.fullmatch(kind):
        raise InputError(path, f"tokenizer_class is {kind}", _REMEDY)
    if settings.get("do_basic_tokenize") is False:
        raise InputError(path, "do_basic_tokenize is off: its texts must come split into words", _REMEDY)
    added = settings.get("added_tokens_decoder")
    _refuse_added(path, added.values() if isinstance(added, dict) else [])
    values: list[bool | None] = []
    defaults = {
        "do_lower_case": source.lowercase,
        "strip_accents": source.strip_accents,
        "tokenize_chinese_chars": source.chinese,
    }
    for key, default in defaults.items():
        value = settings.get(key, default)
        if not isinstance(value, bool) and not (key == "strip_accents" and value is None):
            raise InputError(f"{path}: {key}", f"true or false was expected, not {json.dumps(value)[:40]}")
        values.append(value)
    lowercase, strip_accents, chinese = values
    return SourceVocabulary(source.rows, bool(lowercase), strip_accents, bool(chinese), source.longest_word)


def _refuse_added(path: Path, tokens: Iterable[Any]) -> None:
    """Tokens that are cut out of a text before it is split: WordPiece does not know them."""
    for token in tokens:
        if isinstance(token, dict) and not token.get("special", False):
            raise InputError(
                path, f"adds the token {token.get('content')!r} to its WordPiece vocabulary", _REMEDY
            )
