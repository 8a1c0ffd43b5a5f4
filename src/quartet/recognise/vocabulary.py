"""Pieces that both languages share, from which the text can be put together again without loss.

Byte-pair merges inside words, the space before a word written as a mark of its own (as SentencePiece does), and bytes
for characters that have no piece: so no text is unknown, and what is decoded is plain text that BLEU can be counted on.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from quartet.config.recognise import RESERVED, VocabularyConfig
from quartet.errors import InputError
from quartet.text.tokenizer import SPECIALS, TextTokenizer, leave_out_rare

#: Stands for the space before a word, as in the library's Metaspace.
SPACE = "\u2581"
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
assert len(SPECIALS) + len(BYTES) == RESERVED


class PieceTokenizer(TextTokenizer):
    """Text to ids and back: ``decode(encode(text)) == text``, but for white space.

    Words come back separated by single spaces, and a text's own U+2581 as a space. `unk_id` never occurs.
    """

    kind = "a translator's tokenizer"
    reserved = (*SPECIALS, *BYTES)
    unknown = None

    @staticmethod
    def starts(piece: str) -> bool:
        """Whether a piece begins a word."""
        return piece.startswith(SPACE)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids, specials left out, with single spaces; bytes that are no UTF-8 become U+FFFD."""
        return " ".join(super().decode(ids).split())


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
    leave_out_rare(counts, coverage)
    return sorted({*counts, SPACE})
