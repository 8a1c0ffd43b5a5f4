"""T-TA never knows the token that it predicts, and knows every other."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from quartet.models.architectures import build
from quartet.models.network import Network
from tests.models.shapes import VOCABULARY, random_inputs, small

LAE = {"objective": "lae", "architecture": "tta"}


def gradients(network: Network, inputs: tuple[Tensor, Tensor, Tensor], row: int, place: int) -> Tensor:
    """The gradient of one token's distribution (in a random direction) to every input's embedding: (B, T, D)."""
    kept: list[Tensor] = []

    def keep(module: torch.nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
        if output.dim() == 3:  # not the one of [MASK] for the first query
            output.retain_grad()
            kept.append(output)

    handle = network.tokens.register_forward_hook(keep)
    hidden_BTD, _ = network(*inputs)
    (network.logprobs(hidden_BTD)[row, place] * torch.randn(VOCABULARY)).sum().backward()
    handle.remove()
    assert len(kept) == 1 and kept[0].grad is not None
    return kept[0].grad


@pytest.mark.parametrize("layers", [1, 2, 3, 6])
@pytest.mark.parametrize("first_query", ["position", "mask_token"])
@pytest.mark.parametrize("normalise", [True, False])
def test_no_logit_depends_on_its_own_token(layers: int, first_query: str, normalise: bool) -> None:
    torch.manual_seed(layers)
    options = {"first_query": first_query, "normalise_inputs": normalise}
    network = build(small(**LAE, layers=layers, tta=options), VOCABULARY)
    inputs = random_inputs(3, 7, lengths=[7, 4, 1])
    for row, length in enumerate([7, 4, 1]):
        for place in range(length):
            grad_BTD = gradients(network, inputs, row, place)
            assert torch.count_nonzero(grad_BTD[row, place]) == 0, "a logit sees its own token"
            others = [other for other in range(length) if other != place]
            assert all(grad_BTD[row, other].abs().sum() > 0 for other in others), (
                "a logit misses another token"
            )
            assert torch.count_nonzero(grad_BTD[row, length:]) == 0, "a logit sees padding"


def test_a_lone_token_gets_the_zero_context() -> None:
    """With no other key the answer is defined: finite, the same for every token, without gradient or NaN."""
    torch.manual_seed(2)
    network = build(small(**LAE, layers=2), VOCABULARY)
    _, positions_BTP, real_BT = random_inputs(1, 1)
    outputs = [network(torch.tensor([[token]]), positions_BTP, real_BT)[0] for token in (8, 15)]
    assert torch.isfinite(outputs[0]).all()
    assert torch.equal(outputs[0], outputs[1])
    grad_BTD = gradients(network, (torch.tensor([[8]]), positions_BTP, real_BT), 0, 0)
    assert torch.count_nonzero(grad_BTD) == 0


def test_padding_and_neighbours_in_the_batch_change_nothing() -> None:
    torch.manual_seed(3)
    network = build(small(**LAE, layers=3), VOCABULARY).eval()
    ids_BT, positions_BTP, real_BT = random_inputs(2, 9, lengths=[9, 5])
    together_BTD, _ = network(ids_BT, positions_BTP, real_BT)
    alone_BTD, _ = network(ids_BT[1:, :5], positions_BTP[1:, :5], real_BT[1:, :5])
    assert torch.allclose(together_BTD[1, :5], alone_BTD[0], atol=1e-5)
