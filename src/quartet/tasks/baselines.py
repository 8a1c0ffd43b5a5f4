"""What models are compared with, task by task: none of it trains a language model, or imports PyTorch.

Where there are labels to learn from, these are the majority label and a bag of words. Word2Vec is in `word_vectors`.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from quartet.nbest.rerank import Candidates
from quartet.results import EvaluatedSystem, Measure
from quartet.statistics.intervals import Floats
from quartet.statistics.perplexity import (
    UnknownWords,
    perplexity_measures,
    unigram_entropy,
    unigram_logprobs,
)
from quartet.tasks.classification.data import LabelledText
from quartet.tasks.classification.metrics import FitPredict, judge
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.glue.data import TASKS, GlueExample, GlueSet, GlueTask
from quartet.tasks.glue.metrics import glue_measures, gold_of, keep_outcomes
from quartet.tasks.nli import metrics as nli
from quartet.tasks.nli.data import NliPair
from quartet.tasks.perplexity.held_out import held_out_sentences
from quartet.tasks.questions import QuestionSet
from quartet.tasks.race.data import LETTERS, ChoiceQuestion
from quartet.tasks.race.metrics import ChosenOptions, add_rows
from quartet.tasks.rerank.metrics import JudgedSplit, add_choice
from quartet.tasks.squad import metrics as squad
from quartet.tasks.squad.data import SpanQuestion
from quartet.tasks.squad.metrics import SpanPrediction
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import UNKNOWN_ID

Item = TypeVar("Item")
Answer = TypeVar("Answer", str, int, float)

MAJORITY, BAG_OF_WORDS = "majority", "bag-of-words"
#: What a baseline has on SQuAD: no threshold.
SQUAD_METRICS = ("em", "f1", "em-hasans", "f1-hasans", "noans")


def most_frequent(answers: Iterable[Answer]) -> Answer:
    """The most frequent answer; of equal ones the first in their order."""
    counts = Counter(answers)
    return min(counts, key=lambda answer: (-counts[answer], answer))


def bag_of_words(
    train: Sequence[Item],
    answers: Sequence[Any] | Floats,
    words: Callable[[Item], list[str]],
    scores: bool = False,
) -> Any:
    """A fitted model of scikit-learn's on counts of words: logistic regression (L2, C = 1), of scores ridge (1).

    Where all answers are the same, as those of a few examples may be, it gives that answer.
    """
    from sklearn.dummy import DummyClassifier
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline

    if not scores and len(set(answers)) == 1:
        return DummyClassifier().fit(train, answers)
    model = Ridge() if scores else LogisticRegression(max_iter=1000)
    return make_pipeline(CountVectorizer(analyzer=words), model).fit(train, answers)


def lower_words(text: str) -> list[str]:
    """White-space words in lower case."""
    return text.lower().split()


# ---------------------------------------------------------------------- perplexity


def unigram(
    run: Evaluation, dataset: str, reading: str, valid: EncodedCorpus, test: EncodedCorpus, limit: int
) -> None:
    """Add the entropy of the tokens' own frequencies, the least loss without context, on validation and test tokens.

    Args:
        reading: tells the encodings of a corpus apart; empty where there is one.
        limit: tokens of each test document; 0: all.
    """
    scale = "frequencies of the validation tokens themselves"
    entropy = Measure(unigram_entropy([np.asarray(valid.ids)]), len(valid.ids))
    system = EvaluatedSystem("unigram", "cpu", scale, reading=reading)
    run.add({"loss": entropy}, system, dataset, "valid", "training")
    texts = held_out_sentences(test, limit)
    measures = perplexity_measures(
        unigram_logprobs(texts.ids),
        texts.words,
        False,
        run.samples,
        run.seed,
        texts.documents,
        unknown=UnknownWords([int((ids == UNKNOWN_ID).sum()) for ids in texts.ids]),
    )
    kept = {"entropy": measures["loss"], "ppl": measures["ppl"], "oov": measures["oov"]}
    scale = "frequencies of the test tokens themselves"
    run.add(kept, EvaluatedSystem("unigram", "cpu", scale, reading=reading), dataset, table="perplexity")


# ---------------------------------------------------------------------- N-best lists


def first_pass_and_oracle(
    run: Evaluation, lists: str, splits: Mapping[str, JudgedSplit], lengths: Sequence[int]
) -> None:
    """Add the recogniser's own choice, and the best that any reranking could make, on every split of a set."""
    for split, each in splits.items():
        zeros = [np.zeros(len(one.hypotheses)) for one in each.lists]
        candidates = Candidates(each.lists, zeros, each.table)
        for name, chosen in (
            ("first-pass", candidates.first_pass_selection),
            ("oracle", candidates.oracle),
        ):
            system = EvaluatedSystem(name, "cpu", f"{len(each.lists)} lists")
            add_choice(run, system, lists, split, chosen, each.lists, lengths)


