"""What tasks put on a network, by hand: their losses, dropout before the last layer, and what "no answer" weighs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.data.pairs import pair_inputs
from quartet.kernels.dropout import Dropout
from quartet.tasks.glue.tuning import GlueModel
from quartet.tasks.race.data import ChoiceQuestion
from quartet.tasks.race.tuning import MultipleChoiceModel, read_choices
from quartet.tasks.squad.data import SpanQuestion
from quartet.tasks.squad.tuning import SpanReading, answer, question_windows
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.data.test_passages import full_stops
from tests.scoring.test_language_model import random_model

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
TEXTS = ["the miller crossed the river.", "a grey heron", "my neighbour forgot a letter."]


def labelled(model: Any, gold: list[float]) -> list[Any]:
    """Inputs of the model with what is to be said of them."""
    inputs = pair_inputs(model.tokenizer, "sentences", TEXTS, None, 24)
    return [(one.row, value) for one, value in zip(inputs, gold, strict=True)]


def test_scores_are_learnt_by_the_squared_error_and_labels_by_cross_entropy(small_corpus: Small) -> None:
    model = random_model("bilm", small_corpus[0])
    torch.manual_seed(2)
    scores, labels = GlueModel(model, 0, "mean").eval(), GlueModel(model, 3, "mean").eval()
    gold = [4.5, 0.0, 2.25]
    item = scores.batch(labelled(model, gold))
    said = scores(item.batch)[:, 0].tolist()
    errors = [(one - other) ** 2 for one, other in zip(said, gold, strict=True)]
    assert scores.loss(item).item() == pytest.approx(sum(errors) / 3, rel=1e-5)
    assert max(errors) > 1, "where squares and absolute values differ"
    item = labels.batch(labelled(model, [2, 0, 1]))
    logprobs = F.log_softmax(labels(item.batch), dim=1)
    expected = -(logprobs[0, 2] + logprobs[1, 0] + logprobs[2, 1]) / 3
    assert labels.loss(item).item() == pytest.approx(expected.item(), rel=1e-5)


def seen_by_dropout(task: Any, item: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Tensor], Tensor]:
    """What the task's own dropout is given, which gives zeros back; and the task's output."""
    given: list[Tensor] = []

    def forward(self: Dropout, x: Tensor) -> Tensor:
        if self is not task.dropout:
            return x
        given.append(x)
        return torch.zeros_like(x)

    monkeypatch.setattr(Dropout, "forward", forward)
    return given, task(item)


def test_dropout_stands_before_the_last_layer_of_a_classifier(
    small_corpus: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = random_model("bilm", small_corpus[0], dropout=0.2)
    task = GlueModel(model, 3, "cls").train()
    assert task.dropout.p == 0.2
    nn.init.constant_(task.output.bias, 0.5)
    item = task.batch(labelled(model, [0, 1, 2]))
    given, output = seen_by_dropout(task, item.batch, monkeypatch)
    torch.testing.assert_close(given, [torch.tanh(task.pooler(task.pooled(item.batch)))])
    assert torch.equal(output, torch.full_like(output, 0.5))


def test_dropout_stands_before_the_score_of_an_option(
    small_corpus: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = random_model("bilm", small_corpus[0], dropout=0.2, max_length=40)
    options = ("a letter", "the river", "nothing at all", "a grey heron")
    asked = [ChoiceQuestion("1", 0, TEXTS[0], "what", options, 1, "high")]
    task = MultipleChoiceModel(model).train()
    assert task.dropout.p == 0.2
    nn.init.constant_(task.output.bias, 0.5)
    item = task.batch(read_choices(model, asked, 40, full_stops)[0])
    given, output = seen_by_dropout(task, item, monkeypatch)
    torch.testing.assert_close(given, [task.contextual(item.batch)[:, 0]])
    assert torch.equal(output, torch.full_like(output, 0.5))


class Fixed:
    """A reader of whose windows the first token's logits are given, by where a window starts."""

    def __init__(self, model: Any, nulls: dict[int, float], best: float) -> None:
        self.model, self.nulls, self.best = model, nulls, best

    def batch(self, part: Any) -> Any:
        logits_BT2 = torch.zeros(len(part), max(map(len, part)), 2)
        for row, window in enumerate(part):
            logits_BT2[row, 0] = self.nulls[window.start] / 2
            logits_BT2[row, window.first] = self.best / 2
        return SimpleNamespace(to=lambda device: logits_BT2)

    def __call__(self, item: Tensor) -> Tensor:
        return item


@pytest.mark.parametrize("lowest", range(3))
def test_no_answer_weighs_what_it_does_in_the_window_that_believes_it_least(
    small_corpus: Small, lowest: int
) -> None:
    """Whichever of the windows that is; the best answer has 6 in all of them."""
    model = random_model("segabert", small_corpus[0], max_length=24)
    question = SpanQuestion("1", "", "the miller crossed the river. " * 3, "who", ())
    reading = SpanReading(max_length=24, stride=6)
    windows, _ = question_windows(model, [question], reading, full_stops)
    starts = sorted(window.start for window in windows)
    assert len(starts) >= 3
    nulls = {start: 2.0 if number == lowest else 9.0 for number, start in enumerate(starts)}
    (found,) = answer(Fixed(model, nulls, 6.0), [question], windows, reading)  # type: ignore[arg-type]
    assert found.odds == pytest.approx(2.0 - 6.0)
