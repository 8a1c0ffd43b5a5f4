"""Where dropout stands in each network: on which values, and that what it leaves is what goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from quartet.kernels.dropout import Dropout
from quartet.models.architectures import build
from quartet.models.attention import MultiHeadAttention
from quartet.models.network import Network
from tests.models.shapes import KINDS, VOCABULARY, random_inputs, small

LAYERS = 2
#: By kind of network, how many values dropout stands on: before the layers, in each, and after them.
PLACES = {
    "unilm": (1, 2, 0),
    "bilm": (1, 2, 0),
    "segabert": (1, 2, 0),
    "tta": (2, 2, 0),
    "tta-segments": (2, 2, 0),
    "transformer-xl": (1, 3, 1),
    "segatron-xl": (1, 3, 1),
}


def network_of(kind: str, **changes: float) -> Network:
    torch.manual_seed(1)
    return build(small(**{"init_std": 0.3, **KINDS[kind], **changes}), VOCABULARY, None)


@contextmanager
def dropping(zeroed: int | None) -> Iterator[list[Tensor]]:
    """Lets each call of dropout leave its value as it is, but for one, which zeroes all; yields the values."""
    seen: list[Tensor] = []

    def forward(self: Dropout, x: Tensor) -> Tensor:
        seen.append(x)
        return torch.zeros_like(x) if len(seen) - 1 == zeroed else x

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dropout, "forward", forward)
        yield seen


def expected(network: Network, kind: str, inputs: tuple[Tensor, Tensor, Tensor]) -> list[Tensor]:
    """The values that dropout has to stand on, in their order, from the outputs of the modules around it."""
    found: dict[Any, Tensor] = {}
    for module in network.modules():
        module.register_forward_hook(lambda module, _, output: found.update({module: output}))
    network.train()
    with dropping(None):
        network(*inputs)
    ids_BT, positions_BTP, _ = inputs
    layers = list(network.get_submodule("layers").children())
    if kind.endswith("xl"):
        within = [
            value
            for layer in layers
            for value in (found[layer.attention], F.relu(found[layer.inner]), found[layer.outer])
        ]
        last = found[layers[-1].feed_forward_norm]
        return [network.embed(ids_BT, positions_BTP), *within, last]
    before = [network.embed(ids_BT, positions_BTP)]
    if kind.startswith("tta"):
        before.append(network.first_query(network.positions(positions_BTP)))
    within = [value for layer in layers for value in (found[layer.attention], found[layer.feed_forward])]
    return [*before, *within]


@pytest.mark.parametrize("kind", PLACES)
def test_dropout_stands_on_these_values_and_no_others(kind: str) -> None:
    network = network_of(kind, dropout=0.1)
    inputs = random_inputs(2, 6)
    with torch.no_grad():
        wanted = expected(network, kind, inputs)
        with dropping(None) as seen:
            network(*inputs)
    before, in_layer, after = PLACES[kind]
    assert len(seen) == len(wanted) == before + LAYERS * in_layer + after
    for number, (value, other) in enumerate(zip(seen, wanted, strict=True)):
        assert torch.allclose(value, other, atol=1e-6), number


@pytest.mark.parametrize("kind", PLACES)
def test_what_dropout_leaves_goes_on(kind: str) -> None:
    """A value that is zeroed there moves the output of the whole network."""
    network = network_of(kind, dropout=0.1).train()
    inputs = random_inputs(2, 6)
    before, in_layer, after = PLACES[kind]
    with torch.no_grad():
        with dropping(None):
            whole = network(*inputs)[0]
        for place in range(before + LAYERS * in_layer + after):
            with dropping(place):
                assert not torch.allclose(network(*inputs)[0], whole, atol=1e-3), place


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("lengths", [None, [6, 3]], ids=["full", "padded"])
def test_attention_drops_in_training_and_never_in_evaluation(kind: str, lengths: list[int] | None) -> None:
    inputs = random_inputs(2, 6, lengths if "xl" not in kind else None)
    plain, dropping_ = network_of(kind).eval(), network_of(kind, attention_dropout=0.5)
    dropping_.load_state_dict(plain.state_dict())

    def output(network: Network, seed: int) -> Tensor:
        torch.manual_seed(seed)
        found: Tensor = network(*inputs)[0]
        return found

    with torch.no_grad():
        trained = [output(dropping_.train(), seed) for seed in (1, 1, 2)]
        assert torch.equal(trained[0], trained[1]) and not torch.allclose(trained[0], trained[2], atol=1e-3)
        assert not torch.allclose(trained[0], output(plain, 1), atol=1e-3)
        assert torch.equal(output(dropping_.eval(), 2), output(plain, 1))


def test_an_attention_weight_is_zeroed_or_scaled_up() -> None:
    """Of 64 keys that all weigh 1 / 64, each with a value of its own, a quarter is dropped."""
    keys, share = 64, 0.25
    attention = MultiHeadAttention(small(dim=keys, heads=1, attention_dropout=share)).train()
    with torch.no_grad():
        attention.output.weight.copy_(torch.eye(keys))
        attention.output.bias.zero_()
        weights_BTS = attention.gather(
            torch.zeros(1, 50, keys), torch.zeros(1, keys, keys), torch.eye(keys)[None], None
        )
    kept = weights_BTS[weights_BTS != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / keys / (1 - share)))
    assert abs((weights_BTS == 0).float().mean() - share) < 0.05
