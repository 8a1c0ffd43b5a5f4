"""Weights in half precision: half of the file, and single precision again in memory."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from quartet.errors import InputError
from quartet.models.architectures import build_for
from quartet.models.checkpoint import ModelCard
from quartet.models.network import Network
from quartet.text.tokenizer import TextTokenizer


def write_half(network: Network, path: Path) -> None:
    """Write the weights of a network, each rounded to 11 significant bits.

    Raises:
        InputError: a weight is larger than half precision holds (65,504).
    """
    tensors = {}
    for name, tensor in network.state_dict().items():
        tensors[name] = tensor.half().contiguous()
        if not torch.isfinite(tensors[name]).all():
            raise InputError(
                f"tensor {name}", "has values that half precision cannot hold", "export it with --onnx"
            )
    save_file(tensors, path)


def read_half(path: Path, card: ModelCard, tokenizer: TextTokenizer) -> Network:
    """The network of such a file, which is known to be whole and to belong to its card and tokenizer."""
    network = build_for(card.model, tokenizer)
    network.load_state_dict({name: tensor.float() for name, tensor in load_file(path).items()})
    return network.eval()
