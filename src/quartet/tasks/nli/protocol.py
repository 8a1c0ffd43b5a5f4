"""Entailment: what is tuned on, what is judged, and the row of a system on a judged split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quartet.config.finetuning import NliSettings
from quartet.errors import InputError
from quartet.results import EvaluatedSystem
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.nli.data import LABELS, NliPair
from quartet.tasks.nli.metrics import accuracy

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
    run.say(f"{system.name} on {dataset} {split}: accuracy {100 * found.value:.1f} %")
