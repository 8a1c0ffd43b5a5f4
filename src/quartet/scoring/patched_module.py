"""A module of others in which one part computes something else, without a change to the module.

Threads share a model. What one of them set in it, even for the time of a call, the others would meet.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from torch import nn


def with_forward(module: Any, path: str, forward: Callable[..., Any]) -> Any:
    """A copy of `module` that runs `forward` in the place of one part, and shares everything else with it.

    The modules on the way to the part are copied, without their parameters and buffers: that takes microseconds.

    Args:
        module: of torch.
        path: of the part, as `named_modules` gives it; nothing: the module itself.
        forward: called as the part's own.
    """
    copied = copy.copy(module)
    if not path:
        copied.__dict__["forward"] = forward
        return copied
    name, _, rest = path.partition(".")
    part = with_forward(module._modules[name], rest, forward)
    copied.__dict__["_modules"] = {**module._modules, name: part}
    return copied


def path_of(module: Any, part: nn.Module) -> str:
    """Where a part is.

    Raises:
        ValueError: the module has no such part.
    """
    for path, each in module.named_modules():
        if each is part:
            return str(path)
    raise ValueError(f"{type(module).__name__} has no such part")


def sets_positions(module: nn.Module) -> bool:
    """Whether rotary positions are set while it runs, by the length of the input (``longrope``, ``dynamic``)."""
    return any(_sets_itself(part) for part in module.modules())


def with_own_positions(module: Any) -> Any:
    """A copy whose rotary positions are its own, where the module sets them while it runs."""
    for path, part in list(module.named_modules()):
        if _sets_itself(part):
            own = copy.copy(part)
            own.__dict__["_buffers"] = {
                name: buffer if buffer is None else buffer.clone() for name, buffer in part._buffers.items()
            }
            module = with_forward(module, path, own.forward)
    return module


def _sets_itself(part: nn.Module) -> bool:
    return getattr(part, "rope_type", "default") != "default"
