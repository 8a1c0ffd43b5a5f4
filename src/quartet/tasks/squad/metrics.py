"""SQuAD's exact match and F1, and the threshold under which a question counts as unanswerable.

The two figures of a question are torchmetrics' (the official scripts' formulas). The scripts of the two versions differ
where normalisation leaves nothing of a text. In 2.0 such a gold answer is skipped, a question without answers is right
if and only if the prediction is empty, and two empty texts have F1 1. In 1.1 a gold answer is matched as it is, and an
empty text has F1 0.

Intervals draw contexts (SQuAD's paragraphs), each with all of its questions: these share its text, and are no
independent items. Articles would be the wider unit; the sets have few of them (48 in dev 1.1, 35 in dev 2.0), so an
interval says what other paragraphs of such articles would give.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from quartet.files import write_json
from quartet.results import EvaluatedSystem, Measure
from quartet.statistics.intervals import Floats, Ints, Statistic, bootstrap_measures
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.squad.data import SpanQuestion

TABLE = "squad"


@dataclass(frozen=True)
class SpanPrediction:
    """What a system says of a question.

    Attributes:
        id: the question's.
        ranked: (text, score) of its answers, best first; () if it has none to offer.
        odds: how much higher "no answer" scores than the best answer: above the threshold, the prediction is empty.
    """

    id: str
    ranked: tuple[tuple[str, float], ...]
    odds: float = 0.0

    @property
    def best(self) -> str:
        """The best answer, whatever the odds."""
        return self.ranked[0][0] if self.ranked else ""

    def text(self, threshold: float) -> str:
        """The prediction: empty where the odds of "no answer" are above the threshold."""
        return "" if self.odds > threshold else self.best


def text_scores(prediction: str, answers: Sequence[str], version_2: bool) -> tuple[float, float]:
    """Exact match and F1 (0 to 1) of a text: the best over the gold answers; () is a question without an answer."""
    from torchmetrics.functional.text.squad import squad

    def scores(gold: Sequence[str], text: str) -> tuple[float, float]:
        found = squad(
            {"prediction_text": text, "id": ""},
            {"answers": {"text": list(gold), "answer_start": [0] * len(gold)}, "id": ""},
        )
        return float(found["exact_match"]) / 100, float(found["f1"]) / 100

    kept = [answer for answer in dict.fromkeys(answers) if not scores([answer], "")[0]]
    if version_2:
        return scores(kept or [""], prediction)
    return scores(answers, prediction)[0], scores(kept, prediction)[1] if kept else 0.0


def exact_match_and_f1(
    questions: Sequence[SpanQuestion], texts: Sequence[str], version_2: bool
) -> tuple[Floats, Floats]:
    """(n,) exact match and (n,) F1 of one text per question."""
    pairs = [
        text_scores(text, [answer.text for answer in question.answers], version_2)
        for question, text in zip(questions, texts, strict=True)
    ]
    table = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def squad_measures(
    questions: Sequence[SpanQuestion], predictions: Sequence[SpanPrediction], samples: int, seed: int
) -> dict[str, Measure]:
    """{"em", "f1"}, shares of 1, with 95 % bootstrap intervals over contexts; n counts questions.

    Where some questions have no answer (2.0), "em" and "f1" are those at threshold 0; "em-hasans", "f1-hasans" and
    "noans" are their parts (of a question without an answer both figures are the same); and "em-best", "f1-best" those
    at the threshold that is best on these very questions, which "em-threshold" and "f1-threshold" name. The interval of
    a best figure chooses the threshold anew in each resample; all the same it is an upper bound, as in the official
    script.

    Raises:
        ValueError: the predictions are of other questions, or there are none.
    """
    return span_scores(questions, predictions).measures(samples, seed)


@dataclass(frozen=True)
class SpanScores:
    """How good the predictions of n questions are; each pair of columns has the exact match and F1.

    Attributes:
        contexts: (n,) the number of each question's context.
        has: (n,) whether the question has an answer.
        odds: (n,) see :class:`SpanPrediction`.
        answered: of the best answers.
        blank: of empty predictions; None where every question has an answer.
        at_zero: of the predictions at threshold 0; where every question has an answer, of the best answers.
    """

    contexts: Ints
    has: NDArray[np.bool_]
    odds: Floats
    answered: tuple[Floats, Floats]
    blank: tuple[Floats, Floats] | None
    at_zero: tuple[Floats, Floats]

    def measures(self, samples: int, seed: int) -> dict[str, Measure]:
        """See :func:`squad_measures`."""
        n, units = len(self.has), self.contexts
        every = np.ones(n, dtype=bool)
        statistics: dict[str, tuple[Statistic, int]] = {}
        for place, metric in enumerate(("em", "f1")):
            at_zero = self.at_zero[place]
            statistics[metric] = _mean(at_zero, every, units)
            if self.blank is None:
                continue
            if self.has.any():
                statistics[f"{metric}-hasans"] = _mean(at_zero, self.has, units)
            if metric == "em":
                statistics["noans"] = _mean(at_zero, ~self.has, units)
            best = _Threshold(self.odds, self.answered[place], self.blank[place], units)
            statistics[f"{metric}-best"] = (best.value, n)
            statistics[f"{metric}-threshold"] = (best.chosen, n)
        return bootstrap_measures(statistics, int(units.max()) + 1, samples, seed, n, "contexts")


def span_scores(questions: Sequence[SpanQuestion], predictions: Sequence[SpanPrediction]) -> SpanScores:
    """See :func:`squad_measures`, which says what it raises."""
    if [question.id for question in questions] != [prediction.id for prediction in predictions]:
        raise ValueError("the predictions are not of these questions")
    has = np.array([bool(question.answers) for question in questions])
    odds = np.array([prediction.odds for prediction in predictions])
    answered = exact_match_and_f1(questions, [prediction.best for prediction in predictions], not has.all())
    blank = None if has.all() else exact_match_and_f1(questions, [""] * len(questions), version_2=True)
    at_zero = answered
    if blank is not None:
        em, f1 = (np.where(odds > 0, empty, full) for empty, full in zip(blank, answered, strict=True))
        at_zero = em, f1
    return SpanScores(_contexts(questions), has, odds, answered, blank, at_zero)


def add_rows(
    run: Evaluation,
    system: EvaluatedSystem,
    dataset: str,
    split: str,
    questions: Sequence[SpanQuestion],
    predictions: Sequence[SpanPrediction],
    metrics: Sequence[str] | None = None,
) -> None:
    """Add the rows of a system on one split, of all metrics or some."""
    scores = span_scores(questions, predictions)
    measures = scores.measures(run.samples, run.seed_of(system))
    kept = {metric: measure for metric, measure in measures.items() if metrics is None or metric in metrics}
    run.add(kept, system, dataset, split, TABLE)
    for metric, values in zip(("em", "f1"), scores.at_zero, strict=True):
        run.keep((metric,), values, system, dataset, split, TABLE, unit="contexts", units=(scores.contexts,))
    run.say(f"{system.name} on {dataset} {split}: F1 {100 * measures['f1'].value:.1f} %")


def _contexts(questions: Sequence[SpanQuestion]) -> Ints:
    """(n,) the number of each question's context."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(question.context, len(numbers)) for question in questions])


