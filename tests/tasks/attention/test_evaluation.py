"""Recorded attention is what the network really did; its shares are those added up by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from quartet.data.batch import Row
from quartet.data.segments import SegmentedTokens
from quartet.errors import InputError
from quartet.models.architectures import build
from quartet.models.attention import MultiHeadAttention
from quartet.models.transformer_xl import RelativeAttention
from quartet.scoring.attention_recorder import record_attention
from quartet.tasks.attention.evaluation import document_attention
from quartet.tasks.attention.maps import (
    SHARES,
    DocumentAttention,
    read_article,
    share_measures,
    shares,
    write_article,
)
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.models.shapes import VARIANTS, VOCABULARY, random_inputs, small
from tests.scoring.test_language_model import random_model
from tests.small_corpus import corpus_of

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
#: Two paragraphs: sentences of 3 and 2 tokens, then one of 4.
DOCUMENT = SegmentedTokens(corpus_of([[[[10, 11, 12], [13, 14]], [[15, 16, 17, 18]]]])).document(0)


@pytest.mark.parametrize("kind", VARIANTS)
def test_probabilities_times_values_are_the_layers_output(kind: str) -> None:
    torch.manual_seed(1)
    continues_V = torch.arange(VOCABULARY) % 3 == 0
    network = build(small(init_std=0.3, **VARIANTS[kind]), VOCABULARY, continues_V).eval()
    inputs = random_inputs(2, 8, [8, 5])
    outputs: list[torch.Tensor] = []
    values: list[torch.Tensor] = []
    for module in network.modules():
        if isinstance(module, MultiHeadAttention | RelativeAttention):
            module.register_forward_hook(lambda *arguments: outputs.append(arguments[2]))
            module.value.register_forward_hook(lambda *arguments: values.append(arguments[2]))
    with torch.inference_mode():
        ordinary, _ = network(*inputs)
        outputs.clear()
        values.clear()
        with record_attention() as found:
            hidden, _ = network(*inputs)
    assert torch.equal(hidden, ordinary), "recording changes nothing"
    assert len(found) == len(outputs) == network.config.layers
    attentions = [one for one in network.modules() if isinstance(one, MultiHeadAttention | RelativeAttention)]
    for module, one, value_BSD, output_BTD in zip(attentions, found, values, outputs, strict=True):
        sums = one.weights_BHTS.sum(-1)
        torch.testing.assert_close(sums, torch.ones_like(sums))
        value_BHSK = value_BSD.unflatten(-1, (network.config.heads, -1)).transpose(1, 2)
        gathered = (one.weights_BHTS @ value_BHSK).transpose(1, 2).flatten(2)
        real_BT = inputs[2]
        torch.testing.assert_close(
            module.output(gathered)[real_BT], output_BTD[real_BT], atol=1e-5, rtol=1e-5
        )
        assert not one.weights_BHTS[~one.allowed_BHTS.expand_as(one.weights_BHTS)].any()


def test_nothing_is_recorded_outside() -> None:
    network = build(small(), VOCABULARY).eval()
    with record_attention() as found:
        pass
    network(*random_inputs(1, 4))
    assert found == []


@pytest.mark.parametrize("kind", ["unilm", "bilm", "segabert", "tta", "tta-segments", "segatron-xl"])
def test_an_article_as_each_model_reads_it(small_corpus: Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0])
    article = document_attention(model, "one", DOCUMENT, 16)
    assert sorted(article.weights_TT) == [1, 2]
    own = np.flatnonzero(article.own_T)
    assert article.sentences_T[own].tolist() == [0, 0, 0, 1, 1, *([2] * 4)] or kind == "segatron-xl"
    assert len(set(article.sentences_T[own])) == 3
    assert len(set(article.paragraphs_T[own])) == 2
    for weights_TT in article.weights_TT.values():
        np.testing.assert_allclose(weights_TT.sum(axis=1), 1, atol=1e-5)
        np.testing.assert_array_equal(weights_TT[~article.allowed_TT], 0)
        if kind.startswith("tta"):
            np.testing.assert_array_equal(np.diag(weights_TT), 0)
        if kind in ("unilm", "segatron-xl"):
            np.testing.assert_array_equal(np.triu(weights_TT, 1), 0)
    assert article.uniform().sum(axis=1) == pytest.approx(1)


def test_the_mean_is_that_of_the_heads(small_corpus: Small) -> None:
    model = random_model("segabert", small_corpus[0])
    heads = [document_attention(model, "one", DOCUMENT, 16, [2], head).weights_TT[2] for head in (1, 2)]
    mean = document_attention(model, "one", DOCUMENT, 16, [2]).weights_TT[2]
    np.testing.assert_allclose(np.mean(heads, axis=0), mean, atol=1e-6)
    assert not np.allclose(heads[0], heads[1])
    with pytest.raises(InputError, match=r"attention\.layer: segabert has 2, and no number 3"):
        document_attention(model, "one", DOCUMENT, 16, [1, 3])
    with pytest.raises(InputError, match=r"attention\.head: segabert has 2, and no number 3"):
        document_attention(model, "one", DOCUMENT, 16, [1], 3)


def test_a_long_document_is_cut_to_the_tokens_asked_for(small_corpus: Small) -> None:
    document = Row(np.resize(DOCUMENT.ids, 90), np.resize(DOCUMENT.segments, (90, 3)))
    assert len(document_attention(random_model("segabert", small_corpus[0]), "one", document, 20).own_T) == 20
    assert len(document_attention(random_model("segabert", small_corpus[0]), "one", document, 99).own_T) == 24
    assert (
        len(document_attention(random_model("transformer-xl", small_corpus[0]), "one", document, 40).own_T)
        >= 40
    )


def hand_made() -> DocumentAttention:
    """[CLS] a b | c [SEP]: a and b are a sentence, c is the next one of the same paragraph."""
    weights = np.array(
        [
            [0.2, 0.2, 0.2, 0.2, 0.2],
            [0.1, 0.2, 0.3, 0.3, 0.1],
            [0.0, 0.5, 0.5, 0.0, 0.0],
            [0.4, 0.1, 0.1, 0.1, 0.3],
            [0.2, 0.2, 0.2, 0.2, 0.2],
        ]
    )
    return DocumentAttention(
        "one",
        np.array([0, 0, 0, 1, 1]),
        np.zeros(5, dtype=np.int64),
        np.array([False, True, True, True, False]),
        np.ones((5, 5), dtype=bool),
        {1: weights},
    )


def test_shares_by_hand() -> None:
    article = hand_made()
    found = dict(zip(SHARES, shares(article, article.weights_TT[1]), strict=True))
    assert found == pytest.approx(
        {
            "own-sentence": 0.5 + 1.0 + 0.1,
            "own-paragraph": 0.8 + 1.0 + 0.3,
            "itself": 0.2 + 0.5 + 0.1,
            "before": 0.0 + 0.5 + 0.2,
            "specials": 0.2 + 0.0 + 0.7,
        }
    )
    measures = share_measures([article, article], 1, samples=20, seed=1)
    assert measures["own-sentence"].value == pytest.approx(1.6 / 3)
    assert measures["own-sentence"].n == 6
    assert measures["own-sentence"].ci_low is None, "two articles are too few"
    assert share_measures([article], 1, 20, 1)["before"].ci_low is None
    even = share_measures([article], None, 20, 1)
    assert even["itself"].value == pytest.approx(0.2)
    assert even["specials"].value == pytest.approx(0.4)
    with pytest.raises(ValueError, match="no articles"):
        share_measures([], 1, 20, 1)


def test_an_article_is_kept_as_it_is(tmp_path: Path) -> None:
    article = hand_made()
    write_article(tmp_path / "a.safetensors", article)
    write_article(tmp_path / "b.safetensors", article)
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    found = read_article(tmp_path / "a.safetensors")
    assert found.name == "one"
    np.testing.assert_array_equal(found.own_T, article.own_T)
    np.testing.assert_allclose(found.weights_TT[1], article.weights_TT[1], atol=1e-7)
    with pytest.raises(InputError, match="not the attention of an article"):
        read_article(tmp_path / "c.safetensors")
    (tmp_path / "a.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match="not the attention of an article"):
        read_article(tmp_path / "a.safetensors")
