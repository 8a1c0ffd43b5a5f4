"""One switch puts every kernel's plain twin in its place, and the two agree in all networks, values and gradients."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import pytest
import torch
from torch import Tensor

from quartet.kernels import attention, cross_entropy, dropout, is_plain, linear, plain, tta_tables
from quartet.kernels.attention import fused_attention, plain_attention
from quartet.models.architectures import build
from quartet.models.network import Network
from tests.models.shapes import VARIANTS, VOCABULARY, random_inputs, small


def network_of(kind: str, **changes: object) -> Network:
    torch.manual_seed(1)
    continues_V = torch.arange(VOCABULARY) % 3 == 0
    return build(small(init_std=0.3, **{**VARIANTS[kind], **changes}), VOCABULARY, continues_V)


def training(network: Network) -> list[Tensor]:
    """The loss of a batch, and the gradient of each parameter."""
    torch.manual_seed(2)
    ids_BT, positions_BTP, real_BT = random_inputs(2, 8, [8, 5])
    network.train().zero_grad()
    hidden_BTD, _ = network(ids_BT, positions_BTP, real_BT)
    loss = network.head.loss(hidden_BTD[real_BT], ids_BT[real_BT], network.tokens)
    loss.backward()
    return [loss.detach(), *(each.grad for each in network.parameters() if each.grad is not None)]


def scoring(network: Network) -> list[Tensor]:
    """What a batch's tokens are like and how likely they are, without a gradient."""
    torch.manual_seed(2)
    ids_BT, positions_BTP, real_BT = random_inputs(2, 8, [8, 5])
    network.eval()
    with torch.no_grad():
        hidden_BTD = network.represent_inner(ids_BT, positions_BTP, real_BT)[:, 1:-1]
        targets_N = ids_BT[:, 1:-1].flatten()
        return [hidden_BTD, network.head.target_logprobs(hidden_BTD.flatten(0, 1), targets_N, network.tokens)]


@pytest.mark.parametrize("kind", VARIANTS)
@pytest.mark.parametrize("use", [training, scoring])
def test_kernels_and_twins_agree(kind: str, use: Callable[[Network], list[Tensor]]) -> None:
    network = network_of(kind)
    found = use(network)
    with plain():
        wanted = use(network)
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


#: Where each kernel does its work, which its twin never reaches; linear maps by a way that not every processor has.
WORK = {
    "cross entropy": (cross_entropy, "_to_gradient"),
    "dropout": (dropout, "dropout_mask"),
    "log-probabilities": (cross_entropy, "_tiled_logprobs"),
    "tables of T-TA": (tta_tables, "_ProjectionTable"),
    "attention": (torch.nn.functional, "scaled_dot_product_attention"),
    "linear": (linear, "_may_take_onednn"),
}


@pytest.mark.parametrize("kernel", WORK)
@pytest.mark.parametrize("switched", [False, True], ids=["kernel", "twin"])
def test_the_switch_is_of_all_of_them(kernel: str, switched: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    network = network_of("tta", dropout=0.1)
    module, name = WORK[kernel]
    work, calls = getattr(module, name), []

    def counted(*arguments: object, **options: object) -> object:
        calls.append(name)
        return work(*arguments, **options)

    monkeypatch.setattr(module, name, counted)
    with plain() if switched else nullcontext():
        training(network)
        scoring(network)
    assert bool(calls) is not switched


def test_it_is_put_back_also_after_a_failure() -> None:
    with pytest.raises(KeyError), plain():
        with plain():
            assert is_plain()
        assert is_plain()
        raise KeyError
    assert not is_plain()


@pytest.mark.parametrize("way", ["all", "causal", "shown", "added"])
@pytest.mark.parametrize("scale", [None, 0.3])
@pytest.mark.parametrize("multiple", [1, 8], ids=["as they are", "filled up"])
def test_attention_in_one_kernel_and_in_four_steps(
    way: str, scale: float | None, multiple: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Heads filled up as for a GPU too."""
    monkeypatch.setitem(attention.WIDTHS, "cpu", multiple)
    torch.manual_seed(1)
    drawn = [torch.randn(2, 3, 5, 4).requires_grad_() for _ in range(3)]
    q, k, v = drawn
    shown_TS = torch.rand(5, 5) < 0.5
    shown_TS[:, 0] = True
    mask = {"shown": shown_TS, "added": torch.randn(5, 5)}.get(way)
    found = fused_attention(q, k, v, mask=mask, causal=way == "causal", scale=scale)
    wanted = plain_attention(q, k, v, mask, 0.0, way == "causal", scale)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
    weights = torch.randn_like(found)
    for ours, theirs in zip(
        torch.autograd.grad(found, drawn, weights), torch.autograd.grad(wanted, drawn, weights), strict=True
    ):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
