"""A group of trainings that are timed, plain and compiled."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.peers import paper_utilisation
from benchmarks.peers.models import SHAPES
from benchmarks.peers.setup import BenchmarkSetup
from quartet.kernels import cross_entropy
from tests.small_corpus import documents


@pytest.mark.parametrize("group", paper_utilisation.GROUPS)
def test_a_group_is_trained_plain_and_compiled(
    group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled in name alone: that it learns the same is tests/training/test_fit.py's matter."""
    asked: list[bool | None] = []
    monkeypatch.setattr(torch.nn.Module, "compile", lambda module, dynamic: asked.append(dynamic))
    monkeypatch.setattr(cross_entropy, "_compiled_tile", lambda: cross_entropy._of_tile)
    monkeypatch.setattr(paper_utilisation, "WARM", 1)
    monkeypatch.setattr(paper_utilisation, "TIMED", 2)
    sentences = [text for document in documents(60, 1) for text in document.sentences]
    setup = BenchmarkSetup(
        sentences=sentences,
        shape=SHAPES["tiny"],
        folder=tmp_path,
        python=None,
        device="cpu",
        words=1,
        hypotheses=1,
        rescored=1,
        lengths=[],
        timed=1,
        trained=len(sentences),
        batch_size=8,
        parts=1,
        precisions=["fp32"],
        rounds=1,
    )
    found = paper_utilisation.STUDIES[group](setup)
    trainings = paper_utilisation.GROUPS[group](True)
    assert len(found.figures) == 2 * len(trainings) == len(found.seconds)
    assert asked == [True] * len(trainings), "one layer each, and only where it is asked for"
    for figure in found.figures:
        assert 0 < figure.median < 100
        assert (figure.demand is None) == ("compiled" not in figure.name)
    assert all(rate > 0 for rate in found.sizes["tokens_per_second"].values())
