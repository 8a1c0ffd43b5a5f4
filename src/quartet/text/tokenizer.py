"""Text to token ids: training, saving and using a vocabulary of pieces or of words."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import compress, islice
from pathlib import Path
from typing import TYPE_CHECKING, Self, get_args

import numpy as np
from numpy.typing import NDArray
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from quartet.arguments import check_choice, checked_texts
from quartet.config.text import Pieces
from quartet.errors import InputError
from quartet.files import atomic_path

if TYPE_CHECKING:
    from torch import Tensor

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[BOS]", "[EOS]")
"""Their ids are 0 to 6 in every tokenizer of this library."""

UNKNOWN_ID = SPECIALS.index("[UNK]")

PREFIX = "##"
"""Marks a WordPiece that continues a word."""

UNKNOWN_WORD = "<unk>"
"""How WikiText writes a word that its makers did not count; the kind ``whitespace`` reads it as [UNK]."""

ALPHABET_TEXTS = 256
"""Texts whose characters are counted at once: the library takes its time for each call."""


def is_own(ids: Tensor) -> Tensor:
    """True at the text's own tokens (an unknown word is one of them), False at special tokens and padding."""
    return (ids >= len(SPECIALS)) | (ids == UNKNOWN_ID)


class TextTokenizer:
    """A trained tokenizer: BERT's clean-up and word splitting (or white space alone), then pieces or whole words.

    It adds no special tokens, and reads none out of a text: "[MASK]" in a text is three ordinary words (or unknown).

    Attributes:
        vocab_size: number of ids, the specials included.
        n_specials: number of special tokens; they have the lowest ids.
        pad_id, unk_id, cls_id, sep_id, mask_id, bos_id, eos_id: the ids of the specials.
    """

    pad_id, unk_id, cls_id, sep_id, mask_id, bos_id, eos_id = range(len(SPECIALS))
    n_specials = len(SPECIALS)

    #: What messages call it; the pieces that must have the ids from 0 on; the piece of what the vocabulary lacks.
    kind = "a tokenizer of Quartet"
    reserved: Sequence[str] = SPECIALS
    unknown: str | None = SPECIALS[1]

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Wrap a tokenizer of the tokenizers library.

        Raises:
            ValueError: the reserved pieces do not have the first ids, or it is not as :func:`check_plain` wants it.
        """
        check_plain(tokenizer, self.reserved)
        if getattr(tokenizer.model, "unk_token", self.unknown) != self.unknown:
            raise ValueError(f"unknown words are {tokenizer.model.unk_token}, not {self.unknown}")
        self._tokenizer = tokenizer
        self._tokenizer.encode_special_tokens = True  # the library does not save this
        self.vocab_size: int = tokenizer.get_vocab_size()
        pieces = (tokenizer.id_to_token(number) or "" for number in range(self.vocab_size))
        is_start = [number < self.n_specials or self.starts(piece) for number, piece in enumerate(pieces)]
        self._is_start: NDArray[np.bool_] = np.array(is_start, dtype=bool)
        if isinstance(tokenizer.model, models.WordLevel):
            self._is_start[:] = True
        self._without_clean_up: Tokenizer | None = None  # made when it is first needed

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without specials; what the vocabulary lacks is `unk_id`."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text, on all cores.

        Of printable ASCII, BERT's clean-up changes nothing but the case. Python changes that in no time, where the
        library's clean-up would take a third of the whole.
        """
        texts = checked_texts(texts)
        clean_up = self._tokenizer.normalizer
        if not isinstance(clean_up, normalizers.BertNormalizer):
            return self._encode(self._tokenizer, texts)
        without_clean_up = self._without_clean_up
        if without_clean_up is None:
            without_clean_up = Tokenizer.from_str(self._tokenizer.to_str())
            without_clean_up.normalizer = None
            without_clean_up.encode_special_tokens = True
            self._without_clean_up = without_clean_up  # as it stays: other threads may read it from here on
        simple = [text.isascii() and text.isprintable() for text in texts]
        ready = [text.lower() if clean_up.lowercase else text for text in compress(texts, simple)]
        fast = iter(self._encode(without_clean_up, ready))
        if len(ready) == len(texts):
            return list(fast)
        others = [text for text, is_simple in zip(texts, simple, strict=True) if not is_simple]
        slow = iter(self._encode(self._tokenizer, others))
        return [next(fast if is_simple else slow) for is_simple in simple]

    @staticmethod
    def _encode(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def encode_with_offsets(self, texts: Sequence[str]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The ids (n,) of each text, and where each token stands in it (n, 2): its first character, and that behind it.

        The characters are those of the text as given, whatever the clean-up makes of them.
        """
        encodings = self._tokenizer.encode_batch(checked_texts(texts), add_special_tokens=False)
        return [
            (
                np.array(encoding.ids, dtype=np.int64),
                np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2),
            )
            for encoding in encodings
        ]

    @cached_property
    def alphabet(self) -> frozenset[str]:
        """The characters that the vocabulary's pieces have."""
        return characters_of(self.tokens(range(self.n_specials, self.vocab_size)))

    def cleaned(self, text: str) -> str:
        """The text after the clean-up, before it is cut into tokens."""
        clean_up = self._tokenizer.normalizer
        return text if clean_up is None else str(clean_up.normalize_str(text))

    def decode(self, ids: Iterable[int]) -> str:
        """Pieces joined to words, specials left out; case and accents that the clean-up removed do not return."""
        text: str = self._tokenizer.decode([int(number) for number in ids], skip_special_tokens=True)
        return text

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The piece of each id as the vocabulary writes it."""
        return [self._tokenizer.id_to_token(int(number)) or SPECIALS[1] for number in ids]

    @staticmethod
    def starts(piece: str) -> bool:
        """Whether a piece begins a word."""
        return not piece.startswith(PREFIX)

    def word_starts(self, ids: Sequence[int] | NDArray[np.integer]) -> list[bool]:
        """For each id whether it begins a word (False for a ## piece)."""
        starts: list[bool] = self._is_start[np.asarray(ids, dtype=np.int64)].tolist()
        return starts

    def to_json(self) -> str:
        """The text of tokenizer.json, the same for the same tokenizer."""
        text: str = self._tokenizer.to_str(pretty=True)
        return text

    def __reduce__(self) -> tuple[Callable[[str], Self], tuple[str]]:
        return type(self)._of_json, (self.to_json(),)

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file that `save` writes."""
        return hashlib.sha256(self.to_json().encode("utf-8")).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write a tokenizer.json that the tokenizers library opens."""
        with atomic_path(path) as temporary:
            temporary.write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def _of_json(cls, text: str) -> Self:
        return cls(Tokenizer.from_str(text))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Open a tokenizer.json.

        Raises:
            InputError: the file is absent, damaged, or was not made by this library (other special tokens).
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(path, f"cannot be read ({error})") from error
        try:
            return cls._of_json(text)
        except Exception as error:  # the library raises bare Exception for a broken file
            raise InputError(path, f"not {cls.kind} ({error})", "train it again") from error


def characters_of(pieces: Iterable[str]) -> frozenset[str]:
    """The characters of a vocabulary; what marks a piece within a word is none of them."""
    return frozenset(
        character
        for piece in pieces
        for character in (piece.removeprefix(PREFIX) if len(piece) > len(PREFIX) else piece)
    )


def check_plain(tokenizer: Tokenizer, first: Sequence[str]) -> None:
    """Raise ValueError unless every id has a piece, those of `first` the first ids, and texts are read whole.

    Args:
        first: pieces that must have the ids from 0 on. No other tokens may be cut out of a text than the specials.
    """
    for number, token in enumerate(first):
        if tokenizer.token_to_id(token) != number:
            raise ValueError(f"{token} should have the id {number}, not {tokenizer.token_to_id(token)}")
    for number in range(tokenizer.get_vocab_size()):
        if tokenizer.id_to_token(number) is None:
            raise ValueError(f"no piece has the id {number}, and its ids go further")
    for added in tokenizer.get_added_tokens_decoder().values():
        if added.content not in SPECIALS:
            raise ValueError(f"it cuts {added.content!r} out of texts")
    tokenizer.encode("\u2603", add_special_tokens=False)  # the library's own error, if its model lacks [UNK]
    if tokenizer.truncation is not None:
        raise ValueError("it cuts texts short (truncation)")
    if tokenizer.padding is not None:
        raise ValueError("it pads texts (padding)")


def train_tokenizer(
    kind: Pieces,
    texts: Iterable[str],
    vocab_size: int,
    lowercase: bool,
    character_coverage: float = 0.9995,
    strip_accents: bool = False,
) -> TextTokenizer:
    """Learn a vocabulary; the same texts give the same file, byte by byte.

    Args:
        kind: ``wordpiece`` (frequent pieces; ## marks a continuation), ``word`` (the most frequent words), or
            ``whitespace`` (the most frequent of whatever stands between blanks in a tokenised text such as WikiText).
        texts: the training texts; for ``wordpiece`` they are read twice, so an iterator will not do
            (`documents.SentencesOf` will).
        vocab_size: ids at most, specials included.
        lowercase: lower-case.
        character_coverage: for ``wordpiece``: the rarest characters that together make up the rest of the running
            text (1 - coverage) get no piece, and a word with one of them is [UNK]. Printable ASCII always has.
        strip_accents: as BERT's uncased English models do, with all marks of letters, vowel signs of Hindi and Thai
            too: texts that differ in them alone become equal. ``whitespace`` does not read it.

    Raises:
        InputError: there is no such kind, `texts` is one string, there is no text, or vocab_size has no
            room for the characters.
    """
    check_choice(kind, get_args(Pieces), "tokenizer kind")
    if isinstance(texts, str):
        checked_texts(texts)
    if kind == "wordpiece":
        return _train_pieces(texts, vocab_size, lowercase, strip_accents, character_coverage)
    return _train_words(kind, texts, vocab_size, lowercase, strip_accents)


def _base(kind: Pieces, model: models.Model, lowercase: bool, strip: bool) -> Tokenizer:
    tokenizer = Tokenizer(model)
    if kind == "whitespace":
        special = Regex(rf"(?<!\S)({'|'.join(map(re.escape, SPECIALS))})(?!\S)")
        case = [normalizers.Lowercase()] if lowercase else []
        tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(special, UNKNOWN_WORD), *case])
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    else:
        tokenizer.normalizer = normalizers.BertNormalizer(
            lowercase=lowercase, strip_accents=None if strip == lowercase else strip
        )  # None: as lowercase says
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _finished(kind: Pieces, model: models.Model, lowercase: bool, strip: bool) -> TextTokenizer:
    tokenizer = _base(kind, model, lowercase, strip)
    if isinstance(model, models.WordPiece):
        tokenizer.decoder = decoders.WordPiece(prefix=PREFIX)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIALS])
    return TextTokenizer(tokenizer)


