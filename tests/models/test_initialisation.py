"""The first values of every network: noise of one width in each matrix, and nothing in any bias."""

from __future__ import annotations

import pytest
import torch

from quartet.models.architectures import build
from quartet.models.network import Network
from tests.models.shapes import VARIANTS, VOCABULARY, small

#: Parameters whose first value is 1: the gains of the normalisations.
GAINS = ("norm.weight",)


def network_of(kind: str, init_std: float) -> Network:
    torch.manual_seed(1)
    continues_V = torch.arange(VOCABULARY) % 3 == 0
    return build(
        small(**{**VARIANTS[kind], "dim": 48, "inner": 96, "init_std": init_std}), VOCABULARY, continues_V
    )


@pytest.mark.parametrize("kind", VARIANTS)
@pytest.mark.parametrize("init_std", [0.02, 0.3])
def test_matrices_are_noise_and_biases_nothing(kind: str, init_std: float) -> None:
    counted = {"matrices": 0, "biases": 0, "gains": 0}
    for name, parameter in network_of(kind, init_std).state_dict().items():
        if parameter.dim() > 1:
            counted["matrices"] += 1
            error = 4 * init_std / parameter.numel() ** 0.5  # four times the standard error of the mean
            assert abs(float(parameter.mean())) < error, name
            assert float(parameter.std()) == pytest.approx(
                init_std, rel=4 / (2 * parameter.numel()) ** 0.5
            ), name
        elif name.endswith(GAINS) or float(parameter.abs().sum()) > 0:
            counted["gains"] += 1
            assert torch.equal(parameter, torch.ones_like(parameter)), name
        else:
            counted["biases"] += 1
            assert "bias" in name, name
    assert all(counted.values()), counted


def test_the_first_values_are_those_of_the_generator() -> None:
    one, again = network_of("bilm", 0.1), network_of("bilm", 0.1)
    for name, parameter in one.state_dict().items():
        assert torch.equal(parameter, again.state_dict()[name]), name
