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
