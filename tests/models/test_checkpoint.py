"""The weights of a folder are weighed before a network of the card's sizes is made."""

from __future__ import annotations

import pytest
import torch

from quartet.models.architectures import build
from quartet.models.checkpoint import least_numbers
from tests.models.shapes import VARIANTS, VOCABULARY, small


@pytest.mark.parametrize("kind", VARIANTS)
def test_every_network_has_at_least_so_many_numbers(kind: str) -> None:
    config = small(**VARIANTS[kind])
    network = build(config, VOCABULARY, torch.zeros(VOCABULARY, dtype=torch.bool))
    there = sum(tensor.numel() for tensor in network.state_dict().values())
    assert 0.3 * there < least_numbers(config) <= there
