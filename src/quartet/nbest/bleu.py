"""Corpus BLEU by sacrebleu, from matched and possible n-grams of every hypothesis counted once.

sacrebleu itself tokenises, counts, and makes the figure of the sums, so that it is the figure of
`sacrebleu` on the chosen texts, to the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from quartet.config.choices import BleuTokenization
from quartet.nbest.metrics import Counts
from quartet.statistics.intervals import Floats

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

#: Sizes of n-grams, and how sacrebleu smooths a size without a match: its defaults.
ORDER = 4
SMOOTHING = "exp"


@dataclass(frozen=True)
class Bleu:
    """Corpus BLEU, 0 to 100, with one reference.

    The counts are the lengths of hypothesis and reference in sacrebleu's tokens, then the matched and the
    possible n-grams of sizes 1 to 4. The oracle picks by sentence BLEU as sacrebleu smooths it (exponential
    smoothing, sizes beyond the hypothesis left out): corpus BLEU is no sum over sentences, so the choice that
    is best for the corpus is not known, and this one may be a little below it.

    Attributes:
        lowercase, tokenize: sacrebleu's settings.
    """

    lowercase: bool = False
    tokenize: BleuTokenization = "13a"
    name: ClassVar[str] = "bleu"
    better: ClassVar[int] = 1
    columns: ClassVar[int] = 2 + 2 * ORDER

    @property
    def signature(self) -> str:
        """sacrebleu's signature of the figure: what another must set to get the same."""
        from sacrebleu.metrics.bleu import BLEU

        metric = BLEU(lowercase=self.lowercase, tokenize=self.tokenize)
        metric.corpus_score(["a"], [["a"]])
        return str(metric.get_signature())

    @cached_property
    def _sentences(self) -> BLEU:
        from sacrebleu.metrics.bleu import BLEU

        return BLEU(lowercase=self.lowercase, tokenize=self.tokenize, effective_order=True)

    def counts(self, reference: str, hypotheses: Sequence[str]) -> Counts:
        """(N, 10) lengths, matches and possible matches."""
        known: dict[str, list[int]] = {}
        for text in hypotheses:
            if text not in known:
                found = self._sentences.sentence_score(text, [reference])
                known[text] = [found.sys_len, found.ref_len, *found.counts, *found.totals]
        return np.array([known[text] for text in hypotheses], dtype=np.int64)

    def corpus(self, totals: Counts | Floats) -> Floats:
        """(B,) BLEU of (B, 10) sums."""
        return _scores(totals, effective_order=False)

    def merit(self, counts: Counts) -> Floats:
        """(N,) smoothed sentence BLEU."""
        return _scores(counts, effective_order=True)


def _scores(counts: Counts | Floats, effective_order: bool) -> Floats:
    from sacrebleu.metrics.bleu import BLEU

    scores = []
    for hypothesis, reference, *grams in counts.astype(np.int64).tolist():
        found = BLEU.compute_bleu(
            grams[:ORDER], grams[ORDER:], hypothesis, reference, SMOOTHING, None, effective_order, ORDER
        )
        scores.append(found.score)
    return np.array(scores, dtype=np.float64)
