"""What a choice among hypotheses is judged by: figures of a corpus that follow from sums over its lists.

Each hypothesis has a row of counts against its reference (errors and words, or characters; matched and possible
n-grams), made once. The figure of any choice, of every weight and of every resample of a bootstrap, is a function of
the sum of the chosen rows.

Errors are jiwer's, in words or characters: it aligns with rapidfuzz and then builds Python objects of every alignment;
here only the distance is taken, an equal text of a list is aligned once, and a test holds the figures equal to
`jiwer.process_words` and `jiwer.process_characters`. BLEU is sacrebleu's, which itself tokenises, counts, and makes the
figure of the sums: that of `sacrebleu` on the chosen texts, to the last digit. The metrics by
their names are `METRICS`, one registry for Python, the command line, the stages and the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from quartet.arguments import check_choice
from quartet.config.choices import BleuTokenization
from quartet.config.nbest import UTTERANCE, BleuSettings
from quartet.errors import InputError
from quartet.nbest.types import NBest, words
from quartet.nbest.units import ResampledUnits, units_of
from quartet.statistics.intervals import Floats
from quartet.text.scripts import words_of

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

Counts = NDArray[np.int64]

#: The column of counts that holds the reference's length, of every metric.
REFERENCE = 1


class Metric(Protocol):
    """A figure of a corpus.

    Attributes:
        name: its word in the results.
        better: the sign of a change for the better.
        columns: S, how many counts a hypothesis has.
    """

    @property
    def name(self) -> str: ...
    @property
    def better(self) -> int: ...
    @property
    def columns(self) -> int: ...

    def units(self, text: str) -> Sequence[str]:
        """What two texts are compared by where their differences are shown."""
        ...

    def counts(self, reference: str, hypotheses: Sequence[str]) -> Counts:
        """(N, S) counts of hypotheses against one reference."""
        ...

    def corpus(self, totals: Counts | Floats) -> Floats:
        """(B,) figures from (B, S) sums of counts, in the unit of the report."""
        ...

    def merit(self, counts: Counts) -> Floats:
        """(N,) how good each hypothesis is by itself, larger is better: what the oracle picks by."""
        ...


@dataclass(frozen=True)
class CountTable:
    """The counts of a whole set of U lists with H hypotheses, flat.

    Attributes:
        metric: whose counts they are.
        offsets: (U + 1,) the hypotheses of list u are offsets[u] to offsets[u + 1].
        counts: (H, S); zeros where the list has no reference.
        merit: (H,) what the oracle picks by; zeros where the list has no reference.
        referenced: (U,) True where the list has a reference. The others are left out of every figure.
        units: what is resampled of those that have one.
    """

    metric: Metric
    offsets: NDArray[np.int64]
    counts: Counts
    merit: Floats
    referenced: NDArray[np.bool_]
    units: ResampledUnits

    @classmethod
    def of(cls, lists: Iterable[NBest], metric: Metric, unit: str = UTTERANCE) -> CountTable:
        """Hold every hypothesis of the lists against its reference.

        Raises:
            InputError: the name of an utterance does not show its unit, see `quartet.nbest.units.units_of`.
        """
        offsets, counts, merit, referenced, names = [0], [], [], [], []
        for one in lists:
            size = len(one.hypotheses)
            found = np.zeros((size, metric.columns), dtype=np.int64)
            merits = np.zeros(size)
            if one.reference is not None:
                found = metric.counts(one.reference, [each.text for each in one.hypotheses])
                merits = metric.merit(found)
                names.append(one.utterance)
            counts.append(found)
            merit.append(merits)
            referenced.append(one.reference is not None)
            offsets.append(offsets[-1] + size)
        return cls(
            metric,
            np.array(offsets, dtype=np.int64),
            np.concatenate(counts) if counts else np.zeros((0, metric.columns), dtype=np.int64),
            np.concatenate(merit) if merit else np.zeros(0),
            np.array(referenced, dtype=np.bool_),
            units_of(names, unit),
        )


def characters(text: str) -> str:
    """What a character error rate counts: every code point, and one space between two words."""
    return " ".join(words(text))


def count_errors(
    reference: str, hypotheses: Sequence[str], units: Callable[[str], Sequence[str]] = words
) -> tuple[list[int], int]:
    """Substitutions + insertions + deletions of each hypothesis, and the reference's number of units.

    An empty reference is legal: every unit of a hypothesis is an insertion and an empty hypothesis is right.

    Args:
        units: what a text consists of, its words or its `characters`.
    """
    ids: dict[str, int] = {}

    def encode(text: str) -> list[int]:
        return [ids.setdefault(unit, len(ids)) for unit in units(text)]

    target = encode(reference)
    known: dict[str, int] = {}
    for text in hypotheses:
        if text not in known:
            known[text] = Levenshtein.distance(target, encode(text))
    return [known[text] for text in hypotheses], len(target)


def unspaced_words(lists: Iterable[NBest], metric: Metric) -> str | None:
    """What to know of texts without spaces between their words, each of which the metric counts as one word.

    None where fewer than half of the references are such, or the metric counts their characters: then lists are
    named of which either the hypotheses or the references have a space between all characters, and the others none.
    """
    if isinstance(metric, CharacterErrorRate):
        return _spaced_on_one_side(lists)
    if isinstance(metric, Bleu) and metric.tokenize in ("zh", "char"):
        return None
    texts = [one.reference for one in lists if one.reference is not None and words(one.reference)]
    long = [next((word for word in words(text) if words_of(word) > 1), None) for text in texts]
    found = [word for word in long if word is not None]
    if 2 * len(found) <= len(texts):
        return None
    remedy = "give --bleu-tokenize zh or char (bleu: tokenize)"
    if not isinstance(metric, Bleu):
        remedy = "give --metric cer (metric: cer), the character error rate"
    return (
        f'{len(found)} of {len(texts)} references have words such as "{found[0]:.20}", of a script without spaces, and '
        f"each counts as one word; {remedy}"
    )


def _spaced_on_one_side(lists: Iterable[NBest]) -> str | None:
    pairs = [
        (one.reference, one.hypotheses[0].text)
        for one in lists
        if one.reference and one.hypotheses and words(one.hypotheses[0].text)
        if words_of("".join(words(one.reference))) > 1
    ]
    apart = [[all(words_of(word) == 1 for word in words(text)) for text in pair] for pair in pairs]
    found = [
        texts for texts, (reference, hypothesis) in zip(pairs, apart, strict=True) if reference != hypothesis
    ]
    if 2 * len(found) <= len(pairs):
        return None
    return (
        f"{len(found)} of {len(pairs)} lists have spaces between characters on one side alone, such as "
        f'"{found[0][0]:.20}" and "{found[0][1]:.20}", and each space counts as an error; write both sides alike'
    )


@dataclass(frozen=True)
class WordErrorRate:
    """The corpus word error rate in percent; the counts are word errors and the reference's words.

    Without any reference word it is 100 times the errors themselves, as jiwer has it.
    """

    name: ClassVar[str] = "wer"
    better: ClassVar[int] = -1
    columns: ClassVar[int] = 2

    def units(self, text: str) -> Sequence[str]:
        """What is counted of a text."""
        return words(text)

    def counts(self, reference: str, hypotheses: Sequence[str]) -> Counts:
        """(N, 2) errors, and units of the reference."""
        errors, length = count_errors(reference, hypotheses, self.units)
        return np.array([(each, length) for each in errors], dtype=np.int64)

    def corpus(self, totals: Counts | Floats) -> Floats:
        """(B,) rates of (B, 2) sums."""
        rates: Floats = 100.0 * (totals[:, 0] / np.where(totals[:, 1] > 0, totals[:, 1], 1))
        return rates

    def merit(self, counts: Counts) -> Floats:
        """(N,) minus the errors."""
        return -counts[:, 0].astype(np.float64)


@dataclass(frozen=True)
class CharacterErrorRate(WordErrorRate):
    """The corpus character error rate in percent, spaces between words being characters, as jiwer has it.

    For a script without spaces it is the usual one; lists and references must then both be without them.
    """

    name: ClassVar[str] = "cer"

    def units(self, text: str) -> Sequence[str]:
        """What is counted of a text."""
        return characters(text)


#: Their texts are compared without case and punctuation, if nothing else is said.
ERROR_RATES = (WordErrorRate.name, CharacterErrorRate.name)

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

    def units(self, text: str) -> Sequence[str]:
        """Its words; what is counted are sacrebleu's tokens."""
        return words(text)

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


