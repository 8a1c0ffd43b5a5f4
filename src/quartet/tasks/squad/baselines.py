"""What models are compared with on SQuAD: random spans, and never answering."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence

from quartet.results import EvaluatedSystem
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.questions import QuestionSet
from quartet.tasks.squad.data import SpanQuestion
from quartet.tasks.squad.metrics import SpanPrediction, squad_measures

#: What a baseline has: no threshold.
KEPT = ("em", "f1", "em-hasans", "f1-hasans", "noans")


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


def baselines(run: Evaluation, sets: Iterable[QuestionSet[SpanQuestion]], longest: int) -> None:
    """Add the rows of a random span and, where some questions have no answer, of never answering."""
    for data in sets:
        for split, questions in data.judged.items():
            systems = {"random-span": random_spans(questions, run.seed, longest)}
            if not all(question.answers for question in questions):
                systems["no-answer"] = no_answers(questions)
            for name, predictions in systems.items():
                measures = squad_measures(questions, predictions, run.samples, run.seed)
                kept = {metric: measure for metric, measure in measures.items() if metric in KEPT}
                run.add(kept, EvaluatedSystem(name, "cpu", "trained on nothing"), data.name, split, "squad")
