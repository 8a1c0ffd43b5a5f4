"""One toy translator for all tests of this folder."""

from __future__ import annotations

import pytest

from quartet.nbest.generate.training import TrainedTranslator
from quartet.nbest.generate.translation import Translator
from tests.nbest.generate import toy


@pytest.fixture(scope="session")
def toy_training(tmp_path_factory: pytest.TempPathFactory) -> TrainedTranslator:
    """A finished training on the toy text."""
    return toy.fit(tmp_path_factory.mktemp("toy") / "resume.ckpt")


@pytest.fixture(scope="session")
def toy_translator(toy_training: TrainedTranslator) -> Translator:
    """The translator that it made."""
    return toy.translator(toy_training)
