"""Every public scorer goes through pickle, as libraries that compute in several processes want it."""

from __future__ import annotations

import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import quartet
from quartet.config.ngram import TokenConfig
from quartet.errors import InputError
from quartet.ngram.score import load
from quartet.scorers import AnyScorer
from quartet.shipped_model import IN_CLONE
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.ngram.reference import FIXTURES
from tests.ngram.test_score import make
from tests.scoring.test_language_model import random_model
from tests.scoring.test_pretrained_lm import save

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
#: Special tokens are words in texts, which not every library remembers in a pickle.
TEXTS = ["the miller crossed the river", "", "[MASK] é [CLS]", "<s> the </s>"]


def check(model: AnyScorer) -> None:
    """What comes out of the pickle scores alike."""
    again = pickle.loads(pickle.dumps(model))  # our own
    for ours, theirs in zip(model.token_logprobs(TEXTS), again.token_logprobs(TEXTS), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert (again.fingerprint, again.seed, again.name) == (model.fingerprint, model.seed, model.name)


@pytest.mark.parametrize("kind", ["bilm", "unilm", "tta", "transformer-xl"])
def test_models_that_are_trained_here(small_corpus: Small, kind: str) -> None:
    check(random_model(kind, small_corpus[0]))


@pytest.mark.parametrize("kind", ["gpt2", "bert"])
def test_models_of_hugging_face(tmp_path: Path, kind: str) -> None:
    save(tmp_path, kind)
    check(quartet.load(tmp_path))


def test_ngrams(tmp_path: Path) -> None:
    tokens = TokenConfig(lowercase=True, punctuation="strip")
    make(tmp_path / "mine", tokens, ["the miller crossed the river", "the river rose", "a letter came"])
    check(load(tmp_path / "mine", seed=7))
    check(quartet.load(FIXTURES / "fallback.arpa"))


def test_a_process_may_leave_the_folder_in_which_it_opened_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "below").mkdir()
    make(tmp_path / "ngram", TokenConfig(lowercase=True, punctuation="strip"), ["the miller crossed it"])
    (tmp_path / "export").symlink_to(IN_CLONE)
    monkeypatch.chdir(tmp_path)
    models = [quartet.load("ngram"), quartet.load("export")]
    monkeypatch.chdir("below")
    for model in models:
        check(model)
    assert models[0].alphabet  # type: ignore[union-attr]


def test_the_model_that_comes_with_quartet_in_another_process() -> None:
    model = quartet.load(IN_CLONE)
    check(model)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert pool.submit(model.score, TEXTS).result() == model.score(TEXTS)


def test_a_model_that_is_another_by_then_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(IN_CLONE, tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    pickled = pickle.dumps(quartet.load("model"))
    monkeypatch.chdir("/")  # a relative path is that of the process that pickled it
    assert pickle.loads(pickled).score(["a"]) == quartet.load(IN_CLONE).score(["a"])
    card = tmp_path / "model" / "export.json"
    monkeypatch.setattr("onnxruntime.__version__", "0.0.0")
    with pytest.raises(InputError, match="is no longer the model that was pickled"):
        pickle.loads(pickled)
    card.unlink()
    with pytest.raises(InputError):
        pickle.loads(pickled)
