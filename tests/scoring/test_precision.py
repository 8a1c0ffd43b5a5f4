"""Scores and vectors of products in bf16; and reading that asks a device for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch

import quartet
from quartet.data.batch import Row
from quartet.errors import InputError
from quartet.scoring.device import LOGIT_BUDGET, ON_GPU, TOKEN_BUDGET, logit_budget, token_budget
from quartet.scoring.language_model import LanguageModel
from quartet.scoring.network_reader import Layer
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.models.shapes import KINDS
from tests.scoring.test_language_model import TEXTS, random_model, save

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


def short(model: LanguageModel) -> LanguageModel:
    """The same model, whose products are of bf16."""
    return LanguageModel(model.network, model.tokenizer, model.card, precision="bf16")


@pytest.mark.parametrize("kind", KINDS)
def test_bf16_is_near_and_another_model_to_a_cache(small_corpus: Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0], init_std=0.1)
    other = short(model)
    full, half = (np.concatenate(each.token_logprobs(TEXTS)) for each in (model, other))
    assert 0 < np.abs(full - half).max() < 0.1
    assert np.array_equal(half, np.concatenate(other.token_logprobs(TEXTS)))
    for layer in set(get_args(Layer)) & set(model.layers) - {"table"}:
        one, two = model.embed(TEXTS, layer), other.embed(TEXTS, layer)
        assert np.abs(one - two).max() < 0.1, layer
    assert model.fingerprint != other.fingerprint


@pytest.mark.parametrize("kind", ["unilm", "bilm", "tta", "segatron-xl"])
def test_what_the_caller_has_set_for_torch_changes_nothing(
    small_corpus: Small, tmp_path: Path, kind: str
) -> None:
    """Autocast, and a default type of numbers that is not that of the weights."""
    save(random_model(kind, small_corpus[0]), tmp_path)
    model = quartet.load(tmp_path)
    assert isinstance(model, LanguageModel)
    scores, vectors = model.score(TEXTS), model.embed(TEXTS)
    with torch.autocast("cpu", torch.bfloat16):
        assert model.score(TEXTS) == scores
        assert np.array_equal(model.embed(TEXTS), vectors)
    try:
        torch.set_default_dtype(torch.float64)
        for each in (model, quartet.load(tmp_path)):
            assert isinstance(each, LanguageModel)
            assert each.score(TEXTS) == scores
            assert np.array_equal(each.embed(TEXTS), vectors)
            assert each.fingerprint == model.fingerprint
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_folder_opens_in_bf16(small_corpus: Small, tmp_path: Path) -> None:
    model = random_model("tta", small_corpus[0])
    save(model, tmp_path)
    opened = quartet.load(str(tmp_path), precision="bf16")
    assert isinstance(opened, LanguageModel)
    assert opened.score(TEXTS) == short(opened).score(TEXTS) != quartet.load(str(tmp_path)).score(TEXTS)
    with pytest.raises(InputError, match="precision"):
        quartet.load(str(tmp_path), precision="bf8")  # type: ignore[arg-type]


def test_a_gpu_is_given_more_at_once() -> None:
    assert token_budget("cpu") == TOKEN_BUDGET
    assert token_budget("cuda") == token_budget("cuda:1") == ON_GPU * TOKEN_BUDGET
    assert logit_budget("cpu") == LOGIT_BUDGET
    assert logit_budget("cuda") == ON_GPU * LOGIT_BUDGET


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wanted", ["predict", "context", "embed", "first", "last"])
def test_reading_waits_for_no_number(
    small_corpus: Small, kind: str, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a device without numbers all is found that is found on a CPU. Masked copies are the exception."""
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda device: False)  # the device has none
    model = random_model(kind, small_corpus[0])
    rows = [
        Row(np.array(ids), np.stack([np.arange(len(ids)), *np.zeros((2, len(ids)))], 1).astype(int))
        for ids in ([7, 8, 9], [5], [])
    ]
    here = list(model._reader.read(rows, wanted, masked=False))  # type: ignore[arg-type]
    moved = LanguageModel(model.network, model.tokenizer, model.card, "meta")
    there = list(moved._reader.read(rows, wanted, masked=False))  # type: ignore[arg-type]
    assert len(here) == len(there) > 0
    for one, other in zip(here, there, strict=True):
        assert np.array_equal(one.texts_N, other.texts_N) and np.array_equal(one.places_N, other.places_N)
        assert one.vectors_ND.shape == other.vectors_ND.shape and other.vectors_ND.is_meta
        assert one.targets_N.shape == other.targets_N.shape
