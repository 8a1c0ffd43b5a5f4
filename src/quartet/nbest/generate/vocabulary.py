"""Pieces that both languages share, from which the text can be put together again without loss.

Byte-pair merges inside words, the space before a word written as a mark of its own (as SentencePiece does), and bytes
for characters that have no piece: so no text is unknown, and what is decoded is plain text that BLEU can be counted on.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from quartet.config.recognise import RESERVED, VocabularyConfig
from quartet.errors import InputError
from quartet.files import atomic_path
from quartet.text.tokenizer import SPECIALS, check_plain

#: Stands for the space before a word, as in the library's Metaspace.
SPACE = "\u2581"
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
assert len(SPECIALS) + len(BYTES) == RESERVED


class PieceTokenizer:
    """Text to ids and back.

    ``decode(encode(text)) == text`` for every text whose words are separated by single spaces, except that a text's own
    U+2581 becomes a space. It adds no special tokens and reads none out of a text.

    Attributes:
        vocab_size: number of ids, the specials included.
        pad_id, unk_id, bos_id, eos_id: as in :class:`quartet.text.tokenizer.TextTokenizer`; `unk_id` never occurs.
    """

    pad_id, unk_id, bos_id, eos_id = (SPECIALS.index(token) for token in ("[PAD]", "[UNK]", "[BOS]", "[EOS]"))

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Wrap a tokenizer of the tokenizers library.

        Raises:
            ValueError: the special tokens and bytes are not the first ids, or it is not as `check_plain` wants it.
        """
        check_plain(tokenizer, (*SPECIALS, *BYTES))
        self._tokenizer = tokenizer
        self._tokenizer.encode_special_tokens = True  # the library does not save this
        self.vocab_size: int = tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without specials."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text, on all cores."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids, specials left out, with single spaces; bytes that are no UTF-8 become U+FFFD."""
        text: str = self._tokenizer.decode([int(number) for number in ids], skip_special_tokens=True)
        return " ".join(text.split())

    def to_json(self) -> str:
        """The text of tokenizer.json, the same for the same tokenizer."""
        text: str = self._tokenizer.to_str(pretty=True)
        return text

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file that `save` writes."""
        return hashlib.sha256(self.to_json().encode("utf-8")).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write a tokenizer.json that the tokenizers library opens."""
        with atomic_path(path) as temporary:
            temporary.write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> PieceTokenizer:
        """Open a tokenizer.json.

        Raises:
            InputError: the file is absent, damaged, or is no tokenizer of a translator.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(path, f"cannot be read ({error})") from error
        try:
            return cls(Tokenizer.from_str(text))
        except Exception as error:  # the library raises bare Exception for a broken file
            raise InputError(
                path, f"not a translator's tokenizer ({error})", "train the translator again"
            ) from error


def train_pieces(texts: Sequence[str], config: VocabularyConfig) -> PieceTokenizer:
    """Learn the pieces; the same texts give the same file, byte by byte.

    Args:
        texts: the sentences of both languages.

    Raises:
        InputError: the vocabulary has no room for the characters.
    """
    alphabet = _alphabet(texts, config.character_coverage)
    if config.vocab_size < RESERVED + len(alphabet):
        raise InputError(
            "tokenizer.vocab_size",
            f"{config.vocab_size} leaves no room for {RESERVED} reserved ids and {len(alphabet)} characters",
            "choose a larger vocabulary or a smaller character_coverage",
        )
    tokenizer = _around(models.BPE(byte_fallback=True))
    trainer = trainers.BpeTrainer(
        vocab_size=config.vocab_size,
        special_tokens=[*SPECIALS, *BYTES],
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    # Bytes have low ids like the specials, but they are text: only in a tokenizer made anew are they decoded.
    model = json.loads(tokenizer.to_str())["model"]
    merges = [(first, second) for first, second in model["merges"]]
    finished = _around(models.BPE(vocab=model["vocab"], merges=merges, byte_fallback=True))
    finished.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIALS])
    return PieceTokenizer(finished)


def _around(model: models.Model) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always"), pre_tokenizers.Punctuation()]
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer


def _alphabet(texts: Iterable[str], coverage: float) -> list[str]:
    """The most frequent characters that make up `coverage` of the running text, and the mark of the space."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text.replace(" ", SPACE))
    left = (1 - coverage) * counts.total()
    for character in sorted(counts, key=lambda character: (counts[character], character)):
        left -= counts[character]
        if left < 0:
            break
        del counts[character]
    return sorted({*counts, SPACE})