def _train_words(
    kind: Pieces, texts: Iterable[str], vocab_size: int, lowercase: bool, strip: bool
) -> TextTokenizer:
    tokenizer = _base(kind, models.WordLevel(unk_token=SPECIALS[1]), lowercase, strip)
    # The library orders words by frequency, then by alphabet. One more is asked for: UNKNOWN_WORD may be among them.
    trainer = trainers.WordLevelTrainer(
        vocab_size=vocab_size + 1, special_tokens=list(SPECIALS), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    found = tokenizer.get_vocab()
    words = [word for word in sorted(found, key=found.__getitem__) if word != UNKNOWN_WORD][:vocab_size]
    if len(words) <= len(SPECIALS):
        raise InputError("tokenizer", f"no word fits a vocabulary of {vocab_size}, or there is no text")
    vocabulary = {word: number for number, word in enumerate(words)}
    return _finished(kind, models.WordLevel(vocabulary, unk_token=SPECIALS[1]), lowercase, strip)


def _train_pieces(
    texts: Iterable[str], vocab_size: int, lowercase: bool, strip: bool, coverage: float
) -> TextTokenizer:
    if iter(texts) is texts:
        raise TypeError("the texts are read twice: give a list or an object that can be iterated again")
    tokenizer = _base("wordpiece", models.WordPiece(unk_token=SPECIALS[1]), lowercase, strip)
    alphabet = _alphabet(texts, tokenizer.normalizer.normalize_str, coverage)
    splits = tokenizer.pre_tokenizer.pre_tokenize_str
    # The library numbers ## characters in the order of a randomly seeded hash map, and merges break ties by number.
    # Given as special tokens for the training alone, they have their numbers before the map is read.
    inner = [PREFIX + character for character in alphabet if len(splits("a" + character)) == 1]
    fixed = [*SPECIALS, *inner]
    if not alphabet or vocab_size <= len(fixed) + len(alphabet):
        reason = (
            f"{vocab_size} leaves no room beside {len(alphabet)} characters"
            if alphabet
            else "there is no text"
        )
        raise InputError("tokenizer vocab_size", reason, "choose a larger vocabulary or a smaller coverage")
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size,
        special_tokens=fixed,
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        continuing_subword_prefix=PREFIX,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return _finished(
        "wordpiece", models.WordPiece(tokenizer.get_vocab(), unk_token=SPECIALS[1]), lowercase, strip
    )


def _alphabet(texts: Iterable[str], normalise: Callable[[str], str], coverage: float) -> list[str]:
    """Printable ASCII and the most frequent characters that make up `coverage` of the text, by code point."""
    counts: Counter[str] = Counter()
    stream = iter(texts)
    while some := list(islice(stream, ALPHABET_TEXTS)):
        counts.update(normalise(" ".join(some)))
    for blank in [character for character in counts if character.isspace()]:
        del counts[blank]
    if not counts:
        return []
    leave_out_rare(counts, coverage)
    return sorted({*counts, *normalise("".join(map(chr, range(33, 127))))})


def leave_out_rare(counts: Counter[str], coverage: float) -> None:
    """Take out the rarest characters, but for the most frequent ones that make up `coverage` of the running text."""
    left = (1 - coverage) * counts.total()
    for character in sorted(counts, key=lambda character: (counts[character], character)):
        left -= counts[character]
        if left < 0:
            break
        del counts[character]
