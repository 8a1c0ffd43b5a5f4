"""Whether a device can be used here."""

from __future__ import annotations

import torch

from quartet.errors import InputError


def check_device(device: str) -> None:
    """Raise where nothing can be put on the device.

    Args:
        device: ``cpu`` or ``cuda``.

    Raises:
        InputError: there is no such device.
    """
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(
            f"device {device}", "cannot be used here", "take cpu, or cuda where there is a GPU"
        ) from error
