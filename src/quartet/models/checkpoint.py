"""A trained model as a folder: model.safetensors, best.safetensors, config.json, tokenizer.json."""

from __future__ import annotations

import dataclasses
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from quartet.config.choices import WeightsChoice
from quartet.config.model import CONFIG, TOKENIZER, WEIGHTS, ModelConfig
from quartet.config.training import TrainingConfig
from quartet.errors import InputError
from quartet.files import MANIFEST_VERSION, read_card, write_json
from quartet.models.architectures import build_for
from quartet.models.network import Network
from quartet.text.tokenizer import TextTokenizer


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """What a model is, beside its weights.

    Attributes:
        name: its entry in params.yaml.
        seed: of initialisation, data order, masks and dropout.
        corpus, corpus_words: what it was trained on, and how many words that has.
        steps: optimiser steps done.
        best_step: the step that the best weights are of.
        parameters: trained numbers, each shared one counted once.
        tokenizer: SHA-256 of its tokenizer.json; :func:`save_model` fills it in.
        encoding: SHA-256 of the manifest of the encoded split that it was trained on; empty where that has none.
        version: of the form of config.json.
    """

    name: str
    seed: int
    corpus: str
    corpus_words: int
    steps: int
    best_step: int
    parameters: int
    model: ModelConfig
    training: TrainingConfig
    tokenizer: str = ""
    encoding: str = ""
    version: Literal[1] = MANIFEST_VERSION

    @property
    def scale(self) -> str:
        """One line that goes beside every figure of this model."""
        steps = f"{self.steps:,} steps"
        if self.training.weights == "best":
            steps = f"step {self.best_step:,} of {steps}"
        return (
            f"{self.parameters / 1e6:.2f} M parameters, {steps}, "
            f"{self.corpus} ({self.corpus_words / 1e6:.2f} M words)"
        )


def save_model(
    folder: Path, weights: dict[WeightsChoice, dict[str, Tensor]], card: ModelCard, tokenizer: TextTokenizer
) -> None:
    """Write the four files into an existing folder.

    Args:
        weights: the state of the network at its last and at its best step.
    """
    for which, state in weights.items():
        tensors = {name: tensor.detach().contiguous().cpu() for name, tensor in state.items()}
        save_file(tensors, folder / WEIGHTS[which])
    write_json(folder / CONFIG, dataclasses.asdict(dataclasses.replace(card, tokenizer=tokenizer.sha256)))
    tokenizer.save(folder / TOKENIZER)


def load_card(folder: Path) -> ModelCard:
    """Read config.json.

    Raises:
        InputError: the folder holds no model of ours, or the file is broken.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise InputError(
            folder, "not a trained model: it has no config.json", "name a folder that pretrain wrote"
        )
    return read_card(ModelCard, path, "train or copy the model again")


def load_network(folder: Path, card: ModelCard, tokenizer: TextTokenizer) -> Network:
    """Build the network and fill it with the weights that the card's ``training.weights`` names.

    Raises:
        InputError: the weights are absent, truncated, not finite, or of another shape or type of number than
            config.json and tokenizer.json say; or the tokenizer is not the one that config.json names.
    """
    path = folder / WEIGHTS[card.training.weights]
    if not path.is_file():
        raise InputError(path, "no such file", "train or copy the model again")
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError) as error:
        raise InputError(
            path, f"not a whole safetensors file ({error})", "train or copy the model again"
        ) from error
    there, least = sum(tensor.numel() for tensor in tensors.values()), least_numbers(card.model)
    if there < least:  # before the network is made: it might fill the memory
        raise InputError(
            path,
            f"holds {there:,} numbers, config.json asks for more",
            "the files must come from one training",
        )
    network = build_for(card.model, tokenizer).float()  # whatever torch's default type is
    own = network.state_dict()
    expected = {name: tuple(tensor.shape) for name, tensor in own.items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if expected != found:
        name = min(key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key))
        raise InputError(
            path,
            f"tensor {name} has shape {found.get(name)} where config.json and tokenizer.json need {expected.get(name)}",
            "the files must come from one training",
        )
    if card.tokenizer != tokenizer.sha256:
        raise InputError(
            folder / TOKENIZER,
            f"is the tokenizer {tokenizer.sha256[:12]}, {CONFIG} names {card.tokenizer[:12] or 'none'}",
            "the files must come from one training",
        )
    for name, tensor in tensors.items():
        wrong = tensor.dtype != own[name].dtype
        if wrong or not bool(torch.isfinite(tensor).all()):
            reason = f"is {tensor.dtype}, not {own[name].dtype}" if wrong else "holds NaN or infinity"
            raise InputError(path, f"tensor {name} {reason}", "train or copy the model again")
    network.load_state_dict(tensors)
    return network.eval()


def least_numbers(config: ModelConfig) -> int:
    """How many numbers a network has at least: those of its layers' matrices and of its tables of positions."""
    rows = {"sequence": config.max_length} | dataclasses.asdict(config.maxima)
    absolute = config.architecture != "transformer-xl"
    tables = sum(rows[position] for position in config.positions) if absolute else 0
    return config.dim * (config.layers * (3 * config.dim + 2 * config.inner) + tables)


def copy_model(source: Path, target: Path) -> None:
    """Copy the four files of a model into an existing folder."""
    for name in (*WEIGHTS.values(), CONFIG, TOKENIZER):
        shutil.copyfile(source / name, target / name)
