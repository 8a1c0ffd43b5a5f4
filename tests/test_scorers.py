"""One way to open whatever scores texts, and every kind of it rescores lists."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import quartet
from quartet.config.ngram import TokenConfig
from quartet.errors import InputError
from quartet.export.scorer import ExportedLM
from quartet.ngram.score import NgramLM
from quartet.scoring.language_model import LanguageModel
from quartet.scoring.pretrained_lm import PretrainedLM
from tests.bert import save_bert, save_byte_level, transformers
from tests.nbest.lists import nbest
from tests.ngram.test_score import TEXTS, make
from tests.scoring.test_language_model import Small, random_model, save

LISTS = [nbest("u1", "the cat", ("the cat", -1.0), ("a mat", -1.2)), nbest("u2", None, ("sat", -1.0))]


def opened(
    kind: str, folder: Path, small_corpus: Small
) -> LanguageModel | ExportedLM | NgramLM | PretrainedLM:
    if kind == "n-gram":
        make(folder, TokenConfig(lowercase=True, punctuation="strip"), TEXTS[:50])
    elif kind in ("bert", "gpt2"):
        transformers()
        folder.mkdir()
        if kind == "bert":
            save_bert(folder)
        else:
            save_byte_level(folder, "gpt2")
    else:
        folder.mkdir()
        save(random_model(kind, small_corpus[0]), folder)
    return quartet.load(folder)


@pytest.mark.parametrize(
    ("kind", "of", "pseudo"),
    [
        ("unilm", LanguageModel, False),
        ("bilm", LanguageModel, True),
        ("tta", LanguageModel, True),
        ("n-gram", NgramLM, False),
        ("bert", PretrainedLM, True),
        ("gpt2", PretrainedLM, False),
    ],
)
def test_every_kind_is_opened_and_rescores(
    kind: str, of: type, pseudo: bool, tmp_path: Path, small_corpus: Small
) -> None:
    model = opened(kind, tmp_path / "model", small_corpus)
    assert isinstance(model, of)
    assert model.pseudo == pseudo
    (empty,) = model.token_logprobs([""])
    assert len(empty) == (0 if pseudo else 1), "the closing token alone"
    found = quartet.rescore(model, LISTS, weight=1.0)
    for row in found:
        for each in row["hypotheses"]:
            assert each["lm"] == pytest.approx(model.score([each["text"]])[0], abs=1e-4)


def test_weights_are_chosen_of_what_has_two_sets(tmp_path: Path, small_corpus: Small) -> None:
    folder = tmp_path / "model"
    last, best = opened("tta", folder, small_corpus), quartet.load(folder, weights="best")
    assert isinstance(last, LanguageModel) and isinstance(best, LanguageModel)
    assert last.card.training.weights == "last" and best.card.training.weights == "best"
    assert not torch.equal(last.network.head.bias_V, best.network.head.bias_V)
    for other in (tmp_path / "none", tmp_path / "bert"):
        with pytest.raises(InputError, match="no model that was trained here: there are no weights"):
            quartet.load(other, weights="last")
    with pytest.raises(InputError, match="no such folder"):
        quartet.load(tmp_path / "none")
    (tmp_path / "bare").mkdir()
    with pytest.raises(InputError, match="holds neither config"):
        quartet.load(tmp_path / "bare", weights="last")
