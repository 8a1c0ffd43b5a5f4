"""Classification is learnt by every objective, and shuffled labels are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from quartet.config.finetuning import Pooling
from tests.tasks.glue.test_search import accuracy
from tests.tasks.glue.test_tuning import Small, model_of, toy


@pytest.mark.parametrize(
    ("kind", "pooling"),
    [("segabert", "cls"), ("bilm", "mean"), ("unilm", "cls"), ("tta", "mean")],
)
def test_a_separable_task_is_learnt_by_every_objective(
    small_corpus: Small, tmp_path: Path, kind: str, pooling: Pooling
) -> None:
    assert accuracy(model_of(small_corpus, kind), toy(), tmp_path, pooling, epochs=10) > 0.95


@pytest.mark.parametrize("kind", ["segabert", "unilm"])
def test_shuffled_labels_stay_at_chance(small_corpus: Small, tmp_path: Path, kind: str) -> None:
    assert 0.35 < accuracy(model_of(small_corpus, kind), toy(shuffled=True), tmp_path) < 0.65
