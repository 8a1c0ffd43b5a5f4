"""A module of others in which one part computes something else, without a change to the module.

Threads share a model. What one of them set in it, even for the time of a call, the others would meet.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


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


def last_layer(body: nn.Module) -> nn.Module | None:
    """The last layer of `body` if it is built like BERT's (RoBERTa's and ELECTRA's are), else None.

    Whether it computes what BERT's does is for the caller to try.
    """
    layers = getattr(getattr(body, "encoder", None), "layer", None)
    if not isinstance(layers, nn.ModuleList) or not len(layers):
        return None
    layer = layers[-1]
    parts = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output")
    try:
        for name in (*parts, "intermediate", "output"):
            layer.get_submodule(name)
    except AttributeError:
        return None
    heads = getattr(layer.get_submodule("attention.self"), "num_attention_heads", None)
    return layer if isinstance(heads, int) else None


def at_places(body: Any, layer: nn.Module, places_B: Tensor) -> Any:
    """The body, its weights shared, with a last layer that returns (B, 1, D): its output at one place of each row.

    Nothing may be masked.

    Args:
        layer: of :func:`last_layer`.
        places_B: which token of each row.
    """
    path = f"encoder.layer.{len(body.encoder.layer) - 1}"
    return with_forward(body, path, _forward(layer, places_B))


def _forward(layer: Any, places_B: Tensor) -> Callable[..., Tensor]:
    attention = layer.attention.self

    def heads_BHTd(projected_BTD: Tensor) -> Tensor:
        split_BHTd: Tensor = projected_BTD.unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)
        return split_BHTd

    def forward(hidden_BTD: Tensor, *_: object, **__: object) -> Tensor:
        rows_B = torch.arange(len(hidden_BTD), device=hidden_BTD.device)
        asked_B1D = hidden_BTD[rows_B, places_B][:, None]
        gathered_BH1d = F.scaled_dot_product_attention(
            heads_BHTd(attention.query(asked_B1D)),
            heads_BHTd(attention.key(hidden_BTD)),
            heads_BHTd(attention.value(hidden_BTD)),
        )
        attended_B1D = layer.attention.output(gathered_BH1d.transpose(1, 2).flatten(2), asked_B1D)
        output_B1D: Tensor = layer.output(layer.intermediate(attended_B1D), attended_B1D)
        return output_B1D

    return forward
