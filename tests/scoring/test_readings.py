"""Vectors of texts by every reading, against what single calls of the network give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from quartet.scoring import device
from quartet.scoring.language_model import LanguageModel
from quartet.scoring.network_reader import LAYERS, Layer
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import SPECIALS, TextTokenizer
from tests.models.shapes import VARIANTS
from tests.scoring.test_language_model import TEXTS, random_model

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
TEXT = "the miller crossed the river."
FRAMED = [kind for kind, settings in VARIANTS.items() if settings.get("reads") != "streams"]
STREAMS = [kind for kind in VARIANTS if kind not in FRAMED]
MASKED = [kind for kind, settings in VARIANTS.items() if settings["objective"] == "mlm"]


def inputs(model: LanguageModel, ids: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    """[BOS] text [EOS], [CLS] text [SEP] or, of a stream, [EOS] text [EOS], with the indices of every token."""
    tokenizer, reads = model.tokenizer, model.card.model.reads
    first, last = {
        "sentences": (tokenizer.bos_id, tokenizer.eos_id),
        "spans": (tokenizer.cls_id, tokenizer.sep_id),
        "streams": (tokenizer.eos_id, tokenizer.eos_id),
    }[reads]
    framed = torch.tensor([[first, *ids, last]])
    positions = torch.zeros(1, len(ids) + 2, 4, dtype=torch.long)
    positions[0, :, 0] = torch.arange(len(ids) + 2)
    if reads != "streams":  # a special token stands where its neighbour does
        positions[0, 1:, 1] = torch.tensor([*range(len(ids)), len(ids) - 1])
    elif model.card.model.recurrence.index == "running":  # behind the opening one a new paragraph begins
        positions[0, :, 1] = torch.arange(len(ids) + 2)
        positions[0, 1:, 2:] = 1
    else:
        positions[0, 1:, 1] = torch.arange(len(ids) + 1)
    return framed, positions, torch.ones_like(framed, dtype=torch.bool)


@torch.no_grad()
def by_hand(model: LanguageModel, text: str, layer: Layer) -> np.ndarray:
    """One call of the network on the intact input."""
    ids = model.tokenizer.encode(text)
    framed, positions, real = inputs(model, ids)
    network = model.network
    if layer == "table":
        return network.table()[ids].mean(0).numpy()
    vectors = network.embed(framed, positions) if layer == "embed" else network(framed, positions, real)[0]
    chosen = {"first": vectors[0, :1], "last": vectors[0, -1:]}.get(layer, vectors[0, 1:-1])
    return chosen.mean(0).numpy()


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("kind", FRAMED)
def test_each_reading_is_one_call_of_the_network(small_corpus: Small, kind: str, layer: Layer) -> None:
    model = random_model(kind, small_corpus[0])
    found = model.embed([TEXT, "a grey heron"], layer, masked=False)
    assert found.shape == (2, 24)
    assert np.allclose(found[0], by_hand(model, TEXT, layer), atol=1e-5)
    assert np.allclose(found[1], by_hand(model, "a grey heron", layer), atol=1e-5)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("kind", [kind for kind in STREAMS if kind != "segatron-xl-released"])
def test_a_stream_reads_a_text_alone_in_its_memory(small_corpus: Small, kind: str, layer: Layer) -> None:
    """Windows of 8 with memory against one call on the whole."""
    model = random_model(kind, small_corpus[0], max_length=8)
    found = model.embed([TEXT, "a grey heron"], layer)
    assert len(model.tokenizer.encode(TEXT)) > 8
    assert np.allclose(found[0], by_hand(model, TEXT, layer), atol=1e-5)
    assert np.allclose(found[1], by_hand(model, "a grey heron", layer), atol=1e-5)


@pytest.mark.parametrize("kind", MASKED)
@torch.no_grad()
def test_mask_and_predict_is_a_loop_over_masked_copies(small_corpus: Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0])
    ids = model.tokenizer.encode(TEXT)
    framed, positions, real = inputs(model, ids)
    own = []
    for place in range(1, len(ids) + 1):
        copy = framed.clone()
        copy[0, place] = SPECIALS.index("[MASK]")
        own.append(model.network(copy, positions, real)[0][0, place].numpy())
    found = model.embed([TEXT])[0]
    assert np.allclose(found, np.mean(own, axis=0), atol=1e-5)
    assert not np.allclose(found, model.embed([TEXT], masked=False)[0], atol=1e-2)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("kind", ["tta", "bilm", "unilm", "transformer-xl"])
def test_no_other_text_moves_a_vector_and_the_order_is_kept(
    small_corpus: Small, kind: str, layer: Layer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = random_model(kind, small_corpus[0])
    together = model.embed(TEXTS, layer)
    monkeypatch.setattr(device, "TOKEN_BUDGET", 30)
    for text, vector in zip(TEXTS, together, strict=True):
        assert np.allclose(model.embed([text], layer)[0], vector, atol=1e-5)
    assert together[TEXTS.index("")].any() == (layer in ("first", "last")), "special tokens alone"


def test_long_texts_have_the_special_tokens_of_their_first_and_last_part(small_corpus: Small) -> None:
    """20 tokens with room for 14 are read in two parts of 10."""
    model = random_model("bilm", small_corpus[0], max_length=16)
    text, half = " ".join(["the"] * 20), " ".join(["the"] * 10)
    assert len(model.tokenizer.encode(text)) == 20
    assert np.allclose(model.embed([text], "first"), model.embed([half], "first"), atol=1e-6)
    assert np.allclose(model.embed([text], "last"), model.embed([half], "last"), atol=1e-6)
    assert np.allclose(model.embed([text]), model.embed([half]), atol=1e-6)


def test_t_ta_reads_a_batch_in_one_pass_and_says_how_far_it_is(
    small_corpus: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = random_model("tta", small_corpus[0])
    calls: list[int] = []
    represent = type(model.network).represent_inner

    def counted(self: Any, *given: Any) -> Any:
        calls.append(len(given[0]))
        return represent(self, *given)

    monkeypatch.setattr(type(model.network), "represent_inner", counted)
    moves: list[tuple[int, int]] = []
    model.embed([TEXT, "a grey heron", TEXT], progress=lambda done, total: moves.append((done, total)))
    tokens = sum(len(model.tokenizer.encode(text)) for text in (TEXT, "a grey heron", TEXT))
    assert calls == [3]
    assert moves == [(tokens, tokens)]


@pytest.mark.parametrize("kind", ["unilm", "transformer-xl", "bilm", "tta"])
def test_a_causal_models_first_token_is_no_reading(small_corpus: Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0])
    causal = VARIANTS[kind]["objective"] == "clm"
    assert model.layers == tuple(layer for layer in LAYERS if not causal or layer != "first")
    one, other = model.embed([TEXT, "a grey heron"], "first")
    assert np.allclose(one, other, atol=1e-6) == causal
