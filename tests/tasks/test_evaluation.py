"""An evaluation's rows, the seed of what it resamples, and what it shows while it is at work."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from quartet.results import EvaluatedSystem, Measure
from quartet.tasks.evaluation import Evaluation

TUNED = EvaluatedSystem("tta", "cuda", "3 layers", seed=7, reading="context")
BASELINE = EvaluatedSystem("majority", "cpu", "9 texts")


@pytest.fixture
def run() -> Evaluation:
    return Evaluation("books", "sts", samples=100, seed=3)


def test_each_measure_is_a_row_of_the_system_on_the_set(run: Evaluation) -> None:
    run.add({"pearson": Measure(0.5, 12, 0.25, 0.75), "spearman": Measure(0.25, 12)}, TUNED, "stsb", "dev")
    first, second = run.rows
    assert (first.experiment, first.table, first.dataset, first.split) == ("books", "sts", "stsb", "dev")
    assert (first.model, first.reading, first.system) == ("tta", "context", "tta/context")
    assert (first.seed, first.device, first.scale) == (7, "cuda", "3 layers")
    assert (first.metric, first.value, first.n, first.ci_low, first.ci_high) == (
        "pearson", 0.5, 12, 0.25, 0.75,
    )  # fmt: skip
    assert (second.metric, second.value, second.ci_low, second.ci_high) == ("spearman", 0.25, None, None)


def test_rows_come_in_their_order_and_may_be_of_another_table(run: Evaluation) -> None:
    run.add({"pearson": Measure(0.5, 12)}, TUNED, "stsb")
    run.add({"accuracy": Measure(0.75, 4)}, BASELINE, "snli", "dev", "nli")
    run.add({}, TUNED, "sick")
    assert [(row.table, row.system, row.dataset, row.split) for row in run.rows] == [
        ("sts", "tta/context", "stsb", "test"),
        ("nli", "majority", "snli", "dev"),
    ]


def test_two_evaluations_share_no_rows(run: Evaluation) -> None:
    run.add({"pearson": Measure(0.5, 12)}, TUNED, "stsb")
    assert Evaluation("books", "sts", samples=100, seed=3).rows == []


@pytest.mark.parametrize(("seed", "expected"), [(7, 7), (0, 0), (None, 3)])
def test_what_is_resampled_has_the_seed_of_the_training_or_the_runs(
    run: Evaluation, seed: int | None, expected: int
) -> None:
    assert run.seed_of(EvaluatedSystem("tta", "cpu", "small", seed)) == expected


class Shown(Evaluation):
    """Notes what it shows."""

    def __init__(self) -> None:
        super().__init__("books", "sts", samples=100, seed=3)
        self.done: list[float] = []
        self.labels: list[tuple[str, float | None]] = []
        self.closed = False

    def set(self, done: float, total: float | None = None) -> None:
        raise AssertionError("items are counted")

    def advance(self, by: float = 1) -> None:
        self.done.append(by)

    @contextmanager
    def bar(self, label: str, total: float | None = None) -> Iterator[Shown]:
        self.labels.append((label, total))
        yield self
        self.closed = True


def test_items_are_counted_when_they_are_dealt_with() -> None:
    run = Shown()
    items = run.track(iter("abc"), "letters", 3)
    assert run.labels == [], "nothing is shown before the first"
    for number, letter in enumerate(items):
        assert letter == "abc"[number]
        assert len(run.done) == number, "the one at hand is not done"
    assert run.done == [1, 1, 1]
    assert run.labels == [("letters", 3)]
    assert run.closed


def test_by_itself_it_is_silent(
    run: Evaluation, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with run.bar("steps", 10) as shown:
        shown.set(1, 20)
        shown.advance()
    assert list(run.track([1, 2], "items")) == [1, 2]
    run.say("something was done")
    assert capfd.readouterr() == ("", "")
    with caplog.at_level(logging.INFO, "quartet"):
        run.say("100 % of it")
    assert [record.getMessage() for record in caplog.records] == ["100 % of it"], "for those who want to know"