def _mean(values: Floats, of: np.ndarray, units: np.ndarray) -> tuple[Statistic, int]:
    """The mean of the questions `of`, from how often each context was drawn; NaN where it drew none of them."""
    size = int(units.max()) + 1
    sums = np.bincount(units[of], weights=values[of], minlength=size)
    counts = np.bincount(units[of], minlength=size).astype(np.float64)

    def statistic(drawn: Floats) -> Floats:
        total = drawn @ counts
        found: Floats = np.divide(drawn @ sums, total, out=np.full(len(drawn), np.nan), where=total > 0)
        return found

    return statistic, int(of.sum())


class _Threshold:
    """The best mean over all thresholds: questions are answered by rising odds of "no answer", equal odds together."""

    def __init__(self, odds: Floats, answered: Floats, blank: Floats, units: np.ndarray) -> None:
        order = np.argsort(odds, kind="stable")
        self.units = units[order]
        self.gains = (answered - blank)[order]
        self.blank = blank[order]
        self.odds = odds[order]
        self.ends = np.flatnonzero(np.append(np.diff(self.odds) > 0, True))

    def _sums(self, drawn: Floats) -> tuple[Floats, Floats]:
        """(block, cuts + 1) sums after each cut, the first of which answers nothing; (block,) questions."""
        counts = drawn[:, self.units]
        none = counts @ self.blank
        rises = np.cumsum(counts * self.gains, axis=1)[:, self.ends]
        return np.column_stack([none, none[:, None] + rises]), counts.sum(axis=1)

    def value(self, drawn: Floats) -> Floats:
        """(block,) the best mean."""
        sums, totals = self._sums(drawn)
        found: Floats = sums.max(axis=1) / totals
        return found

    def chosen(self, drawn: Floats) -> Floats:
        """(block,) the least threshold that gives it; the least odds less 1 where it is best to answer nothing."""
        sums, _ = self._sums(drawn)
        thresholds = np.append(self.odds[0] - 1, self.odds[self.ends])
        found: Floats = thresholds[(sums > sums.max(axis=1, keepdims=True) - 1e-9).argmax(axis=1)]
        return found


def write_predictions(
    folder: Path, stem: str, predictions: Sequence[SpanPrediction], version_2: bool
) -> list[Path]:
    """Write ``<stem>.json`` in the official form, id -> text (2.0: at threshold 0), and the candidates.

    ``<stem>.nbest.json``: id -> texts with scores, best first; for 2.0 also ``<stem>.na-prob.json``, id -> the logistic
    function of the odds, which the official script takes as ``--na-prob-file`` (threshold 0 is 0.5 there).
    """
    threshold = 0.0 if version_2 else math.inf
    texts = {prediction.id: prediction.text(threshold) for prediction in predictions}
    ranked = {
        prediction.id: [{"text": text, "score": score} for text, score in prediction.ranked]
        for prediction in predictions
    }
    files: dict[str, Mapping[str, object]] = {f"{stem}.json": texts, f"{stem}.nbest.json": ranked}
    if version_2:
        files[f"{stem}.na-prob.json"] = {
            prediction.id: _logistic(prediction.odds) for prediction in predictions
        }
    for name, content in files.items():
        write_json(folder / name, content)
    return [folder / name for name in files]


def _logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-odds)) if odds >= 0 else math.exp(odds) / (1 + math.exp(odds))
