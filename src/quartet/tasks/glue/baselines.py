"""What models are compared with on GLUE: the majority label and a bag of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from quartet.results import EvaluatedSystem
from quartet.statistics.intervals import Floats
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.glue.data import TASKS, GlueExample, GlueSet, GlueTask
from quartet.tasks.glue.metrics import glue_measures, gold_of


def majority(task: GlueTask, train: Sequence[GlueExample], tested: Sequence[GlueExample]) -> Floats:
    """The most frequent label, of equal ones the first; STS-B's mean score."""
    gold = gold_of(task, train)
    if task.regression:
        return np.full(len(tested), gold.mean())
    counts = Counter(gold.tolist())
    return np.full(len(tested), min(counts, key=lambda label: (-counts[label], label)))


def bag_of_words(task: GlueTask, train: Sequence[GlueExample], tested: Sequence[GlueExample]) -> Floats:
    """Counts of lower-case white-space words and logistic regression (scikit-learn's L2, C = 1; STS-B: ridge, 1).

    A pair has three kinds of words: those of its first text, of its second, and those that both have.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression, Ridge

    vectorizer = CountVectorizer(analyzer=_words)
    features = vectorizer.fit_transform(train)
    model = Ridge() if task.regression else LogisticRegression(max_iter=1000)
    fitted = model.fit(features, gold_of(task, train))
    predicted: Floats = np.asarray(fitted.predict(vectorizer.transform(tested)), dtype=np.float64)
    return predicted


def _words(example: GlueExample) -> list[str]:
    first = example.first.lower().split()
    if example.second is None:
        return first
    second = example.second.lower().split()
    both = set(first) & set(second)
    return [f"1 {word}" for word in first] + [f"2 {word}" for word in second] + [f"3 {word}" for word in both]


#: What gives predictions without a language model, by name.
PREDICTORS = {"majority": majority, "bag-of-words": bag_of_words}


def baselines(run: Evaluation, dataset: str, examples: GlueSet) -> None:
    """Add the rows of both on every labelled split of a set, trained on what the models are fine-tuned on."""
    task = TASKS[examples.format]
    for name, predictor in PREDICTORS.items():
        system = EvaluatedSystem(name, "cpu", examples.training)
        for split, part in examples.others.items():
            if part[0].labelled:
                gold, predicted = gold_of(task, part), predictor(task, examples.train, part)
                measures = glue_measures(task, gold, predicted, run.samples, run.seed)
                run.add(measures, system, dataset, split, "glue")
