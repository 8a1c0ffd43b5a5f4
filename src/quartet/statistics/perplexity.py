"""Perplexity and pseudo-perplexity from token log-probabilities (T-TA paper, Section A.5, Table 7).

For the two bidirectional objectives the log-probabilities are not of one distribution over texts, so their
figures are pseudo-perplexities ("pppl") and compare only among themselves. Any figure compares only over the
same texts; those per token also only over the same tokens.

A figure a word compares over any tokenizer, since it is given only where unknown words are told apart: a model gives
one probability to [UNK], whichever word that stands for, so the fewer words it knows, the better its figures a token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quartet.results import Measure
from quartet.statistics.intervals import Floats, Statistic, bootstrap_measures, ratio, weighted_median

TokenIds = Sequence[int] | NDArray[np.integer[Any]]  # of one text


@dataclass(frozen=True)
class UnknownWords:
    """The unknown words of S texts.

    Attributes:
        tokens: (S,) how many of each text's tokens are unknown; None: the model cannot tell.
        nats: (S,) what telling each text's unknown words apart adds to its log-probability, at most 0; None: nothing
            tells them apart.
        omits: the model leaves some of the texts out, such as their punctuation: its probability is of another text.
    """

    tokens: Sequence[int] | None
    nats: Sequence[float] | None = None
    omits: bool = False

    @property
    def told_apart(self) -> bool:
        """Whether each text has the probability of its words."""
        known = self.nats is not None or not any(self.tokens or ())
        return self.tokens is not None and known and not self.omits


def perplexity_measures(
    logprobs: Sequence[Floats],
    words: Sequence[int],
    pseudo: bool,
    samples: int,
    seed: int,
    clusters: Sequence[int] | None = None,
    word_texts: bool = False,
    unknown: UnknownWords | None = None,
    unit: str = "documents",
) -> dict[str, Measure]:
    """Every measure of S texts, with 95 % intervals.

    Args:
        logprobs: S arrays, the natural log-probability of each token of a text. A text without tokens counts
            in none.
        words: (S,) words of each text (`quartet.text.scripts.count_words`).
        pseudo: name the figures "pppl...", not "ppl...".
        samples: the number of resamples.
        seed: of their generator.
        clusters: (S,) the document of each text. Documents are resampled, since the sentences of one share a
            subject; None resamples the texts themselves.
        word_texts: also the mean and median over texts of each text's own perplexity per word.
        unknown: the unknown words; None: there are none, and that is not worth a figure.
        unit: what the clusters, or the texts, are.

    Returns:
        "loss": mean negative log-probability per token, in nats (n tokens).
        "ppl": its exponential, the corpus-level perplexity per token (n tokens).
        "ppl-mean", "ppl-median": mean and median over texts of each text's own perplexity (n texts), the
            paper's subscripts a and m.
        "ppl-word": the corpus-level perplexity per word (n words).
        "ppl-word-mean", "ppl-word-median": with `word_texts`, as "ppl-mean" and "ppl-median" but a word (n texts).
        "oov": the share of unknown tokens (n tokens), unless the model cannot tell.
        A figure a word is absent where there are no words, where unknown words are not told apart, where the model
            leaves some of the texts out, and where no float can hold it.

    Raises:
        ValueError: a log-probability is above 0 or not finite, or there is no token at all.
    """
    rows = _Rows(logprobs, words, clusters, None if unknown is None else unknown.nats)
    name = "pppl" if pseudo else "ppl"

    n_tokens, n_texts = int(rows.tokens.sum()), len(rows.own)
    n_words = int(rows.words.sum()) if unknown is None or unknown.told_apart else 0

    def loss(counts: Floats) -> Floats:
        return ratio(counts, rows.nll, rows.tokens)

    def per_word(counts: Floats) -> Floats:
        return np.exp(ratio(counts, rows.spelled, rows.words))

    statistics: dict[str, tuple[Statistic, int]] = {
        "loss": (loss, n_tokens),
        name: (lambda counts: np.exp(loss(counts)), n_tokens),
        f"{name}-mean": (rows.mean(rows.own), n_texts),
        f"{name}-median": (rows.median(rows.own), n_texts),
    }
    by_word: dict[str, tuple[Statistic, int]] = {f"{name}-word": (per_word, n_words)} if n_words else {}
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if n_words and word_texts:
            known = int((~np.isnan(rows.own_word)).sum())
            by_word[f"{name}-word-mean"] = (rows.mean(rows.own_word), known)
            by_word[f"{name}-word-median"] = (rows.median(rows.own_word), known)
        data = np.ones((1, rows.units))
        statistics |= {key: each for key, each in by_word.items() if np.isfinite(each[0](data)[0])}
        found = bootstrap_measures(statistics, rows.units, samples, seed, width=n_texts, unit=unit)
    if unknown is not None and unknown.tokens is not None:
        found["oov"] = Measure(sum(unknown.tokens) / n_tokens, n_tokens)
    return found


def unigram_logprobs(texts: Sequence[TokenIds]) -> list[Floats]:
    """The log relative frequency of each token among all tokens of these texts, shaped as a model's output.

    Their mean, negated, is the unigram entropy of the texts: the least loss that a model without context can
    have on them, even one that has seen them. So `perplexity_measures` of it is the baseline that a model
    must beat, with an interval (the frequencies are held fixed in it).

    Raises:
        ValueError: there is no token.
    """
    lengths = [len(text) for text in texts]
    if not sum(lengths):
        raise ValueError("no token in any text")
    flat = np.concatenate([np.asarray(text, dtype=np.int64) for text in texts])
    _, which, counts = np.unique(flat, return_inverse=True, return_counts=True)
    logprobs = np.log(counts / len(flat))[which]
    return list(np.split(logprobs, np.cumsum(lengths)[:-1]))


def unigram_entropy(texts: Sequence[TokenIds]) -> float:
    """The entropy of the tokens' own relative frequencies, in nats per token."""
    return float(-np.concatenate(unigram_logprobs(texts)).mean())


