"""The small world that tests of stages share."""

from __future__ import annotations

from pathlib import Path

import pytest

from quartet.text.encoded import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.stages.world import World


@pytest.fixture
def world(
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    small_corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]],
) -> World:
    """The preset tiny in an empty folder, without sets."""
    made = World(workspace, monkeypatch, *small_corpus)
    names = ("rerank", "sts", "wordsim", "finetune", "glue", "nli", "squad", "race", "blimp", "attention")
    made.set(tasks={}, nli__sets=[], evaluate={name: [] for name in names})
    return made