@dataclass(frozen=True)
class KnownMetric:
    """A metric.

    Attributes:
        make: the metric itself; the settings are BLEU's.
        better: the sign of a change for the better.
        label: its figure with its unit, before a number.
        axis: beside a picture's axis.
        unit: in a sentence.
        parts: what its `units` are called.
    """

    make: Callable[[BleuSettings], Metric]
    better: int
    label: str
    axis: str
    unit: str
    parts: str = "words"


#: The same names as in :data:`quartet.config.choices.MetricName`.
METRICS: dict[str, KnownMetric] = {
    "wer": KnownMetric(
        lambda _: WordErrorRate(), WordErrorRate.better, "WER, %", "word error rate, %", "WER in %"
    ),
    "cer": KnownMetric(
        lambda _: CharacterErrorRate(),
        CharacterErrorRate.better,
        "CER, %",
        "character error rate, %",
        "CER in %",
        "characters",
    ),
    "bleu": KnownMetric(
        lambda bleu: Bleu(bleu.lowercase, bleu.tokenize), Bleu.better, "BLEU", "BLEU", "BLEU"
    ),
}


#: sacrebleu's own settings.
SACREBLEU = BleuSettings(lowercase=False, tokenize="13a")


def bleu_settings(metric: Metric) -> BleuSettings | None:
    """sacrebleu's settings, where the metric is BLEU."""
    if not isinstance(metric, Bleu):
        return None
    return BleuSettings(lowercase=metric.lowercase, tokenize=metric.tokenize)


def metric_named(name: str, bleu: BleuSettings | None = None) -> Metric:
    """A metric by its name.

    Args:
        bleu: sacrebleu's settings; None: its defaults.

    Raises:
        InputError: there is no such metric, or it reads no such settings.
    """
    check_choice(name, METRICS, "metric")
    bleu = bleu or SACREBLEU
    if name != "bleu" and bleu != SACREBLEU:
        raise InputError(
            "--bleu-tokenize, --bleu-lowercase (bleu:)",
            f"mean nothing with --metric {name}",
            "take them out, or choose --metric bleu",
        )
    return METRICS[name].make(bleu)
