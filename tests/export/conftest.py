"""Models that the tests of this folder export."""

from __future__ import annotations

from pathlib import Path

import pytest

from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.scoring.test_language_model import random_model, save

KINDS = ("tta", "unilm", "bilm", "tta-segments", "segabert", "segatron-xl")


@pytest.fixture(scope="session")
def trained(
    small_corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """By kind, the folder of a model as a training leaves it; its weights are random."""
    folders = {}
    for kind in KINDS:
        folders[kind] = tmp_path_factory.mktemp("trained") / kind
        folders[kind].mkdir()
        save(random_model(kind, small_corpus[0]), folders[kind])
    return folders
