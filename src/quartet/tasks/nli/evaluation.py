"""A model's siamese fine-tuning on entailment, its accuracy, and the similarity of meaning that it teaches.

Segatron paper, Section 4.5 and Table 5.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial

from quartet.config.finetuning import NliSettings
from quartet.results import EvaluatedSystem
from quartet.scoring.language_model import LanguageModel
from quartet.statistics.correlation import correlations
from quartet.statistics.intervals import Floats
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.nli import tuning
from quartet.tasks.nli.data import LABELS
from quartet.tasks.nli.metrics import AVERAGE, SEVEN, NliSets, judge
from quartet.tasks.nli.tuning import SiameseModel, embed, untrained_model
from quartet.tasks.sts import evaluation as sts
from quartet.tasks.sts.metrics import mean_over_sets, similarities
from quartet.training.tuned_weights import KeptTunings, tuning_name
from quartet.training.tuning import TuningSettings, load_or_tune


def evaluate(
    run: Evaluation,
    model: LanguageModel,
    sets: NliSets,
    similarity: Sequence[sts.JudgedSet],
    settings: NliSettings,
    kept: KeptTunings,
) -> None:
    """Add the rows of a model: before tuning, tuned, and as a control tuned from random weights.

    Args:
        sets: the pairs to tune on, at least one, and to judge.
        similarity: the test splits on which vectors are judged.
        kept: the tuned weights.
    """
    texts = sts.texts_of(similarity)
    pairs = [(pair.premise, pair.hypothesis, LABELS.index(pair.label)) for pair in sets.train]
    tuned = TuningSettings.of(settings, model.seed)
    untuned = EvaluatedSystem(model.name, model.device, model.scale, model.seed, "untuned")
    judge_vectors(run, untuned, similarity, texts, embed(model, texts))
    starts = {"": model}
    if settings.random_control:
        starts["random"] = untrained_model(model, tuned)
    for start, one in starts.items():
        key = tuning_name(tuning.__name__, sets.train, one.fingerprint, model.seed)
        weights = kept.path(model.seed, f"{key}.safetensors")
        with run.bar(f"{model.name} {start}: steps of tuning") as shown:
            make = partial(SiameseModel, one, len(LABELS), settings.max_length)
            found = load_or_tune(make, pairs, tuned, weights, shown.set)
        scale = f"{one.scale}, tuned on {sets.scale} (epochs: {settings.epochs})"
        system = EvaluatedSystem(model.name, model.device, scale, model.seed, start)
        for dataset, split, judged in sets.judged:
            indices = found.predict([(pair.premise, pair.hypothesis) for pair in judged])
            judge(run, system, dataset, split, judged, [LABELS[index] for index in indices])
        encoder = dataclasses.replace(system, reading=f"{start}-nli" if start else "nli")
        judge_vectors(run, encoder, similarity, texts, found.embed(texts))


def judge_vectors(
    run: Evaluation,
    system: EvaluatedSystem,
    sets: Sequence[sts.JudgedSet],
    texts: Sequence[str],
    vectors: Floats,
) -> None:
    """Add Spearman's correlation of the cosines on every set, and the mean of the papers' seven where all are there.

    Args:
        texts, vectors: the sets' texts and their vectors (T, d).
    """
    seed = run.seed_of(system)
    cosines: dict[str, tuple[Floats, Floats]] = {}
    for one in sets:
        predicted = similarities(one.pairs, sts.vectors_of(one, texts, vectors))
        with sts.naming(system, one):
            spearman = correlations(predicted, one.pairs.gold, run.samples, seed)["spearman"]
        cosines[one.dataset] = (predicted, one.pairs.gold)
        run.add({"spearman": spearman}, system, one.dataset, one.split, sts.TABLE)
        sts.keep_cosines(run, ("spearman",), predicted, system, one)
        run.say(f"{system.name} on {one.dataset}: Spearman {spearman.value:.3f}")
    if set(SEVEN) <= set(cosines):
        predicted_each, gold_each = zip(*(cosines[name] for name in SEVEN), strict=True)
        mean = mean_over_sets(predicted_each, gold_each, run.samples, seed)["spearman-mean"]
        run.add({"spearman-mean": mean}, system, AVERAGE, table=sts.TABLE)
        sts.keep_mean_over_sets(run, ("spearman-mean",), predicted_each, gold_each, system, AVERAGE)
