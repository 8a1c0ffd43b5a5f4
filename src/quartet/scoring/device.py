"""Whether a device can be used here, and how much of a text it reads at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import torch

from quartet.errors import InputError

#: What is held at once on a CPU: tokens in a network, padding and memory included, and logits (tokens x vocabulary).
TOKEN_BUDGET, LOGIT_BUDGET = 8192, 1 << 24
#: How many times as much fills a GPU: one layer of 4,096 inner units has a gigabyte of such tokens.
ON_GPU = 8

Item = TypeVar("Item")


def token_budget(device: str) -> int:
    """Tokens that a network holds at once on a device."""
    return TOKEN_BUDGET * _times(device)


def logit_budget(device: str) -> int:
    """Logits that are held at once on a device."""
    return LOGIT_BUDGET * _times(device)


def groups_within(items: Iterable[Item], size: Callable[[Item], int], device: str) -> Iterator[list[Item]]:
    """Items, the largest first, in groups that a network holds at once on a device, each at least one item.

    Args:
        size: tokens of an item, padded as the first of its group.
    """
    order = sorted(items, key=lambda item: -size(item))
    at = 0
    while at < len(order):
        group = order[at : at + max(1, token_budget(device) // size(order[at]))]
        at += len(group)
        yield group


def _times(device: str) -> int:
    return ON_GPU if device.startswith("cuda") else 1


def check_device(device: str) -> None:
    """Raise where nothing can be put on the device.

    Args:
        device: ``cpu`` or ``cuda``.

    Raises:
        InputError: there is no such device.
    """
    check_device_name(device)
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise _refused(device) from error


def check_device_name(device: str) -> None:
    """Raise InputError where PyTorch knows no such device, on whatever machine."""
    try:
        torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise _refused(device) from error


def _refused(device: object) -> InputError:
    return InputError(f"device {device}", "cannot be used here", "take cpu, or cuda where there is a GPU")
