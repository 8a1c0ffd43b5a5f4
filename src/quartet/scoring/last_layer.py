"""The last layer of a BERT of Hugging Face, at one token of each row: what the others would give, nobody asks for.

A masked copy is read for the sake of its hidden token. Up to the last layer the other tokens are needed, as keys and
values; behind it they are not. So the last layer's query, output projection and feed-forward run on one token a row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.scoring.patched_module import with_forward


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
