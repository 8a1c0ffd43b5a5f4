"""Answers as spans: logits where they may be, the best span by trying all, and a toy task that is learnt."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from quartet.errors import InputError
from quartet.tasks.squad.data import Answer, SpanQuestion
from quartet.tasks.squad.metrics import SpanPrediction, text_scores
from quartet.tasks.squad.tuning import (
    SpanModel,
    SpanReading,
    answer,
    best_spans,
    question_windows,
)
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training.tuning import TuningSettings, load_or_tune
from tests.data.test_passages import full_stops
from tests.scoring.test_language_model import random_model
from tests.small_corpus import OBJECTS, SUBJECTS, VERBS

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
READING = SpanReading(max_length=64)
SETTINGS = TuningSettings(epochs=12, batch_size=16, learning_rate=3e-3, warmup=0.1, seed=1)


def toy(count: int, seed: int) -> list[SpanQuestion]:
    """A sentence, and who did it, what it was done to, or where, which nothing tells."""
    draw = random.Random(seed)
    found = []
    for number in range(count):
        subject, verb, thing = draw.choice(SUBJECTS), draw.choice(VERBS), draw.choice(OBJECTS)
        context = f"{subject} {verb} {thing}. nothing crossed."
        asked, answer = (("who", subject), ("what", thing), ("where", ""))[number % 3]
        answers = (Answer(answer, context.index(answer)),) if answer else ()
        found.append(SpanQuestion(f"{seed}-{number}", "", context, asked, answers))
    return found


@pytest.fixture(scope="module")
def learnt(small_corpus: Small) -> tuple[SpanModel, list[SpanQuestion], list[SpanPrediction]]:
    """A model that was tuned on the toy task, and what it says of other questions."""
    model = random_model("segabert", small_corpus[0], dim=48, inner=96, max_length=64, init_std=0.1)
    train, test = toy(240, 1), toy(60, 2)
    windows, cut = question_windows(model, train, READING, full_stops)
    assert (cut.questions, cut.lost, cut.split) == (0, 0, 0)
    reader = load_or_tune(lambda: SpanModel(model), windows, SETTINGS)
    asked, _ = question_windows(model, test, READING, full_stops)
    return reader, test, answer(reader, test, asked, READING)


def right(questions: list[SpanQuestion], predictions: list[SpanPrediction]) -> float:
    return float(
        np.mean(
            [
                text_scores(one.text(0.0), [answer.text for answer in asked.answers], version_2=True)[0]
                for asked, one in zip(questions, predictions, strict=True)
            ]
        )
    )


def test_a_toy_task_is_learnt(learnt: tuple[SpanModel, list[SpanQuestion], list[SpanPrediction]]) -> None:
    _, questions, predictions = learnt
    assert right(questions, predictions) > 0.85


def test_without_the_question_it_is_not(
    small_corpus: Small, learnt: tuple[SpanModel, list[SpanQuestion], list[SpanPrediction]]
) -> None:
    """The control: the same contexts, asked nothing that tells."""
    reader, questions, _ = learnt
    mute = [SpanQuestion(one.id, "", one.context, "nothing", one.answers) for one in questions]
    asked, _ = question_windows(reader.model, mute, READING, full_stops)
    assert right(mute, answer(reader, mute, asked, READING)) < 0.7


def test_windows_do_not_change_an_answer_that_one_window_holds(
    learnt: tuple[SpanModel, list[SpanQuestion], list[SpanPrediction]],
) -> None:
    reader, questions, whole = learnt
    short = SpanReading(max_length=24, stride=6, max_answer=8)
    asked, _ = question_windows(reader.model, questions, short, full_stops)
    assert len(asked) > len(questions)
    found = answer(reader, questions, asked, short)
    for question, one in zip(questions, found, strict=True):
        assert all(text in question.context for text, _ in one.ranked)
        assert len({text for text, _ in one.ranked}) == len(one.ranked) <= short.candidates
        assert [score for _, score in one.ranked] == sorted((score for _, score in one.ranked), reverse=True)
    assert [one.id for one in found] == [one.id for one in whole]


def test_answers_do_not_depend_on_the_batch(
    learnt: tuple[SpanModel, list[SpanQuestion], list[SpanPrediction]],
) -> None:
    reader, questions, whole = learnt
    for number in (0, 7):
        asked, _ = question_windows(reader.model, questions[number : number + 1], READING, full_stops)
        (alone,) = answer(reader, questions[number : number + 1], asked, READING)
        assert alone.best == whole[number].best
        assert alone.odds == pytest.approx(whole[number].odds, abs=1e-4)


@pytest.mark.parametrize("kind", ["unilm", "tta", "segabert"])
def test_only_the_context_and_the_first_token_can_be_chosen(small_corpus: Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0], max_length=40)
    windows, _ = question_windows(model, toy(3, 1), SpanReading(max_length=40), full_stops)
    reader = SpanModel(model).eval()
    item = reader.batch(windows)
    logits_BT2 = reader(item)
    for row, window in enumerate(windows):
        finite = torch.isfinite(logits_BT2[row, :, 0]).nonzero().flatten().tolist()
        assert finite == [0, *range(window.first, window.first + window.stop - window.start)]
    special = model.tokenizer.bos_id if kind != "segabert" else model.tokenizer.cls_id
    assert (item.batch.ids_BT[:, 0] == special).all()
    assert torch.isfinite(reader.loss(item))


def test_a_model_of_streams_is_refused(small_corpus: Small) -> None:
    with pytest.raises(InputError, match="reads streams"):
        SpanModel(random_model("segatron-xl", small_corpus[0]))


@given(
    tokens=st.integers(1, 9),
    longest=st.integers(1, 9),
    count=st.integers(1, 12),
    seed=st.integers(0, 1000),
)
def test_the_best_spans_are_those_of_trying_all(tokens: int, longest: int, count: int, seed: int) -> None:
    start, end = np.random.default_rng(seed).normal(size=(2, tokens)).astype(np.float32)
    tried = [
        (float(start[first]) + float(end[last]), first, last)
        for first in range(tokens)
        for last in range(first, min(tokens, first + longest))
    ]
    tried.sort(key=lambda one: (-one[0], one[1:]))
    assert best_spans(start, end, longest, count) == tried[:count]


def test_what_does_not_fit_is_counted(small_corpus: Small) -> None:
    model = random_model("segabert", small_corpus[0], max_length=24)
    context = "the miller crossed the river. " * 6
    long = SpanQuestion("1", "", context, "who " * 40, (Answer(context[:120], 0),))
    lost = SpanQuestion("2", "", "a \x00\x01 b", "who", (Answer("\x00\x01", 2),))
    windows, cut = question_windows(model, [long, lost], SpanReading(), full_stops)
    assert (cut.questions, cut.lost, cut.split) == (1, 1, 1)
    assert max(map(len, windows)) <= 24
    assert all(window.answer is None for window in windows)


def test_tuned_weights_are_kept_and_taken_again(small_corpus: Small, tmp_path: Path) -> None:
    model = random_model("segabert", small_corpus[0], max_length=64)
    questions = toy(8, 1)
    windows, _ = question_windows(model, questions, READING, full_stops)
    once = TuningSettings(epochs=1, batch_size=4, learning_rate=1e-3, warmup=0.0, seed=1)
    path = tmp_path / "resume" / "weights.safetensors"
    first = answer(load_or_tune(lambda: SpanModel(model), windows, once, path), questions, windows, READING)
    nothing_to_train_on = load_or_tune(lambda: SpanModel(model), [], once, path)
    assert answer(nothing_to_train_on, questions, windows, READING) == first
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(InputError, match=r"weights\.safetensors: not the weights of this model"):
        load_or_tune(lambda: SpanModel(model), windows, once, path)
