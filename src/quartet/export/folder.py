"""An exported folder, opened; and weights in half precision: half of the file, single precision again in memory."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from quartet.config.model import TOKENIZER
from quartet.errors import InputError
from quartet.export.card import FILES, ExportCard, check_files, load_export_card
from quartet.export.scorer import ExportedLM, open_session
from quartet.models.architectures import build_for
from quartet.models.checkpoint import ModelCard, load_card
from quartet.models.network import Network
from quartet.scoring.device import check_device
from quartet.scoring.engine import as_pickled
from quartet.scoring.language_model import LanguageModel
from quartet.text.tokenizer import TextTokenizer


def load_export(folder: str | Path, device: str = "cpu") -> LanguageModel | ExportedLM:
    """Open what ``quartet export`` wrote.

    Args:
        device: ``cpu``, or ``cuda`` for weights in half precision. A graph takes as many threads as torch does.

    Raises:
        InputError: the folder holds no export, one of its files is not the one that was exported, the form does not
            run on the device, or onnxruntime is needed and not installed.
    """
    folder = Path(folder)
    made = load_export_card(folder)
    check_files(folder, made)
    return open_files(folder, made, device)


def reopen_export(folder: Path, fingerprint: str) -> LanguageModel | ExportedLM:
    """The export that was pickled, from its folder.

    Raises:
        InputError: as :func:`load_export`, or it is another one.
    """
    return as_pickled(load_export(folder), folder, fingerprint)


def open_files(folder: Path, made: ExportCard, device: str = "cpu") -> LanguageModel | ExportedLM:
    """As :func:`load_export`, of files that are known to be right."""
    card, tokenizer = load_card(folder), TextTokenizer.load(folder / TOKENIZER)
    path = folder / FILES[made.form]
    if made.form == "fp16":
        check_device(device)
        return LanguageModel(read_half(path, card, tokenizer), tokenizer, card, device)
    if device != "cpu":
        raise InputError(
            f"device {device}", "an exported graph computes on the CPU", "take cpu, or an export with --fp16"
        )
    return ExportedLM(open_session(path), tokenizer, card, made, folder)


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
    network = build_for(card.model, tokenizer).float()  # whatever torch's default type is
    network.load_state_dict({name: tensor.float() for name, tensor in load_file(path).items()})
    return network.eval()
