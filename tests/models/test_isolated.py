"""All layers' keys and values at once are those of each layer, also after a weight has changed in whatever way."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch

from quartet.models.architectures import build
from quartet.models.tta import TTA
from tests.models.shapes import VARIANTS, VOCABULARY, random_inputs, small


def network(kind: str = "tta", **changes: object) -> TTA:
    torch.manual_seed(1)
    continues_V = torch.arange(VOCABULARY) % 3 == 0
    built = build(small(init_std=0.3, **{**VARIANTS[kind], **changes}), VOCABULARY, continues_V).eval()
    assert isinstance(built, TTA)
    return built


def same(one: TTA, inner: torch.Tensor, inputs: tuple[torch.Tensor, ...]) -> None:
    """The plain forward, layer after layer, gives the same at every inner column."""
    with torch.no_grad():
        plain, _ = one(*inputs)
    torch.testing.assert_close(inner[:, 1:-1], plain[:, 1:-1], atol=2e-6, rtol=1e-5)


def by_optimiser(one: TTA) -> None:
    optimiser = torch.optim.AdamW(one.parameters(), lr=0.1, fused=True)
    one.train()
    one(*random_inputs(2, 8, [8, 5]))[0].square().sum().backward()
    optimiser.step()
    one.eval()


def in_place(one: TTA) -> None:
    with torch.no_grad():
        one.layers[1].attention.value.bias.add_(1.0)


def by_loading(one: TTA) -> None:
    one.load_state_dict({name: value + 0.1 for name, value in one.state_dict().items()})


def by_another_tensor(one: TTA) -> None:
    key = one.layers[0].attention.key
    key.weight = torch.nn.Parameter(key.weight.detach() * 2)


def by_type(one: TTA) -> None:
    one.double().float()
    one.layers[0].attention.key.weight.data.mul_(2)
    one.train().eval()


@pytest.mark.parametrize("kind", [kind for kind in VARIANTS if kind.startswith("tta")])
def test_one_product_is_that_of_each_layer(kind: str) -> None:
    one, inputs = network(kind), random_inputs(2, 8, [8, 5])
    with torch.inference_mode():
        inner = one.represent_inner(*inputs)
        again = one.represent_inner(*inputs)
    assert torch.equal(inner, again)
    same(one, inner, inputs)


@pytest.mark.parametrize("change", [by_optimiser, in_place, by_loading, by_another_tensor, by_type])
def test_a_changed_weight_is_seen(change: Callable[[TTA], None]) -> None:
    one, inputs = network(), random_inputs(2, 8, [8, 5])
    with torch.inference_mode():
        before = one.represent_inner(*inputs)
    change(one)
    with torch.inference_mode():
        after = one.represent_inner(*inputs)
    assert not torch.allclose(before, after, atol=1e-3)
    same(one, after, inputs)


def test_a_copy_reads_its_own_weights() -> None:
    one, inputs = network(), random_inputs(2, 8, [8, 5])
    with torch.inference_mode():
        before = one.represent_inner(*inputs)
    other = copy.deepcopy(one)
    in_place(other)
    with torch.inference_mode():
        assert torch.equal(one.represent_inner(*inputs), before)
        same(other, other.represent_inner(*inputs), inputs)


def test_gradients_reach_every_layers_maps() -> None:
    one, inputs = network(), random_inputs(2, 8, [8, 5])
    with torch.inference_mode():
        one.represent_inner(*inputs)  # a copy is kept, through which no gradient would pass
    one.represent_inner(*inputs)[:, 1:-1].square().sum().backward()
    joint = {name: value.grad.clone() for name, value in one.named_parameters() if value.grad is not None}
    one.zero_grad()
    one(*inputs)[0][:, 1:-1].square().sum().backward()
    for name, value in one.named_parameters():
        if value.grad is not None:
            torch.testing.assert_close(joint[name], value.grad, atol=1e-4, rtol=1e-4)
    assert {f"layers.{layer}.attention.key.weight" for layer in range(len(one.layers))} <= set(joint)


def test_the_weights_of_a_folder_are_those_of_the_layers() -> None:
    one = network()
    with torch.inference_mode():
        one.represent_inner(*random_inputs(2, 8, [8, 5]))
    assert not [name for name in one.state_dict() if "joint" in name]
