"""What models are compared with on labelled texts: the majority label and a bag of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from quartet.results import EvaluatedSystem
from quartet.tasks.classification.data import LabelledText
from quartet.tasks.classification.protocol import FitPredict, judge
from quartet.tasks.evaluation import Evaluation


def majority(train: Sequence[LabelledText], texts: Sequence[str]) -> list[str]:
    """The baseline that always answers the most frequent training label; of equal ones the first by name."""
    counts = Counter(example.label for example in train)
    answer = min(counts, key=lambda label: (-counts[label], label))
    return [answer] * len(texts)


def bag_of_words(train: Sequence[LabelledText], texts: Sequence[str]) -> list[str]:
    """The baseline of counts of white-space words and logistic regression (scikit-learn's L2 with C = 1)."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = CountVectorizer(lowercase=True, tokenizer=str.split, token_pattern=None)
    features = vectorizer.fit_transform([example.text for example in train])
    classifier = LogisticRegression(max_iter=1000).fit(features, [example.label for example in train])
    return [str(label) for label in classifier.predict(vectorizer.transform(texts))]


PREDICTORS: dict[str, FitPredict] = {"majority": majority, "bag-of-words": bag_of_words}


def baselines(run: Evaluation, sets: Iterable[tuple[str, Sequence[LabelledText]]], folds: int) -> None:
    """Add the rows of both on every set, on the folds that the models get."""
    for dataset, examples in sets:
        for name, predictor in PREDICTORS.items():
            system = EvaluatedSystem(name, "cpu", f"{len(examples)} texts")
            judge(run, system, dataset, examples, predictor, folds)
