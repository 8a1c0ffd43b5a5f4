"""The sets of entailment: what is trained on, what is judged, and the two baselines that need no language model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.progress import say
from pipeline.results import rows_of
from pipeline.similarity import System
from pipeline.task_sets import sets_of
from quartet.errors import InputError
from quartet.results import Result
from quartet.tasks.glue.metrics import BASELINES
from quartet.tasks.nli.data import LABELS, NliPair
from quartet.tasks.nli.metrics import accuracy, baseline

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


def nli_sets(params: Params, layout: Layout) -> NliSets:
    """Read the sets of ``nli.sets`` to train on, and every set of kind nli to judge.

    The pairs of `limit` are drawn with the first seed, the same for all models. Sets that could not be had are left
    out, and the scale says what was read.

    Raises:
        InputError: a set to train on is no task of kind nli, has no train file, or has other labels than the three.
    """
    for name in params.nli.sets:
        if name not in params.tasks or params.tasks[name].kind != "nli":
            raise InputError("params.yaml: nli.sets", f"{name} is no entry of tasks with kind: nli")
    found: dict[str, Mapping[str, list[NliPair]]] = dict(sets_of("nli", params, layout))
    train: list[NliPair] = []
    used = []
    for name in params.nli.sets:
        if name not in found:
            say(f"{name} is not available: tuned without it")
            continue
        if TRAIN not in found[name]:
            raise InputError(f"params.yaml: tasks.{name}.files", "no file train, and nli.sets names it")
        pairs = found[name][TRAIN]
        if any(pair.label not in LABELS for pair in pairs):
            raise InputError(
                "params.yaml: nli.sets", f"{name} has not the labels {', '.join(LABELS)}", "take it out"
            )
        train += pairs
        used.append(name)
    whole = len(train)
    if 0 < params.nli.limit < whole:
        drawn = np.random.default_rng(params.seeds[0]).permutation(whole)[: params.nli.limit]
        train = [train[index] for index in sorted(drawn.tolist())]
    judged = [
        (name, split, pairs)
        for name, splits in found.items()
        for split, pairs in splits.items()
        if split != TRAIN
    ]
    share = f"{len(train):,} of {whole:,}" if len(train) < whole else f"{whole:,}"
    return NliSets(train, judged, f"{share} pairs of {' and '.join(used)}")


def accuracy_row(
    params: Params, dataset: str, split: str, pairs: Sequence[NliPair], said: Sequence[str], system: System
) -> Result:
    """The row of one system on one split.

    Args:
        said: the label that it gave to each pair.
    """
    seed = params.seeds[0] if system.seed is None else system.seed
    found = accuracy(pairs, said, params.bootstrap, seed)
    say(f"{system.name} on {dataset} {split}: accuracy {100 * found.value:.1f} %")
    (row,) = rows_of(
        {"accuracy": found},
        params=params,
        table="nli",
        model=system.model,
        reading=system.reading,
        dataset=dataset,
        split=split,
        device=system.device,
        scale=system.scale,
        seed=system.seed,
    )
    return row


def baseline_rows(params: Params, layout: Layout) -> Iterator[Result]:
    """Yield the rows of the baselines on every judged split, trained on what the models are tuned on.

    Without a task of kind nli there is nothing to judge, whatever ``nli.sets`` still names.
    """
    if not any(task.kind == "nli" for task in params.tasks.values()):
        return
    sets = nli_sets(params, layout)
    if not sets.train:
        return
    for name in BASELINES:
        system = System(name, "cpu", f"trained on {sets.scale}")
        said = baseline(name, sets.train, [pair for _, _, pairs in sets.judged for pair in pairs])
        for dataset, split, pairs in sets.judged:
            yield accuracy_row(params, dataset, split, pairs, said[: len(pairs)], system)
            said = said[len(pairs) :]
