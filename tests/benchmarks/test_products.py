"""Matrix products are counted as they run, and their replay runs as many operations."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.peers.products import flops, record_products, replay, weight_reading
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.scoring.test_language_model import random_model

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


@pytest.mark.parametrize("inference", [False, True])
def test_products_are_counted_by_their_shapes(inference: bool) -> None:
    layer = nn.Linear(8, 16)
    x_BTD, y_BTD = torch.randn(2, 5, 8), torch.randn(2, 3, 16)

    def work() -> None:
        with torch.inference_mode(inference), torch.set_grad_enabled(False):
            layer(x_BTD)
            x_BTD @ x_BTD.transpose(1, 2)
            x_BTD @ layer.weight.t()
            F.scaled_dot_product_attention(y_BTD[:, None], y_BTD[:, None], y_BTD[:, None])

    counts = record_products(work)
    assert counts[1, 10, 8, 16] == 2
    assert flops(counts) == 2 * (2 * 10 * 8 * 16 + 2 * 5 * 8 * 5 + 2 * (2 * 3 * 16 * 3))


def test_a_computation_without_products_is_refused() -> None:
    with pytest.raises(ValueError, match="no matrix product was seen"):
        record_products(lambda: torch.ones(3) + 1)


def test_the_products_of_a_tta_are_those_of_its_equations(small_corpus: Small) -> None:
    """A layer: Q, output, feed-forward, attention, then the head, of the text alone; K, V and the first Q are known."""
    tokenizer, _ = small_corpus
    model = random_model("tta", tokenizer)
    text = "the old bridge"
    own = len(tokenizer.encode(text))
    config, tokens = model.card.model, own + 2
    layer = own * (2 * config.dim**2 + 2 * config.dim * config.inner)
    layer += 2 * own * tokens * config.dim
    first = own * config.dim**2
    head = own * config.dim * tokenizer.vocab_size + (config.head == "transform") * own * config.dim**2
    model.score([text])  # makes the tokens' rows
    assert flops(record_products(lambda: model.score([text]))) == 2 * (config.layers * layer - first + head)


def test_a_replay_takes_longer_where_there_is_more_to_do() -> None:
    few, many = replay({(1, 64, 64, 64): 1}), replay({(1, 64, 64, 64): 2000})
    assert min(few() for _ in range(5)) < min(many() for _ in range(3))


def test_products_with_weights_of_their_own_run_as_often() -> None:
    counts = {(1, 4, 8, 16): 3, (2, 4, 8, 4): 2}
    for own_weights in (False, True):
        assert record_products(replay(counts, own_weights=own_weights)) == counts


def test_every_weight_is_read_once_and_attention_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    summed: list[tuple[int, ...]] = []
    own_sum = torch.Tensor.sum
    run = weight_reading({(1, 5, 8, 16): 3, (4, 5, 8, 5): 2})

    def noted(tensor: torch.Tensor) -> torch.Tensor:
        summed.append(tuple(tensor.shape))
        return own_sum(tensor)

    monkeypatch.setattr(torch.Tensor, "sum", noted)
    assert run() > 0
    assert summed == [(16, 8)] * 3
