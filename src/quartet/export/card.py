"""What an exported folder says of itself, beside the model's own card and tokenizer."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from quartet.config.model import CONFIG, TOKENIZER
from quartet.errors import InputError
from quartet.files import read_card, sha256, write_json

EXPORT = "export.json"

#: An ONNX graph in single precision, one with matrices of 8 bits, or weights in half precision for torch.
Form = Literal["onnx", "onnx-int8", "fp16"]
#: What holds the weights.
FILES: dict[Form, str] = {"onnx": "model.onnx", "onnx-int8": "model.onnx", "fp16": "model.safetensors"}


@dataclass(frozen=True, kw_only=True)
class LogprobDifference:
    """How far log-probabilities are from those of the model that was exported, in nats per token.

    Attributes:
        tokens: compared: of made-up texts of all lengths, whose words come from the vocabulary at random.
        largest, mean: of the absolute differences.
    """

    tokens: int
    largest: float
    mean: float


@dataclass(frozen=True, kw_only=True)
class ExportCard:
    """How an export was made.

    Attributes:
        source: fingerprint of the model, see :class:`quartet.scoring.language_model.LanguageModel`.
        difference: from it, as measured at the export.
        made_with: versions of the packages, by name.
        sha256: of each file, by name.
    """

    form: Form
    source: str
    difference: LogprobDifference
    made_with: dict[str, str]
    sha256: dict[str, str]

    def save(self, folder: Path) -> None:
        """Write it into an existing folder."""
        write_json(folder / EXPORT, dataclasses.asdict(self))


def is_export(folder: Path) -> bool:
    """Whether ``quartet export`` wrote a folder."""
    return (folder / EXPORT).is_file()


def load_export_card(folder: Path) -> ExportCard:
    """Read what a folder says of its export.

    Raises:
        InputError: there is no such file, or it is broken.
    """
    return read_card(ExportCard, folder / EXPORT, "export the model again")


def check_files(folder: Path, card: ExportCard) -> None:
    """Raise where a file is not the one that was exported.

    Raises:
        InputError: a file is absent, damaged, or of another export.
    """
    for name in (CONFIG, TOKENIZER, FILES[card.form]):
        path = folder / name
        if not path.is_file():
            raise InputError(path, "no such file", "export or copy the model again")
        if sha256(path) != card.sha256.get(name):
            raise InputError(path, f"is not the file that {EXPORT} names", "export or copy the model again")
