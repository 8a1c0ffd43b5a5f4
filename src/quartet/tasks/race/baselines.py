"""What models are compared with on RACE: the majority letter and a bag of words, neither of which reads a passage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from quartet.results import EvaluatedSystem
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.questions import QuestionSet
from quartet.tasks.race.data import LETTERS, ChoiceQuestion
from quartet.tasks.race.metrics import ChosenOptions, add_rows


def majority(train: Sequence[ChoiceQuestion], test: Sequence[ChoiceQuestion]) -> list[int]:
    """The letter that is most often right in training; of equal ones the first."""
    counts = Counter(question.answer for question in train)
    return [min(counts, key=lambda letter: (-counts[letter], letter))] * len(test)


def bag_of_words(train: Sequence[ChoiceQuestion], test: Sequence[ChoiceQuestion]) -> list[int]:
    """The option whose own words make it likeliest to be right: a logistic regression on counts, without the passage.

    scikit-learn's L2 with C = 1 on white-space words of single options, whatever the question is.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = CountVectorizer(lowercase=True, tokenizer=str.split, token_pattern=None)
    features = vectorizer.fit_transform([option for question in train for option in question.options])
    right = [number == question.answer for question in train for number in range(len(LETTERS))]
    classifier = LogisticRegression(max_iter=1000).fit(features, right)
    options = [option for question in test for option in question.options]
    scores = classifier.decision_function(vectorizer.transform(options)).reshape(-1, len(LETTERS))
    return [int(best) for best in scores.argmax(axis=1)]


PREDICTORS: dict[str, Callable[[Sequence[ChoiceQuestion], Sequence[ChoiceQuestion]], list[int]]] = {
    "majority": majority,
    "bag-of-words": bag_of_words,
}


def baselines(run: Evaluation, sets: Iterable[QuestionSet[ChoiceQuestion]]) -> None:
    """Add the rows of both on every set, trained on what the models are tuned on."""
    for data in sets:
        for split, questions in data.judged.items():
            for name, predictor in PREDICTORS.items():
                system = EvaluatedSystem(name, "cpu", f"{len(data.train):,} questions of {data.name}")
                add_rows(
                    run, system, data.name, ChosenOptions(split, questions, predictor(data.train, questions))
                )
