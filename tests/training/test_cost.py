"""What is said of a training before it is run is what it then reads, and keeps in memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from quartet.config.training import BatchBy, TrainingConfig
from quartet.kernels.linear import has_onednn
from quartet.models.architectures import build
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training import cost, randomness
from quartet.training.fit import fit
from quartet.training.optim import build_optimiser
from tests.models.shapes import KINDS, VARIANTS, VOCABULARY, small

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


def linear_operations(x_shape: Sequence[int], weight_shape: Sequence[int], *_: object, **__: object) -> int:
    """Of x (..., I) times W (O, I): one multiplication and one addition per row, input and output."""
    return 2 * math.prod(x_shape) * weight_shape[0]


#: oneDNN's products, which `quartet.kernels.linear` takes and torch's counter does not know.
ONEDNN = {torch.ops.mkldnn._linear_pointwise: linear_operations} if has_onednn() else {}
TRAINING = TrainingConfig(steps=12, batch_size=4, learning_rate=1e-3, validate_every=6)


@pytest.mark.parametrize(("kind", "batch_by"), [*((kind, "tokens") for kind in KINDS), ("bilm", "sentences")])
def test_it_reads_what_was_said(small_corpus: Small, kind: str, batch_by: BatchBy, tmp_path: Path) -> None:
    tokenizer, splits = small_corpus
    config = small(**KINDS[kind])
    training = replace(TRAINING, batch_by=batch_by)
    said, validated = cost.read_counts(
        config, training, tokenizer.vocab_size, (tokenizer, splits["train"], splits["valid"])
    )
    found = fit(
        config, training, tokenizer, splits["train"], splits["valid"], seed=3, resume=tmp_path / "a.ckpt"
    )
    assert said.tokens == pytest.approx(found.tokens, rel=0.1)
    assert said.targets == pytest.approx(found.work.targets, rel=0.1)
    assert said.pairs == pytest.approx(found.work.pairs, rel=0.15)
    assert validated.targets == pytest.approx(2 * found.targets, rel=0.1)


def test_without_a_corpus_inputs_are_full() -> None:
    training = TrainingConfig(
        steps=12, batch_size=4, learning_rate=1e-3, validate_every=5, validation_batches=2
    )
    said, validated = cost.read_counts(small(**KINDS["bilm"]), training, VOCABULARY, None)
    assert said == cost.ReadCounts(12 * 4 * 16, 12 * 4 * 2, 12 * 4 * 16**2), "15 % of 14 tokens are 2"
    assert validated.tokens == 3 * 2 * 4 * 16, "after steps 5, 10 and 12"


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.endswith("xl")])
def test_the_operations_are_those_that_torch_counts(kind: str) -> None:
    config = small(**KINDS[kind])
    training = TrainingConfig(steps=1, batch_size=4, learning_rate=1e-3, validate_every=1)
    read, _ = cost.read_counts(config, training, VOCABULARY, None)
    objective = cost.objective_of(config, training)
    labelled = objective.label(
        cost._full(config, 4), VOCABULARY, randomness.rows(0, randomness.CORRUPTION, 0)
    )
    network = build(config, VOCABULARY, torch.zeros(VOCABULARY, dtype=torch.bool))
    counter = partial(FlopCounterMode, display=False, custom_mapping=ONEDNN)
    with counter() as training_step, sdpa_kernel(SDPBackend.MATH):
        objective.loss(network, labelled, None)[0].backward()
    with counter() as validation, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        objective.loss(network, labelled, None)
    assert read.flops(config, VOCABULARY) == training_step.get_total_flops()
    assert cost.validation_flops(read, config, VOCABULARY) == validation.get_total_flops()


@pytest.mark.parametrize("kind", VARIANTS)
def test_the_size_is_the_networks(kind: str) -> None:
    config = small(**VARIANTS[kind])
    network = build(config, VOCABULARY, torch.zeros(VOCABULARY, dtype=torch.bool))
    assert cost.parameters(config, VOCABULARY) == network.parameter_count


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("kind", VARIANTS)
def test_activations_grow_with_layers_and_rows(kind: str, precision: str) -> None:
    """What one and two layers keep says what five keep."""
    config = small(**{**VARIANTS[kind], "layers": 5, "dropout": 0.1})
    training = TrainingConfig(steps=1, batch_size=8, learning_rate=1e-3, precision=precision)
    kept = cost._kept(config, training, VOCABULARY, 6)
    assert cost.activations(config, training, VOCABULARY, 6) == pytest.approx(kept, rel=0.05)


def test_the_moments_are_what_the_optimiser_keeps() -> None:
    config = small(**KINDS["tta"])
    network = build(config, VOCABULARY, torch.zeros(VOCABULARY, dtype=torch.bool))
    optimiser, _ = build_optimiser(network, TRAINING)
    for parameter in network.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimiser.step()
    kept = [tensor for state in optimiser.state.values() for tensor in state.values() if tensor.dim()]
    said = cost.memory(config, TRAINING, VOCABULARY, 2, 1)
    assert said.moments == sum(tensor.numel() * tensor.element_size() for tensor in kept)


def test_sharded_weights_are_divided() -> None:
    config = small(**KINDS["tta"])
    alone, shared = (cost.memory(config, TRAINING, VOCABULARY, 2, shares) for shares in (1, 4))
    size = cost.parameters(config, VOCABULARY)
    assert (alone.weights, alone.gradients, alone.moments, alone.gathered) == (
        4 * size,
        4 * size,
        8 * size,
        0,
    )
    assert (shared.weights, shared.gradients, shared.moments) == (size, size, 2 * size)
    assert 0 < shared.gathered < 8 * size and shared.activations == alone.activations
    assert alone.total == 16 * size + alone.activations
