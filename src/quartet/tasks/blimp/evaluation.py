"""BLiMP: how often a model gives the good sentence of a minimal pair a higher score than the bad one.

Warstadt et al. (2020), the "full-sentence" method, of anything that scores texts: by the sum of the log-probabilities
and by their mean. A tie is a failure: a model that cannot tell the two apart earns nothing. Scores that differ by no
more than rounding are tied: two sentences with the same tokens (both with unknown words) would else be told apart by
the batches that they stood in.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quartet.config.choices import UnknownHandling
from quartet.errors import InputError
from quartet.results import EvaluatedSystem, Measure
from quartet.scoring.engine import TextScorer, score_all
from quartet.scoring.unknown import unknown_in
from quartet.statistics.intervals import Floats, Ints, percentile_interval, wilson, with_bounds
from quartet.tasks.blimp.data import MinimalPair
from quartet.tasks.evaluation import Evaluation


def evaluate(
    run: Evaluation,
    model: TextScorer,
    system: EvaluatedSystem,
    sets: Mapping[str, Sequence[MinimalPair]],
    unknown: UnknownHandling,
) -> None:
    """Add the rows of a model on every set: of the whole, the fields, the phenomena and the paradigms.

    Of the reading ``mean``, the mean log-probability of the tokens, there are only the whole and the fields.

    Args:
        unknown: what is done with tokens that the model does not know.

    Raises:
        InputError: there are unknown tokens, and that is an error.
    """
    for dataset, pairs in sets.items():
        with run.bar(f"{system.model} on {dataset}: sentences") as shown:
            texts = [*(pair.good for pair in pairs), *(pair.bad for pair in pairs)]
            treatment = unknown_in(model, texts, unknown)
            values = treatment.applied(score_all(model, texts, progress=shown.set))
        if treatment.share is not None and treatment.share.tokens:
            run.say(f"{system.model} on {dataset}: {treatment.share} (blimp.unknown: {unknown})")
        good, bad = values[: len(pairs)], values[len(pairs) :]
        for reading, mean in (("", False), ("mean", True)):
            read = dataclasses.replace(system, reading=reading)
            chosen = choices(good, bad, mean)
            found = blimp_measures(pairs, chosen, run.samples, run.seed_of(system))
            run.keep(
                ("accuracy",), chosen.right_P, read, dataset, parts=paradigm_of_each(pairs), unit="pairs"
            )
            for part, measures in found.items():
                if not mean or not part or part.startswith("field/"):
                    run.add(measures, read, f"{dataset}/{part}" if part else dataset)
            run.say(f"{read.name} on {dataset}: accuracy {100 * found['']['accuracy'].value:.1f} %")


#: The difference, in nats per token, up to which two scores are tied: what a text's score may change with its batch.
TIE = 1e-5


@dataclass(frozen=True)
class PairChoices:
    """What was chosen of P pairs.

    Attributes:
        right_P: the good sentence has the higher score.
        tied_P: neither has.
    """

    right_P: NDArray[np.bool_]
    tied_P: NDArray[np.bool_]


def gather_pairs(files: Mapping[str, Iterable[MinimalPair]], limit: int) -> list[MinimalPair]:
    """The first `limit` pairs of each paradigm (0: all) of a set that is in one file or in several.

    Args:
        files: the pairs of each, by the name under which params.yaml has it.

    Raises:
        InputError: a paradigm is in two of them.
    """
    owner: dict[str, str] = {}
    taken: Counter[str] = Counter()
    kept = []
    for name, pairs in files.items():
        for pair in pairs:
            if owner.setdefault(pair.paradigm, name) != name:
                raise InputError(
                    name, f"{pair.paradigm} is in {owner[pair.paradigm]} already", "take one out"
                )
            taken[pair.paradigm] += 1
            if not limit or taken[pair.paradigm] <= limit:
                kept.append(pair)
    return kept


def choices(good: Sequence[Floats], bad: Sequence[Floats], mean: bool = False) -> PairChoices:
    """Compare the scores of pairs.

    Args:
        good, bad: the token log-probabilities of each pair's sentences.
        mean: the score is their mean; else their sum.

    Raises:
        ValueError: the numbers differ, or a sentence has no token.
    """
    if len(good) != len(bad) or any(len(values) == 0 for values in (*good, *bad)):
        raise ValueError(f"{len(good)} and {len(bad)} sentences, or one without a token")
    lengths = np.array([(len(a), len(b)) for a, b in zip(good, bad, strict=True)], dtype=np.float64)
    sums = np.array([(a.sum(), b.sum()) for a, b in zip(good, bad, strict=True)], dtype=np.float64)
    scores = sums / lengths if mean else sums
    ahead = scores[:, 0] - scores[:, 1]
    noise = np.full(len(ahead), TIE) if mean else TIE * lengths.max(axis=1)
    return PairChoices(ahead > noise, np.abs(ahead) <= noise)


def blimp_measures(
    pairs: Sequence[MinimalPair], chosen: PairChoices, samples: int, seed: int
) -> dict[str, dict[str, Measure]]:
    """{part: {metric: measure}}; n counts pairs.

    The parts: "" for the whole, each paradigm by its name, ``phenomenon/<name>`` and ``field/<name>``. ``accuracy`` is
    the mean over the part's paradigms, each with the same weight; of the whole there are also ``accuracy-micro``, with
    the same weight for each pair, and ``ties``, their share. A paradigm's interval is Wilson's, and so is that of the
    ties; the others' are of a bootstrap over pairs within paradigms: the paradigms are given, the pairs are samples,
    those of the smallest paradigm the units.

    Args:
        samples: the number of resamples.
        seed: of their generator.

    Raises:
        ValueError: the numbers differ, or there are no pairs.
    """
    if len(pairs) != len(chosen.right_P) or not pairs:
        raise ValueError(f"{len(pairs)} pairs and {len(chosen.right_P)} choices")
    names = sorted({pair.paradigm for pair in pairs})
    owners_P = paradigm_of_each(pairs)
    sizes_K = np.bincount(owners_P)
    hits_K = np.bincount(owners_P, weights=chosen.right_P).astype(np.int64)
    # resampling n outcomes of which a share p is right gives Binomial(n, p) right ones
    drawn_SK = np.random.default_rng(seed).binomial(sizes_K, hits_K / sizes_K, size=(samples, len(names)))

    def measure(value: Callable[[NDArray[np.int64]], Floats], kept_K: NDArray[np.bool_]) -> Measure:
        units, n = int(sizes_K[kept_K].min()), int(sizes_K[kept_K].sum())
        bounds = percentile_interval(value(drawn_SK), units)
        return with_bounds(float(value(hits_K[None])[0]), n, bounds, units, "pairs")

    def macro(kept_K: NDArray[np.bool_]) -> Measure:
        return measure(lambda hits_SK: (hits_SK / sizes_K)[:, kept_K].mean(axis=1), kept_K)

    every_K = np.ones(len(names), dtype=bool)
    found = {
        "": {
            "accuracy": macro(every_K),
            "accuracy-micro": measure(lambda hits_SK: hits_SK.sum(axis=1) / sizes_K.sum(), every_K),
            "ties": wilson(int(chosen.tied_P.sum()), len(pairs)),
        }
    }
    for name, hits, size in zip(names, hits_K, sizes_K, strict=True):
        found[name] = {"accuracy": wilson(int(hits), int(size))}
    for part, members in _groups(pairs):
        found[part] = {"accuracy": macro(np.array([name in members for name in names]))}
    return found


def paradigm_of_each(pairs: Sequence[MinimalPair]) -> Ints:
    """(P,) the number of each pair's paradigm, in the order of their names."""
    return np.unique([pair.paradigm for pair in pairs], return_inverse=True)[1]


def _groups(pairs: Sequence[MinimalPair]) -> Iterator[tuple[str, set[str]]]:
    """The phenomena and the fields, each with its paradigms."""
    members: dict[str, set[str]] = {}
    for pair in pairs:
        for part in (f"phenomenon/{pair.phenomenon}", f"field/{pair.field}"):
            members.setdefault(part, set()).add(pair.paradigm)
    yield from sorted(members.items())