# ---------------------------------------------------------------------- classification


def majority_labels(train: Sequence[LabelledText], texts: Sequence[str]) -> list[str]:
    """The most frequent training label for every text."""
    return [most_frequent(example.label for example in train)] * len(texts)


def labels_by_words(train: Sequence[LabelledText], texts: Sequence[str]) -> list[str]:
    """What a bag of words gives."""
    labels = [example.label for example in train]
    model = bag_of_words([example.text for example in train], labels, lower_words)
    return [str(label) for label in model.predict(texts)]


CLASSIFIERS: dict[str, FitPredict] = {MAJORITY: majority_labels, BAG_OF_WORDS: labels_by_words}


def classification_baselines(
    run: Evaluation, sets: Iterable[tuple[str, Sequence[LabelledText]]], folds: int
) -> None:
    """Add the rows of both on every set, on the folds that the models get."""
    for dataset, examples in sets:
        for name, classifier in CLASSIFIERS.items():
            system = EvaluatedSystem(name, "cpu", f"{len(examples)} texts")
            judge(run, system, dataset, examples, classifier, folds)


# ---------------------------------------------------------------------- GLUE


def glue_predictions(
    name: str, task: GlueTask, train: Sequence[GlueExample], tested: Sequence[GlueExample]
) -> Floats:
    """The numbers of the labels, or the scores, that one of the two gives; the majority's score is the mean.

    A pair has three kinds of words: those of its first text, of its second, and those that both have.
    """
    gold = gold_of(task, train)
    if name == MAJORITY:
        return np.full(len(tested), gold.mean() if task.regression else most_frequent(gold.tolist()))
    predicted = bag_of_words(train, gold, _words, scores=task.regression).predict(tested)
    return np.asarray(predicted, dtype=np.float64)


def _words(example: GlueExample) -> list[str]:
    first = lower_words(example.first)
    if example.second is None:
        return first
    second = lower_words(example.second)
    both = set(first) & set(second)
    return [f"1 {word}" for word in first] + [f"2 {word}" for word in second] + [f"3 {word}" for word in both]


def glue_baselines(run: Evaluation, dataset: str, examples: GlueSet) -> None:
    """Add the rows of both on every labelled split of a set, trained on what the models are fine-tuned on."""
    task = TASKS[examples.format]
    for name in (MAJORITY, BAG_OF_WORDS):
        system = EvaluatedSystem(name, "cpu", examples.training)
        for split, part in examples.others.items():
            if part[0].labelled:
                gold, predicted = gold_of(task, part), glue_predictions(name, task, examples.train, part)
                measures = glue_measures(task, gold, predicted, run.samples, run.seed)
                run.add(measures, system, dataset, split, "glue")
                keep_outcomes(run, measures.keys(), gold, predicted, system, dataset, split)


# ---------------------------------------------------------------------- entailment


def nli_labels(name: str, train: Sequence[NliPair], pairs: Sequence[NliPair]) -> list[str]:
    """The labels that one of the two gives, as on MNLI of GLUE.

    Args:
        train: with the three labels.
    """
    task = TASKS["mnli"]
    fitted = glue_predictions(name, task, _as_glue(train), _as_glue(pairs))
    return [task.labels[int(index)] for index in fitted]


