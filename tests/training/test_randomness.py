"""PyTorch's generators: restarted as by `torch.manual_seed`, without what that leaves behind at every call."""

from __future__ import annotations

import torch

from quartet.training import randomness


def test_it_draws_what_the_seed_of_the_step_draws() -> None:
    randomness.restart(7, randomness.DROPOUT, step=3, part=1)
    drawn = torch.rand(5)
    torch.manual_seed(randomness.seed_of(7, randomness.DROPOUT, 3, 1))
    assert torch.equal(drawn, torch.rand(5))
    randomness.restart(7, randomness.DROPOUT, step=4, part=1)
    assert not torch.equal(drawn, torch.rand(5))


def test_a_step_on_a_cpu_queues_nothing_for_a_gpu_that_is_never_used() -> None:
    randomness.restart(1, randomness.DROPOUT)
    before = len(torch.cuda._queued_calls)
    for step in range(3):
        randomness.restart(1, randomness.DROPOUT, step)
    assert len(torch.cuda._queued_calls) == before
