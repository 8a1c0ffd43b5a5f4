"""One toy translator and one toy Whisper for all tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from quartet.recognise.training import TrainedTranslator
from quartet.recognise.translation import Translator
from tests.recognise import speech_toy, toy


@pytest.fixture(scope="session")
def toy_training(tmp_path_factory: pytest.TempPathFactory) -> TrainedTranslator:
    """A finished training on the toy text."""
    return toy.fit(tmp_path_factory.mktemp("toy") / "resume.ckpt")


@pytest.fixture(scope="session")
def toy_translator(toy_training: TrainedTranslator) -> Translator:
    """The translator that it made."""
    return toy.translator(toy_training)


@pytest.fixture(scope="session")
def toy_whisper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as transformers saves a Whisper."""
    return speech_toy.save_whisper(tmp_path_factory.mktemp("whisper") / "saved")


@pytest.fixture(scope="session")
def toy_converted(toy_whisper: Path) -> Path:
    """The same model for CTranslate2; without the library what asks for it is skipped."""
    return speech_toy.converted(toy_whisper, toy_whisper.parent / "converted")
