"""Keys and values that are looked up are those of each layer, also after a weight has changed in whatever way."""

from __future__ import annotations

import copy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

from benchmarks.peers.products import record_products
from quartet.kernels import tta_tables
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
    torch.testing.assert_close(inner[:, 1:-1], plain[:, 1:-1], atol=1e-5, rtol=1e-4)


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


def of_the_first_query(one: TTA) -> None:
    with torch.no_grad():
        one.layers[0].attention.query.weight.mul_(-2.0)


def of_a_token(one: TTA) -> None:
    with torch.no_grad():
        one.tokens.weight.mul_(torch.linspace(0.5, 1.5, one.config.dim))


def of_a_position(one: TTA) -> None:
    with torch.no_grad():
        one.positions.rows()[0].mul_(-1.0)


def of_the_norm(one: TTA) -> None:
    one.embedding_norm.bias = torch.nn.Parameter(torch.linspace(-1, 1, one.config.dim))


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


@pytest.mark.parametrize("kind", [kind for kind in VARIANTS if kind.startswith("tta")])
@pytest.mark.parametrize("normalised", [True, False])
def test_the_sums_are_exact(kind: str, normalised: bool) -> None:
    """Norms with gains and shifts of their own, in float64: equal but for rounding."""
    one, inputs = network(kind).double(), random_inputs(3, 8, [8, 5, 2])
    with torch.no_grad():
        one.embedding_norm.weight.uniform_(0.5, 2.0)
        one.embedding_norm.bias.normal_()
    one.config = replace(one.config, tta=replace(one.config.tta, normalise_inputs=normalised))
    with torch.inference_mode():
        inner = one.represent_inner(*inputs)
    with torch.no_grad():
        plain, _ = one(*inputs)
    torch.testing.assert_close(inner[:, 1:-1], plain[:, 1:-1], atol=1e-12, rtol=1e-10)


@pytest.mark.parametrize(("kind", "queries"), [("tta", 1), ("tta-segments", 2)])
def test_no_key_or_value_is_multiplied_again(kind: str, queries: int) -> None:
    """A second reading has the products of outputs, feed-forwards and later queries alone.

    The first queries are multiplied where positions are of several kinds.
    """
    one, inputs = network(kind), random_inputs(2, 8)
    with torch.inference_mode():
        one.represent_inner(*inputs)
        counts = record_products(lambda: one.represent_inner(*inputs))
    assert len(one.layers) == 2
    assert sum(times for (batch, *_), times in counts.items() if batch == 1) == 3 * 2 + queries


def test_a_score_does_not_depend_on_what_was_read_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens are filled in a block at a time, the same ones together whichever text comes first."""
    monkeypatch.setattr(tta_tables, "BLOCK", 4)
    first, second = random_inputs(2, 8, [8, 5]), random_inputs(2, 8, [8, 7])
    assert not torch.equal(first[0], second[0])
    found = []
    for order in ((first, second), (second, first)):
        one = network()
        with torch.inference_mode():
            read = {id(inputs): one.represent_inner(*inputs) for inputs in order}
        found.append([read[id(first)], read[id(second)]])
    assert all(torch.equal(*pair) for pair in zip(*found, strict=True))


def test_threads_that_read_at_once_have_what_one_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes while rows are made waits for them."""
    monkeypatch.setattr(tta_tables, "BLOCK", 1)
    many = [random_inputs(2, 8, [8, 5]) for _ in range(16)]
    one, other = network(), network()
    with torch.inference_mode():
        expected = [one.represent_inner(*inputs) for inputs in many]

    def read(inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
        with torch.inference_mode():  # of this thread
            return other.represent_inner(*inputs)

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(read, many))
    assert all(torch.equal(*pair) for pair in zip(found, expected, strict=True))


def test_a_table_that_would_be_too_large_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    one, inputs = network(), random_inputs(2, 8, [8, 5])
    monkeypatch.setattr(tta_tables, "LARGEST", 0)
    with torch.inference_mode():
        counts = record_products(lambda: one.represent_inner(*inputs))
        same(one, one.represent_inner(*inputs), inputs)
    assert sum(times for (batch, *_), times in counts.items() if batch == 1) == 6 * len(one.layers)


@pytest.mark.parametrize(
    "change",
    [
        *(by_optimiser, in_place, by_loading, by_another_tensor, by_type),
        *(of_the_first_query, of_a_token, of_a_position, of_the_norm),
    ],
)
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
    assert not [name for name in one.state_dict() if "tables" in name.split(".")[0]]
