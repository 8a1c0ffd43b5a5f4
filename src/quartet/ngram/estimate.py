"""From tokenised sentences to an ARPA file, by lmplz where it is installed and wanted, else by this package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

from quartet.config.ngram import Estimator, NgramConfig
from quartet.errors import InputError
from quartet.ngram.arpa import read_sizes, write_arpa
from quartet.ngram.counts import count_grams, running_text
from quartet.ngram.kneser_ney import Smoothing
from quartet.ngram.lmplz import find_lmplz, run_lmplz
from quartet.ngram.tokens import TokenCounts, countable_sentences


@dataclass(frozen=True)
class EstimationSummary:
    """What an ARPA file was made of, and by whom.

    Attributes:
        made_by: ``lmplz`` or ``own``.
        sizes: n-grams of each order in the file.
        discounts: of counts 1, 2, and 3 or more, of each order.
        tally: the sentences and tokens that were counted.
    """

    made_by: Literal["lmplz", "own"]
    sizes: tuple[int, ...]
    discounts: tuple[tuple[float, ...], ...]
    tally: TokenCounts


def estimate(sentences: Iterable[Sequence[str]], path: str | Path, config: NgramConfig) -> EstimationSummary:
    """Estimate an n-gram model with interpolated modified Kneser-Ney smoothing and write it, atomically.

    Our own estimator holds everything in memory: of 18 M words (42 M n-grams up to order 5) 2.4 GB.

    Args:
        sentences: the tokens of each, read once; `tokens.splitter` makes them of a text. What is spelled <s>, </s> or
            <unk> is left out, and so are sentences without a token.
        path: of the ARPA file; ``.gz`` compresses it.

    Raises:
        InputError: lmplz is asked for and not installed; there is no token; a token holds white space; or the discounts
            of an order cannot be computed.
    """
    path = Path(path)
    program = _program(config.estimator)
    tally = TokenCounts()
    checked = countable_sentences(sentences, tally)
    first = next(checked, None)
    if first is None:
        raise InputError("n-grams", "there is no token to count", "give a text with words")
    checked = chain([first], checked)
    if program is not None:
        discounts = run_lmplz(program, checked, path, config)
        return EstimationSummary("lmplz", tuple(read_sizes(path)), tuple(discounts), tally)
    text = running_text(checked)
    smoothing = Smoothing.of(count_grams(text, config.order), config)
    write_arpa(path, text.words, smoothing)
    own = tuple(tuple(each[1:].tolist()) for each in smoothing.discounts)
    return EstimationSummary("own", tuple(smoothing.sizes()), own, tally)


def _program(estimator: Estimator) -> str | None:
    """The path of lmplz where it is to be used, None for our own estimator."""
    found = None if estimator == "own" else find_lmplz()
    if estimator == "lmplz" and found is None:
        raise InputError(
            "estimator lmplz", "there is no program lmplz on the PATH", "install KenLM, or set estimator: own"
        )
    return found