def _as_glue(pairs: Sequence[NliPair]) -> list[GlueExample]:
    return [GlueExample(index, pair.premise, pair.hypothesis, pair.label) for index, pair in enumerate(pairs)]


def nli_baselines(run: Evaluation, sets: nli.NliSets) -> None:
    """Add the rows of both on every judged split, trained on what the models are tuned on; nothing without that."""
    if not sets.train:
        return
    for name in (MAJORITY, BAG_OF_WORDS):
        system = EvaluatedSystem(name, "cpu", f"trained on {sets.scale}")
        labels = nli_labels(name, sets.train, [pair for _, _, pairs in sets.judged for pair in pairs])
        for dataset, split, pairs in sets.judged:
            nli.judge(run, system, dataset, split, pairs, labels[: len(pairs)])
            labels = labels[len(pairs) :]


# ---------------------------------------------------------------------- RACE


def letters(name: str, train: Sequence[ChoiceQuestion], test: Sequence[ChoiceQuestion]) -> list[int]:
    """The options that one of the two chooses, neither of which reads a passage.

    The bag of words takes the option whose own words make it likeliest to be right, whatever the question is.
    """
    if name == MAJORITY:
        return [most_frequent(question.answer for question in train)] * len(test)
    right = [number == question.answer for question in train for number in range(len(LETTERS))]
    model = bag_of_words(_options(train), right, lower_words)
    scores = model.decision_function(_options(test)).reshape(-1, len(LETTERS))
    return [int(best) for best in scores.argmax(axis=1)]


def _options(questions: Sequence[ChoiceQuestion]) -> list[str]:
    return [option for question in questions for option in question.options]


def race_baselines(run: Evaluation, sets: Iterable[QuestionSet[ChoiceQuestion]]) -> None:
    """Add the rows of both on every set, trained on what the models are tuned on."""
    for data in sets:
        for split, questions in data.judged.items():
            for name in (MAJORITY, BAG_OF_WORDS):
                system = EvaluatedSystem(name, "cpu", f"{len(data.train):,} questions of {data.name}")
                chosen = letters(name, data.train, questions)
                add_rows(run, system, data.name, ChosenOptions(split, questions, chosen))


# ---------------------------------------------------------------------- SQuAD


def random_spans(questions: Sequence[SpanQuestion], seed: int, longest: int = 30) -> list[SpanPrediction]:
    """The baseline that knows nothing: a span of 1 to `longest` of the context's words, each span as likely."""
    draw = random.Random(seed)
    found = []
    for question in questions:
        words = [match.span() for match in re.finditer(r"\w+", question.context)] or [(0, 0)]
        sizes = [min(longest, len(words) - first) for first in range(len(words))]
        first = draw.choices(range(len(words)), weights=sizes)[0]
        last = first + draw.randrange(sizes[first])
        text = question.context[words[first][0] : words[last][1]]
        found.append(SpanPrediction(question.id, ((text, 0.0),)))
    return found


def no_answers(questions: Sequence[SpanQuestion]) -> list[SpanPrediction]:
    """The baseline that never answers (2.0)."""
    return [SpanPrediction(question.id, ()) for question in questions]


def squad_baselines(run: Evaluation, sets: Iterable[QuestionSet[SpanQuestion]], longest: int) -> None:
    """Add the rows of a random span and, where some questions have no answer, of never answering."""
    for data in sets:
        for split, questions in data.judged.items():
            systems = {"random-span": random_spans(questions, run.seed, longest)}
            if not all(question.answers for question in questions):
                systems["no-answer"] = no_answers(questions)
            for name, predictions in systems.items():
                system = EvaluatedSystem(name, "cpu", "trained on nothing")
                squad.add_rows(run, system, data.name, split, questions, predictions, SQUAD_METRICS)
