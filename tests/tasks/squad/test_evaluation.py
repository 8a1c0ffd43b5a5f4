"""The evaluation reads questions as its settings say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from nltk.tokenize.punkt import PunktParameters

from quartet.config.finetuning import SquadSettings
from quartet.data.passages import QuestionWindow
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.questions import QuestionSet
from quartet.tasks.squad import evaluation
from quartet.tasks.squad.data import Answer, SpanQuestion
from quartet.tasks.squad.tuning import SpanModel
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.punkt import Punkt
from quartet.text.segmenter import Segmenter
from quartet.text.tokenizer import TextTokenizer
from quartet.training.tuned_weights import KeptTunings
from tests.scoring.test_language_model import random_model

CONTEXT = "the miller crossed the river. " * 8
QUESTION = SpanQuestion("1", "", CONTEXT, "who crossed the river and the river", (Answer("the miller", 0),))
SMALL: dict[str, Any] = {"max_length": 30, "stride": 10, "max_question": 4, "max_answer": 2}


@pytest.mark.parametrize("name", SMALL)
def test_each_setting_decides_how_questions_are_read(
    name: str,
    small_corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two values of a setting, the windows that are trained on or the answers are not the same."""
    model = random_model("segabert", small_corpus[0], max_length=60)
    data = QuestionSet("squad", "squad1", [QUESTION], {"dev": [QUESTION]}, "1 question")
    trained: list[list[tuple[int, int, int]]] = []

    def untrained(make: Any, windows: Sequence[QuestionWindow], *others: Any) -> SpanModel:
        trained.append([(window.start, window.stop, len(window.ids)) for window in windows])
        assert all(len(window) <= settings.max_length for window in windows)
        reader: SpanModel = make()
        return reader.eval()

    monkeypatch.setattr(evaluation, "load_or_tune", untrained)
    answers = []
    for value in (SMALL[name], 2 * SMALL[name]):
        settings = SquadSettings(**{**SMALL, name: value})
        (found,) = evaluation.tune_and_answer(
            Evaluation("notebook", "squad", samples=10, seed=1),
            model,
            data,
            settings,
            Segmenter(Punkt(PunktParameters()), "untrained"),
            "paper",
            KeptTunings(lambda seed: tmp_path, ""),
        )["dev"]
        answers.append([len(text.split()) for text, _ in found.ranked])
    if name == "max_answer":
        assert max(answers[0]) <= 2 < max(answers[1])
    else:
        assert trained[0] != trained[1]
