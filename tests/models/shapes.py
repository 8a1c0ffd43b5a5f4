"""Small configurations and batches that the tests of models share."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from quartet.config.model import ModelConfig
from quartet.text.tokenizer import SPECIALS

VOCABULARY = 23

#: Overrides that turn the small encoder into each of the house's models.
KINDS: dict[str, dict[str, Any]] = {
    "unilm": {"objective": "clm"},
    "bilm": {"objective": "mlm"},
    "tta": {"objective": "lae", "architecture": "tta"},
    "segabert": {"objective": "mlm", "reads": "spans", "positions": ["token", "sentence", "paragraph"]},
    "tta-segments": {
        "objective": "lae",
        "architecture": "tta",
        "reads": "spans",
        "positions": ["token", "sentence", "paragraph"],
    },
    "transformer-xl": {
        "objective": "clm",
        "architecture": "transformer-xl",
        "reads": "streams",
        "head": "tied",
        "max_length": 8,
    },
    "segatron-xl": {
        "objective": "clm",
        "architecture": "transformer-xl",
        "reads": "streams",
        "head": "tied",
        "max_length": 8,
        "positions": ["token", "sentence", "paragraph"],
    },
}

#: The same, and what their settings make of them.
VARIANTS: dict[str, dict[str, Any]] = {
    **KINDS,
    "tta-word": {**KINDS["tta"], "tta": {"mask": "word"}},
    "tta-mask-token": {**KINDS["tta"], "tta": {"first_query": "mask_token"}},
    "segatron-xl-adaptive": {**KINDS["segatron-xl"], "adaptive": {"cutoffs": [10, 16], "div_val": 2}},
    "segatron-xl-reset": {**KINDS["segatron-xl"], "recurrence": {"index": "reset"}},
    "segatron-xl-released": {**KINDS["segatron-xl"], "recurrence": {"offset": "released"}},
}


def small(**changes: Any) -> ModelConfig:
    settings: dict[str, Any] = {
        "objective": "mlm",
        "architecture": "encoder",
        "reads": "sentences",
        "positions": ["sequence"],
        "layers": 2,
        "dim": 24,
        "heads": 2,
        "inner": 32,
        "dropout": 0.0,
        "max_length": 16,
    }
    return ModelConfig(**{**settings, **changes})


def random_inputs(rows: int, width: int, lengths: list[int] | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Ids of ordinary tokens, rising positions of all four kinds, and which tokens are real."""
    ids_BT = torch.randint(len(SPECIALS), VOCABULARY, (rows, width))
    sequence_BT = torch.arange(width).expand(rows, width)
    sentence_BT = (torch.rand(rows, width) < 0.3).long().cumsum(1)
    paragraph_BT = sentence_BT // 2
    positions_BTP = torch.stack([sequence_BT, sequence_BT, sentence_BT, paragraph_BT], dim=-1)
    ends = torch.tensor(lengths if lengths is not None else [width] * rows)
    real_BT = torch.arange(width) < ends[:, None]
    return ids_BT.masked_fill(~real_BT, 0), positions_BTP, real_BT
