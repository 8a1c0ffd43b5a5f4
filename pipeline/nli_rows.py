"""Entailment: what is tuned on and judged, the two baselines, and the rows that a tuning leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.similarity import JudgedSet, judged_rows, judged_sets
from pipeline.task_sets import sets_of
from pipeline.tracking.progress import say
from quartet.errors import InputError
from quartet.results import EvaluatedSystem, Result
from quartet.statistics.correlation import correlations
from quartet.statistics.intervals import Floats
from quartet.tasks.glue.metrics import BASELINES
from quartet.tasks.nli.data import LABELS, NliPair
from quartet.tasks.nli.metrics import AVERAGE, SEVEN, accuracy, baseline
from quartet.tasks.sts.metrics import mean_over_sets, similarities

if TYPE_CHECKING:  # the baselines train nothing
    from quartet.training.siamese import SiameseModel

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
    params: Params,
    dataset: str,
    split: str,
    pairs: Sequence[NliPair],
    said: Sequence[str],
    system: EvaluatedSystem,
) -> Result:
    """The row of one system on one split.

    Args:
        said: the label that it gave to each pair.
    """
    seed = params.seeds[0] if system.seed is None else system.seed
    found = accuracy(pairs, said, params.bootstrap, seed)
    say(f"{system.name} on {dataset} {split}: accuracy {100 * found.value:.1f} %")
    (row,) = system.rows(
        {"accuracy": found}, experiment=params.experiment, table="nli", dataset=dataset, split=split
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
        system = EvaluatedSystem(name, "cpu", f"trained on {sets.scale}")
        said = baseline(name, sets.train, [pair for _, _, pairs in sets.judged for pair in pairs])
        for dataset, split, pairs in sets.judged:
            yield accuracy_row(params, dataset, split, pairs, said[: len(pairs)], system)
            said = said[len(pairs) :]


TEST = "test"


def likeness_sets(params: Params, layout: Layout) -> list[JudgedSet]:
    """The test split of every set of kind sts; of SemEval's years all sub-tasks concatenated."""
    sets = judged_sets(params, layout)
    return [one for one in sets if one.split == TEST and params.tasks[one.dataset].kind == "sts"]


def accuracy_rows(
    params: Params, sets: NliSets, model: SiameseModel, system: EvaluatedSystem
) -> Iterator[Result]:
    """Yield the accuracy of a tuned encoder on every judged split."""
    for dataset, split, pairs in sets.judged:
        indices = model.predict([(pair.premise, pair.hypothesis) for pair in pairs])
        yield accuracy_row(params, dataset, split, pairs, [LABELS[index] for index in indices], system)


def likeness_rows(
    params: Params, sets: Sequence[JudgedSet], texts: Sequence[str], vectors: Floats, system: EvaluatedSystem
) -> Iterator[Result]:
    """Yield Spearman's correlation of the cosines on every set, and the mean of the papers' seven where all are there.

    Args:
        texts, vectors: the sets' texts and their vectors (T, d).
    """
    places = {text: number for number, text in enumerate(texts)}
    seed = params.seeds[0] if system.seed is None else system.seed
    cosines: dict[str, tuple[Floats, Floats]] = {}
    for one in sets:
        own = vectors[np.array([places[text] for text in one.pairs.texts])]
        predicted = similarities(one.pairs, own)
        measures = correlations(predicted, one.pairs.gold, params.bootstrap, seed)
        cosines[one.dataset] = (predicted, one.pairs.gold)
        say(f"{system.name} on {one.dataset}: Spearman {measures['spearman'].value:.3f}")
        kept = {"spearman": measures["spearman"]}
        yield from judged_rows(params, one.dataset, one.split, kept, system)
    if set(SEVEN) <= set(cosines):
        predicted_each, gold_each = zip(*(cosines[name] for name in SEVEN), strict=True)
        mean = mean_over_sets(predicted_each, gold_each, params.bootstrap, seed)["spearman-mean"]
        yield from judged_rows(params, AVERAGE, TEST, {"spearman-mean": mean}, system)
