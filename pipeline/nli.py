"""Tuning on entailment: the pairs that it reads, the rows that it leaves, and the fingerprint of its weights."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence

import numpy as np

from pipeline.layout import Layout
from pipeline.nli_sets import NliSets, accuracy_row
from pipeline.params import Params
from pipeline.progress import say
from pipeline.similarity import Judged, System, judged_rows, judged_sets
from quartet.results import Result
from quartet.statistics.correlation import correlations
from quartet.statistics.intervals import Floats
from quartet.tasks.nli.data import LABELS, NliPair
from quartet.tasks.nli.metrics import AVERAGE, SEVEN
from quartet.tasks.sts.metrics import mean_over_sets, similarities
from quartet.training.kept import tuning_code
from quartet.training.siamese import Siamese

TEST = "test"


def likeness_sets(params: Params, layout: Layout) -> list[Judged]:
    """The test split of every set of kind sts; of SemEval's years all sub-tasks concatenated."""
    sets = judged_sets(params, layout)
    return [one for one in sets if one.split == TEST and params.tasks[one.dataset].kind == "sts"]


def accuracy_rows(params: Params, sets: NliSets, model: Siamese, system: System) -> Iterator[Result]:
    """Yield the accuracy of a tuned encoder on every judged split."""
    for dataset, split, pairs in sets.judged:
        indices = model.predict([(pair.premise, pair.hypothesis) for pair in pairs])
        yield accuracy_row(params, dataset, split, pairs, [LABELS[index] for index in indices], system)


def likeness_rows(
    params: Params, sets: Sequence[Judged], texts: Sequence[str], vectors: Floats, system: System
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


def fingerprint(params: Params, train: Sequence[NliPair], model: str, seed: int) -> str:
    """A name for one tuning: equal only where settings, pairs, the model, the seed and the code are.

    Args:
        model: :attr:`LanguageModel.fingerprint` of what is tuned.
    """
    settings = dataclasses.asdict(params.nli)
    for idle in ("sets", "limit", "random_control"):  # the pairs themselves are hashed
        settings.pop(idle)
    digest = hashlib.sha256(json.dumps([settings, model, seed], sort_keys=True).encode())
    for pair in train:
        digest.update(json.dumps(dataclasses.astuple(pair)).encode())
    digest.update(tuning_code("quartet.training.siamese").encode())
    return digest.hexdigest()[:16]
