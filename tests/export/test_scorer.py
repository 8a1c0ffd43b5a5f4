"""An exported model scores and embeds texts as the model does that it was made from."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch

import quartet
from quartet.errors import InputError
from quartet.export import inputs
from quartet.export.card import Form
from quartet.export.scorer import ExportedLM
from quartet.export.writing import export
from quartet.objectives.clm import CausalLM
from quartet.scoring.language_model import LanguageModel
from tests.nbest.lists import nbest
from tests.scoring.test_language_model import TEXTS

GRAPHS = ("tta", "unilm", "bilm", "tta-segments", "segabert")
#: Nats a token, and of each component of a vector, by which a form may be off.
NEAR: dict[Form, float] = {"onnx": 1e-4, "onnx-int8": 0.3, "fp16": 0.02}


def both(folder: Path, out: Path, form: Form = "onnx") -> tuple[LanguageModel, LanguageModel | ExportedLM]:
    """The model and its export, opened as a user opens them."""
    export(folder, out, form)
    model, exported = quartet.load(folder), quartet.load(out)
    assert isinstance(model, LanguageModel)
    assert isinstance(exported, LanguageModel if form == "fp16" else ExportedLM)
    return model, exported


@pytest.mark.parametrize("form", get_args(Form))
@pytest.mark.parametrize("kind", GRAPHS)
def test_scores_are_the_models(kind: str, form: Form, trained: dict[str, Path], tmp_path: Path) -> None:
    model, exported = both(trained[kind], tmp_path / "out", form)
    for masked in (True, False):
        ours, theirs = (one.token_logprobs(TEXTS, masked) for one in (model, exported))
        assert [len(one) for one in ours] == [len(one) for one in theirs]
        apart = np.abs(np.concatenate(ours) - np.concatenate(theirs))
        assert apart.max() < NEAR[form]
        assert form == "onnx" or apart.max() > 1e-6, "something was rounded"
    for attribute in ("name", "seed", "device", "masks", "pseudo"):
        assert getattr(exported, attribute) == getattr(model, attribute)


def test_an_objective_that_does_not_predict_the_end(
    trained: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, exported = both(trained["unilm"], tmp_path / "out")
    monkeypatch.setattr(CausalLM, "predicts_end", False)
    for ours, theirs, text in zip(
        model.token_logprobs(TEXTS), exported.token_logprobs(TEXTS), TEXTS, strict=True
    ):
        assert len(ours) == len(theirs) == len(model.tokenizer.encode(text))
        assert np.allclose(ours, theirs, atol=NEAR["onnx"])


@pytest.mark.parametrize("form", ["onnx", "onnx-int8"])
@pytest.mark.parametrize("kind", GRAPHS)
def test_vectors_are_the_models(kind: str, form: Form, trained: dict[str, Path], tmp_path: Path) -> None:
    model, exported = both(trained[kind], tmp_path / "out", form)
    assert set(exported.layers) == set(model.layers) - {"embed", "table"}
    for layer in exported.layers:
        for masked in (True, False):
            ours, theirs = (one.embed(TEXTS, layer, masked) for one in (model, exported))
            assert theirs.shape == (len(TEXTS), 24)
            assert np.abs(ours - theirs).max() < NEAR[form], layer
    assert not exported.embed([""]).any(), "an empty text has no token to average"
    with pytest.raises(InputError, match="gives context, first, last, not table"):
        exported.embed(TEXTS, "table")


@pytest.mark.parametrize("form", ["onnx", "onnx-int8"])
@pytest.mark.parametrize("kind", GRAPHS)
def test_a_score_does_not_depend_on_the_batch(
    kind: str, form: Form, trained: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, exported = both(trained[kind], tmp_path / "out", form)
    together, vectors = exported.token_logprobs(TEXTS), exported.embed(TEXTS)
    monkeypatch.setattr(inputs, "TOKEN_BUDGET", 1)
    for index, text in enumerate(TEXTS):
        assert np.allclose(exported.token_logprobs([text])[0], together[index], atol=1e-5)
        assert np.allclose(exported.embed([text])[0], vectors[index], atol=1e-5)


def test_no_text_and_empty_texts(trained: dict[str, Path], tmp_path: Path) -> None:
    for kind, ends in (("tta", 0), ("bilm", 0), ("unilm", 1)):
        _, exported = both(trained[kind], tmp_path / "out")
        assert exported.token_logprobs([]) == []
        assert [len(one) for one in exported.token_logprobs(["", " "])] == [ends, ends]
        assert exported.embed([]).shape == (0, 24)


def test_what_is_read_is_told_as_it_goes(trained: dict[str, Path], tmp_path: Path) -> None:
    _, exported = both(trained["bilm"], tmp_path / "out")
    told: list[tuple[int, int]] = []
    exported.embed(TEXTS, progress=lambda done, total: told.append((done, total)))
    tokens = sum(len(ids) for ids in exported.tokenizer.encode_batch(TEXTS))
    assert told[-1] == (tokens, tokens)


def test_lists_are_rescored(trained: dict[str, Path], tmp_path: Path) -> None:
    model, exported = both(trained["tta"], tmp_path / "out")
    lists = [nbest("u1", "the river", ("the river", -1.0), ("a letter", -1.2)), nbest("u2", None, ("", -1.0))]
    ours, theirs = (quartet.rescore(one, lists, weight=0.5) for one in (model, exported))
    assert [row["best"] for row in ours] == [row["best"] for row in theirs]
    assert np.allclose(ours.candidates.lm, theirs.candidates.lm, atol=1e-4)


def test_a_fingerprint_is_of_what_decides_the_scores(trained: dict[str, Path], tmp_path: Path) -> None:
    prints = set()
    for form in get_args(Form):
        model, exported = both(trained["tta"], tmp_path / form, form)
        prints |= {model.fingerprint, exported.fingerprint}
        again = both(trained["tta"], tmp_path / "again", form)[1]
        assert again.fingerprint == exported.fingerprint
    assert len(prints) == 4
    assert "exported as onnx-int8" in quartet.load(tmp_path / "onnx-int8").scale


def test_another_runtime_is_another_fingerprint(
    trained: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, exported = both(trained["tta"], tmp_path / "out")
    before = exported.fingerprint
    monkeypatch.setattr("onnxruntime.__version__", "0.0.0")
    other = quartet.load(tmp_path / "out")
    assert isinstance(other, ExportedLM) and other.fingerprint != before


def test_threads_are_torchs(trained: dict[str, Path], tmp_path: Path) -> None:
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            _, exported = both(trained["tta"], tmp_path / "out")
            assert isinstance(exported, ExportedLM)
            assert exported.session.get_session_options().intra_op_num_threads == threads
    finally:
        torch.set_num_threads(before)
