"""Entailment: what is tuned on, what is judged, and how many pairs are labelled right.

The pairs of one premise stand or fall together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quartet.config.finetuning import NliSettings
from quartet.errors import InputError
from quartet.results import EvaluatedSystem, Measure
from quartet.statistics.intervals import Floats, Ints, bootstrap_ratio
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.nli.data import LABELS, TWO_LABELS, NliPair

#: The sets on which Table 5 of the Segatron paper judges tuned encoders, by their names in params.yaml; their mean.
SEVEN = ("sts12", "sts13", "sts14", "sts15", "sts16", "stsb", "sick")
AVERAGE = "sts-average"


def accuracy(pairs: Sequence[NliPair], predicted: Sequence[str], samples: int, seed: int) -> Measure:
    """The share of right labels with a 95 % interval; n counts pairs.

    What is resampled is premises, each with all its pairs: SNLI and MultiNLI have three hypotheses a premise, which are
    no independent items. Where the set has the two labels of HANS, neutral and contradiction are both
    ``non-entailment``.

    Args:
        predicted: one of `LABELS` a pair.
        samples: the number of resamples.
        seed: of their generator.

    Raises:
        ValueError: the numbers differ, or there are no pairs.
    """
    right, owners = right_labels(pairs, predicted)
    hits, sizes = np.bincount(owners, weights=right), np.bincount(owners).astype(np.float64)
    return bootstrap_ratio(hits, sizes, len(pairs), samples, seed, "premises")


def right_labels(pairs: Sequence[NliPair], predicted: Sequence[str]) -> tuple[Floats, Ints]:
    """(P,) 1 where a pair's label is right, else 0; (P,) the number of its premise. See :func:`accuracy`."""
    if len(pairs) != len(predicted) or not pairs:
        raise ValueError(f"{len(pairs)} pairs and {len(predicted)} predictions")
    two = any(pair.label not in LABELS for pair in pairs)
    said = [as_two(label) for label in predicted] if two else list(predicted)
    right = np.array([pair.label == label for pair, label in zip(pairs, said, strict=True)], dtype=np.float64)
    return right, np.unique([pair.premise for pair in pairs], return_inverse=True)[1]


def as_two(label: str) -> str:
    """One of the three labels as one of the two of HANS."""
    return TWO_LABELS[0] if label == LABELS[0] else TWO_LABELS[1]


TABLE = "nli"
TRAIN = "train"


@dataclass(frozen=True)
class NliSets:
    """The sets of entailment that are there.

    Attributes:
        train: the training pairs, all sets together.
        judged: (set, split, pairs) of every other file.
        scale: what the training pairs are, for the line that goes beside every figure.
    """

    train: list[NliPair]
    judged: list[tuple[str, str, list[NliPair]]]
    scale: str


def nli_sets(
    run: Evaluation, found: Mapping[str, Mapping[str, list[NliPair]]], settings: NliSettings
) -> NliSets:
    """The pairs of ``nli.sets`` to train on, and those of every other file to judge.

    The pairs of `limit` are drawn with the run's seed, the same for all models. Sets that could not be had are left
    out, and the scale says what was read.

    Args:
        found: the sets that are there, each with its pairs by role.

    Raises:
        InputError: a set to train on has other labels than the three.
    """
    train: list[NliPair] = []
    used = []
    for name in settings.sets:
        if name not in found:
            run.say(f"{name} is not available: tuned without it")
            continue
        pairs = found[name][TRAIN]
        if any(pair.label not in LABELS for pair in pairs):
            raise InputError(
                "params.yaml: nli.sets", f"{name} has not the labels {', '.join(LABELS)}", "take it out"
            )
        train += pairs
        used.append(name)
    whole = len(train)
    if 0 < settings.limit < whole:
        drawn = np.random.default_rng(run.seed).permutation(whole)[: settings.limit]
        train = [train[index] for index in sorted(drawn.tolist())]
    judged = [
        (name, split, pairs)
        for name, splits in found.items()
        for split, pairs in splits.items()
        if split != TRAIN
    ]
    share = f"{len(train):,} of {whole:,}" if len(train) < whole else f"{whole:,}"
    return NliSets(train, judged, f"{share} pairs of {' and '.join(used)}")


def judge(
    run: Evaluation,
    system: EvaluatedSystem,
    dataset: str,
    split: str,
    pairs: Sequence[NliPair],
    labels: Sequence[str],
) -> None:
    """Add the row of one system on one split.

    Args:
        labels: that it gave to the pairs.
    """
    found = accuracy(pairs, labels, run.samples, run.seed_of(system))
    run.add({"accuracy": found}, system, dataset, split, TABLE)
    right, premises = right_labels(pairs, labels)
    run.keep(("accuracy",), right, system, dataset, split, TABLE, unit="premises", units=(premises,))
    run.say(f"{system.name} on {dataset} {split}: accuracy {100 * found.value:.1f} %")
