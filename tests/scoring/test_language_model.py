"""Scores of texts: one value a token, whatever else is in the batch, however long the text is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import quartet
from quartet.config.training import TrainingConfig
from quartet.errors import InputError
from quartet.models.architectures import build_for
from quartet.models.checkpoint import ModelCard, save_model
from quartet.scoring.language_model import LanguageModel
from quartet.scoring.windows import even_parts, full_parts
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.models.shapes import VARIANTS, small

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
TEXTS = [
    "the miller crossed the river.",
    "",
    "a grey heron",
    "the night train repaired two baskets of pears. " * 6,
]


def random_model(kind: str, tokenizer: TextTokenizer, **changes: Any) -> LanguageModel:
    torch.manual_seed(11)
    config = small(**{"max_length": 24, "init_std": 0.3, **VARIANTS[kind], **changes})
    network = build_for(config, tokenizer)
    card = ModelCard(
        name=kind,
        seed=11,
        corpus="made-up",
        corpus_words=1,
        steps=0,
        best_step=0,
        parameters=network.parameter_count,
        model=config,
        training=TrainingConfig(steps=1, batch_size=1, learning_rate=1e-3),
    )
    return LanguageModel(network, tokenizer, card)


def save(model: LanguageModel, folder: Path) -> None:
    """The model as last weights, and as best ones with a larger bias."""
    last = model.network.state_dict()
    best = {name: tensor + 1 if name == "head.bias_V" else tensor for name, tensor in last.items()}
    save_model(folder, {"last": last, "best": best}, model.card, model.tokenizer)


@pytest.mark.parametrize("kind", ["unilm", "bilm", "tta", "transformer-xl"])
def test_no_score_or_vector_comes_of_dropout(small_corpus: Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0], dropout=0.1)
    expected = model.score(TEXTS)
    model.network.train()
    for use in (model.token_logprobs, model.score, model.embed):
        with pytest.raises(InputError, match="training mode"):
            use(TEXTS)  # type: ignore[operator]
    model.network.eval()
    assert model.score(TEXTS) == expected


@pytest.mark.parametrize("kind", VARIANTS)
def test_one_value_a_token_and_their_sum(small_corpus: Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0])
    values = model.token_logprobs(TEXTS)
    ends = 1 if VARIANTS[kind]["objective"] == "clm" else 0
    for text, found in zip(TEXTS, values, strict=True):
        assert len(found) == len(model.tokenizer.encode(text)) + ends
        assert (found <= 0).all() and np.isfinite(found).all()
    assert model.score(TEXTS) == [float(found.sum()) for found in values]


@pytest.mark.parametrize("kind", VARIANTS)
def test_a_score_does_not_depend_on_the_batch(small_corpus: Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0])
    together = model.token_logprobs(TEXTS)
    embedded = {layer: model.embed(TEXTS, layer) for layer in ("context", "embed")}  # type: ignore[arg-type]
    for index, text in enumerate(TEXTS):
        assert np.allclose(model.token_logprobs([text])[0], together[index], atol=1e-5)
        for layer, vectors in embedded.items():
            assert np.allclose(model.embed([text], layer)[0], vectors[index], atol=1e-5)  # type: ignore[arg-type]
    assert embedded["context"].shape == (len(TEXTS), 24)
    assert not embedded["context"][1].any(), "an empty text has no token to average"


def test_unilm_is_the_chain_rule(small_corpus: Small) -> None:
    """Against the log-softmax of one forward pass, written out."""
    tokenizer = small_corpus[0]
    model = random_model("unilm", tokenizer)
    ids = tokenizer.encode(TEXTS[0])
    full = torch.tensor([[tokenizer.bos_id, *ids, tokenizer.eos_id]])
    positions = torch.zeros(1, full.shape[1], 4, dtype=torch.long)
    positions[..., 0] = torch.arange(full.shape[1])
    with torch.no_grad():
        hidden, _ = model.network(full, positions, torch.ones_like(full, dtype=torch.bool))
        expected = model.network.logprobs(hidden)[0, range(len(ids) + 1), full[0, 1:]]
    assert np.allclose(model.token_logprobs([TEXTS[0]])[0], expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", ["transformer-xl", "segatron-xl"])
def test_a_stream_is_scored_as_one_pass_would(small_corpus: Small, kind: str) -> None:
    """Windows of 8 with a memory of 64 against a window that holds the whole text."""
    tokenizer = small_corpus[0]
    windows = random_model(kind, tokenizer)
    whole = windows.at(window=500)
    assert np.allclose(windows.token_logprobs(TEXTS)[0], whole.token_logprobs(TEXTS)[0], atol=1e-5)


def test_long_texts_are_read_in_even_parts_and_nothing_is_lost() -> None:
    assert even_parts(10, 4) == [(0, 3), (3, 6), (6, 10)]
    assert even_parts(0, 4) == full_parts(0, 4) == [(0, 0)]
    assert full_parts(10, 4) == [(0, 4), (4, 8), (8, 10)], (
        "for causal models: no part depends on what follows"
    )
    for length in range(1, 60):
        parts = even_parts(length, 7)
        assert [low for low, _ in parts[1:]] == [high for _, high in parts[:-1]]
        assert parts[0][0] == 0 and parts[-1][1] == length
        assert max(high - low for low, high in parts) <= 7 and min(high - low for low, high in parts) >= 1


@pytest.mark.parametrize("kind", VARIANTS)
def test_corpus_logprobs_cover_each_token_of_each_document(small_corpus: Small, kind: str) -> None:
    tokenizer, splits = small_corpus
    model = random_model(kind, tokenizer)
    corpus = splits["test"]
    moves: list[tuple[int, int]] = []
    whole = model.corpus_logprobs(corpus, progress=lambda done, total: moves.append((done, total)))
    ends = corpus.sentence_offsets[corpus.document_offsets]
    assert [len(values) for values in whole] == np.diff(ends).tolist()
    assert moves[-1] == (len(corpus.ids), len(corpus.ids))
    limited = model.corpus_logprobs(corpus, tokens_per_document=12)
    assert all(
        len(values) >= 12 or len(values) == len(all_) for values, all_ in zip(limited, whole, strict=True)
    )


@pytest.mark.parametrize("kind", ["tta", "segatron-xl"])
def test_a_saved_model_opens_with_the_same_scores(small_corpus: Small, kind: str, tmp_path: Path) -> None:
    model = random_model(kind, small_corpus[0])
    save(model, tmp_path)
    opened = quartet.load(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "best.safetensors",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    assert opened.score(TEXTS) == model.score(TEXTS)
    assert opened.card == replace(model.card, tokenizer=model.tokenizer.sha256)
    best = quartet.load(tmp_path, weights="best")
    assert torch.equal(best.network.head.bias_V, model.network.head.bias_V + 1)
    assert "step 0 of 0 steps" in best.scale and "step 0" not in opened.scale


def test_no_text_has_no_score(small_corpus: Small) -> None:
    model = random_model("tta", small_corpus[0])
    assert model.score([]) == [] and model.token_logprobs([]) == []
    assert model.embed([]).shape == (0, 24)


def test_a_device_that_is_not_there_is_refused(small_corpus: Small, tmp_path: Path) -> None:
    model = random_model("tta", small_corpus[0])
    save(model, tmp_path)
    with pytest.raises(InputError, match="device nonsense: cannot be used"):
        quartet.load(tmp_path, device="nonsense")


def test_broken_models_are_refused_in_one_line(small_corpus: Small, tmp_path: Path) -> None:
    model = random_model("tta", small_corpus[0])
    with pytest.raises(InputError, match=r"holds neither config\.json"):
        quartet.load(tmp_path)
    save(model, tmp_path)
    weights = tmp_path / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"model\.safetensors"):
        quartet.load(tmp_path)
    weights.write_bytes(whole)
    config = (tmp_path / "config.json").read_text()
    (tmp_path / "config.json").write_text(config.replace('"inner": 32', '"inner": 48'))
    with pytest.raises(InputError, match="shape"):
        quartet.load(tmp_path)
    (tmp_path / "config.json").write_text(config.replace('"objective": "lae"', '"objective": "xyz"'))
    with pytest.raises(InputError, match="objective"):
        quartet.load(tmp_path)
