"""Text to the tokens of an n-gram model, by the same rules when it is estimated and when it scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tokenizers import normalizers, pre_tokenizers

from quartet.config.ngram import TokenConfig
from quartet.errors import InputError
from quartet.nbest.normalise import Normalisation
from quartet.text.tokenizer import TextTokenizer

Splitter = Callable[[str], list[str]]
"""A text to its tokens."""

UNKNOWN, START, END = "<unk>", "<s>", "</s>"
RESERVED = frozenset({UNKNOWN, START, END})
"""What an ARPA file calls a word that it lacks, and the two ends of a sentence."""


def splitter(config: TokenConfig, tokenizer: TextTokenizer | None = None) -> Splitter:
    """The rules of a configuration as a function.

    Words are cleaned up as BERT's are (control characters go, white space is one blank), so that an n-gram sees the
    words of the tokenizers; what differs is told by the configuration.

    Args:
        tokenizer: for ``units: pieces``.

    >>> splitter(TokenConfig(lowercase=True, punctuation="strip"))("It's well-known, Zoë.")
    ["it's", 'well', 'known', 'zoe']
    >>> splitter(TokenConfig(lowercase=True, punctuation="split"))("It's so.")
    ['it', "'", 's', 'so', '.']
    """
    if config.units == "pieces":
        if tokenizer is None:
            raise ValueError("units pieces needs a tokenizer")
        return lambda text: tokenizer.tokens(tokenizer.encode(text))
    apart = config.punctuation != "keep"  # Chinese characters, which BERT takes for words
    clean = normalizers.BertNormalizer(
        lowercase=bool(config.lowercase), handle_chinese_chars=apart
    ).normalize_str
    if config.punctuation == "split":
        words = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
        return lambda text: [word for word, _ in words(clean(text))]
    if config.punctuation == "strip":
        strip = Normalisation(strip_punctuation=True).text
        return lambda text: strip(clean(text)).split()
    return lambda text: clean(text).split()


@dataclass
class TokenCounts:
    """What went by.

    Attributes:
        sentences, tokens: those that are counted in n-grams.
        empty: sentences without a token, left out.
        reserved: tokens spelled like <s>, </s> or <unk>, left out, as ``lmplz --skip_symbols`` does.
    """

    sentences: int = 0
    tokens: int = 0
    empty: int = 0
    reserved: int = 0


def countable_sentences(sentences: Iterable[Sequence[str]], tally: TokenCounts) -> Iterator[list[str]]:
    """The sentences as an estimator counts them; `tally` is filled on the way.

    Raises:
        InputError: a token holds white space, or is nothing: no ARPA file can hold it.
    """
    for sentence in sentences:
        tokens = list(sentence)
        if not RESERVED.isdisjoint(tokens):
            kept = [token for token in tokens if token not in RESERVED]
            tally.reserved += len(tokens) - len(kept)
            tokens = kept
        if not tokens:
            tally.empty += 1
            continue
        line = " ".join(tokens)
        if line.split() != tokens or "\0" in line:
            wrong = next(token for token in tokens if token.split() != [token] or "\0" in token)
            raise InputError(f"token {wrong!r}", "holds white space or nothing, which n-gram files cannot")
        tally.sentences += 1
        tally.tokens += len(tokens)
        yield tokens