def gain(
    logprobs: Sequence[Floats],
    baseline: Sequence[Floats],
    samples: int,
    seed: int,
    clusters: Sequence[int] | None = None,
) -> Measure:
    """Nats a token by which the baseline's loss is above the model's on the same tokens, with its interval.

    The difference is taken token by token before resampling: much of the spread is the text's, and is common
        to both.

    Raises:
        ValueError: the two are not of the same tokens.
    """
    if [len(one) for one in logprobs] != [len(one) for one in baseline]:
        raise ValueError("the model and the baseline have other numbers of tokens")
    ours, theirs = (_Rows(each, [0] * len(each), clusters) for each in (logprobs, baseline))
    difference = theirs.nll - ours.nll

    def statistic(counts: Floats) -> Floats:
        return ratio(counts, difference, ours.tokens)

    statistics = {"gain": (statistic, int(ours.tokens.sum()))}
    found = bootstrap_measures(statistics, ours.units, samples, seed, width=len(ours.own), unit="documents")
    return found["gain"]


class _Rows:
    """What the measures need of the texts that have tokens.

    Attributes:
        own: (T,) each text's own perplexity.
        own_word: (T,) the same a word; NaN for a text without words.
        cluster: (T,) the unit (document) that each text is resampled with.
        nll, tokens, words: (units,) sums over each unit's texts.
        spelled: (units,) nll where unknown words are told apart.
    """

    def __init__(
        self,
        logprobs: Sequence[Floats],
        words: Sequence[int],
        clusters: Sequence[int] | None,
        unknown: Sequence[float] | None = None,
    ) -> None:
        owners = range(len(logprobs)) if clusters is None else clusters
        if not len(logprobs) == len(words) == len(owners):
            raise ValueError(f"{len(logprobs)} texts, {len(words)} counts of words, {len(owners)} clusters")
        if unknown is not None and len(unknown) != len(logprobs):
            raise ValueError(f"{len(logprobs)} texts, unknown words of {len(unknown)}")
        keep = [index for index, values in enumerate(logprobs) if len(values)]
        if not keep:
            raise ValueError("no token in any text")
        for index in keep:
            values = np.asarray(logprobs[index])
            if not np.isfinite(values).all() or (values > 0).any():
                raise ValueError(f"text {index}: a log-probability is above 0 or not finite")
        self.cluster = np.unique([owners[index] for index in keep], return_inverse=True)[1]
        self.units = int(self.cluster.max()) + 1
        nll = np.array([-np.sum(logprobs[index], dtype=np.float64) for index in keep])
        spelled = nll - (0.0 if unknown is None else np.array([unknown[index] for index in keep]))
        tokens = np.array([len(logprobs[index]) for index in keep], dtype=np.float64)
        worded = np.array([words[index] for index in keep], dtype=np.float64)
        self.own = np.exp(nll / tokens)
        with np.errstate(over="ignore"):
            self.own_word = np.exp(spelled / np.where(worded > 0, worded, np.nan))
        self.nll, self.tokens, self.words = self.sums(nll), self.sums(tokens), self.sums(worded)
        self.spelled = self.sums(spelled)

    def sums(self, of_texts: Floats) -> Floats:
        """(units,) sums of (T,) values over each unit's texts."""
        return np.bincount(self.cluster, weights=of_texts, minlength=self.units).astype(np.float64)

    def mean(self, of_texts: Floats) -> Statistic:
        """The mean of (T,) values, those that are NaN left out."""
        known = ~np.isnan(of_texts)
        above, below = self.sums(np.where(known, of_texts, 0.0)), self.sums(known.astype(np.float64))
        return lambda counts: ratio(counts, above, below)

    def median(self, of_texts: Floats) -> Statistic:
        """Their median: a text is drawn as often as its document."""
        known = ~np.isnan(of_texts)
        return lambda counts: weighted_median(of_texts[known], counts[:, self.cluster[known]])
