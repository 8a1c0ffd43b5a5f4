"""Two systems on the same lists: who is better where, what changed, and how sure the difference is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import Levenshtein

from quartet.config.nbest import UTTERANCE
from quartet.errors import InputError
from quartet.nbest.metrics import Metric, bleu_settings
from quartet.nbest.normalise import default_normalisation
from quartet.nbest.rerank import Selection
from quartet.nbest.rescored_file import RescoredLine
from quartet.nbest.significance import measure, paired_bootstrap
from quartet.nbest.types import words
from quartet.nbest.units import units_of
from quartet.results import Measure


@dataclass(frozen=True)
class Changes:
    """Words of the references, or characters, that only one of two systems has right.

    Attributes:
        fixed: right in b alone; by (what a has in its place, "" where nothing; the word), how often.
        broken: right in a alone; by (the word; what b has in its place).
        added, dropped: words that stand for none of the reference, more in b and fewer in b, over all utterances.
    """

    fixed: Counter[tuple[str, str]]
    broken: Counter[tuple[str, str]]
    added: int
    dropped: int


@dataclass(frozen=True)
class SystemComparison:
    """System b against system a.

    Attributes:
        utterances: how many have a reference; the others are left out of everything below.
        without_reference: these others.
        units: how many of what is resampled, e.g. "40 speakers".
        a, b: their figures, each with its interval.
        difference: b minus a.
        wins, losses, ties: utterances where b is better, worse, as good, by themselves (see `Metric.merit`).
        same: utterances for which both chose the same text.
        changes: what changed, in the units of the metric.
    """

    utterances: int
    without_reference: int
    units: str
    a: Measure
    b: Measure
    difference: Measure
    wins: int
    losses: int
    ties: int
    same: int
    changes: Changes


def compare(
    a: Sequence[RescoredLine],
    b: Sequence[RescoredLine],
    metric: Metric,
    samples: int,
    seed: int,
    unit: str = UTTERANCE,
) -> SystemComparison:
    """Compare the choices of two systems for the same utterances, in whichever order each wrote them.

    Args:
        unit: what is resampled, see `quartet.nbest.units.units_of`.

    Raises:
        InputError: an utterance or a reference of the one is not that of the other, there is no reference, the
            texts say that they were made for another metric, or not alike, or a name does not show its unit.
    """
    _check_counted(a, b, metric)
    pairs = _pairs(a, b)
    names = [one.utterance for one in a if one.reference is not None]
    known = [(reference, ours, theirs) for reference, ours, theirs in pairs if reference is not None]
    if not known:
        raise InputError("the two results", "no utterance has a reference", "rescore with --references")
    counts = np.stack([metric.counts(reference, [ours, theirs]) for reference, ours, theirs in known])
    chosen = np.zeros(len(known), dtype=np.int64)
    units = units_of(names, unit)
    selections = [Selection(chosen, counts[:, place], metric, units) for place in (0, 1)]
    gains = metric.merit(counts[:, 1]) - metric.merit(counts[:, 0])
    first, second = (measure(selection, samples, seed) for selection in selections)
    return SystemComparison(
        utterances=len(known),
        without_reference=len(pairs) - len(known),
        units=f"{units.count:,} {units.name}",
        a=first,
        b=second,
        difference=paired_bootstrap(selections[1], selections[0], samples, seed),
        wins=int((gains > 0).sum()),
        losses=int((gains < 0).sum()),
        ties=int((gains == 0).sum()),
        same=sum(ours == theirs for _, ours, theirs in known),
        changes=changes_of(known, metric.units),
    )


def choice_of(rows: Sequence[RescoredLine], metric: Metric, unit: str = UTTERANCE) -> Selection:
    """What a system chose, counted: of the utterances that have a reference, in the order of their names.

    Raises:
        InputError: there is no reference, or a name does not show its unit.
    """
    known = sorted((one.utterance, one.reference, one.best) for one in rows if one.reference is not None)
    if not known:
        raise InputError("the result", "no utterance has a reference", "rescore with --references")
    counts = np.concatenate([metric.counts(reference, [best]) for _, reference, best in known])
    units = units_of([name for name, _, _ in known], unit)
    return Selection(np.zeros(len(known), dtype=np.int64), counts, metric, units)


def changes_of(
    texts: Sequence[tuple[str, str, str]], units: Callable[[str], Sequence[str]] = words
) -> Changes:
    """Word by word along each reference, from (reference, a's text, b's text).

    Args:
        units: what a text consists of, its words or its characters.
    """
    fixed: Counter[tuple[str, str]] = Counter()
    broken: Counter[tuple[str, str]] = Counter()
    added = dropped = 0
    for reference, ours, theirs in texts:
        target = units(reference)
        (a, extra_a), (b, extra_b) = _along(target, units(ours)), _along(target, units(theirs))
        for word, in_a, in_b in zip(target, a, b, strict=True):
            if in_a != word == in_b:
                fixed[in_a, word] += 1
            elif in_a == word != in_b:
                broken[word, in_b] += 1
        added += max(0, extra_b - extra_a)
        dropped += max(0, extra_a - extra_b)
    return Changes(fixed, broken, added, dropped)


def _along(target: Sequence[str], text: Sequence[str]) -> tuple[list[str], int]:
    """What a text has in the place of each word of the reference, and how many words it has beside them."""
    found = [""] * len(target)
    extra = 0
    for step in Levenshtein.opcodes(target, text):
        if step.tag == "insert":
            extra += step.dest_end - step.dest_start
        elif step.tag != "delete":
            found[step.src_start : step.src_end] = text[step.dest_start : step.dest_end]
    return found, extra


def _check_counted(a: Sequence[RescoredLine], b: Sequence[RescoredLine], metric: Metric) -> None:
    """Raise InputError where texts were not made for the metric, or not alike; what does not say it passes."""
    rules = list(dict.fromkeys(one.counted for one in (*a, *b) if one.counted is not None))
    for rule in rules:
        if rule.metric != metric.name and rule.normalise != default_normalisation(metric.name):
            raise InputError(
                "the two results",
                f"the texts are those for {rule}, of which {metric.name} is another figure",
                f"compare by {rule.metric}, or rescore with the metric {metric.name}",
            )
        wanted = bleu_settings(metric)
        if rule.bleu is not None and wanted is not None and rule.bleu != wanted:
            case = " --bleu-lowercase" if rule.bleu.lowercase else ""
            raise InputError(
                "the two results",
                f"the texts are those for {rule}, of which the BLEU asked for is another figure",
                f"compare with --bleu-tokenize {rule.bleu.tokenize}{case}, or rescore with the BLEU wanted",
            )
    if len({(rule.normalise, rule.own) for rule in rules}) > 1:
        raise InputError(
            "the two results",
            f"the texts are not made alike: for {' and for '.join(map(str, rules))}",
            "rescore both with one metric and normalisation",
        )


def _pairs(a: Sequence[RescoredLine], b: Sequence[RescoredLine]) -> list[tuple[str | None, str, str]]:
    """(reference, a's choice, b's choice) of each utterance, in the order of a."""
    others = {one.utterance: one for one in b}
    own = {one.utterance for one in a}
    for one in b:
        if one.utterance not in own:
            raise InputError(f'utterance "{one.utterance}"', "only the second result has it")
    pairs = []
    for one in a:
        other = others.get(one.utterance)
        if other is None:
            raise InputError(f'utterance "{one.utterance}"', "only the first result has it")
        if one.reference != other.reference:
            raise InputError(
                f'utterance "{one.utterance}"',
                "its reference differs between the two results",
                "rescore both with one normalisation and one file of references",
            )
        pairs.append((one.reference, one.best, other.best))
    return pairs
