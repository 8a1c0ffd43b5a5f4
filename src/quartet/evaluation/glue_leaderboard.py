"""Predictions for GLUE's test sets in the files that the leaderboard takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from quartet.evaluation.intervals import Floats
from quartet.evaluation.sets.glue import HIGHEST, LOWEST, TASKS, GlueExample
from quartet.files import atomic_path

#: The files that are not called after their task: MNLI has three test sets.
_MNLI = {"test_matched": "MNLI-m", "test_mismatched": "MNLI-mm", "diagnostic": "AX"}


def file_name(format: str, split: str) -> str | None:
    """``RTE.tsv``, ``MNLI-m.tsv``, ... for a test split; None for a split that the leaderboard does not want."""
    if format == "mnli":
        return f"{_MNLI[split]}.tsv" if split in _MNLI else None
    return f"{TASKS[format].name}.tsv" if split == "test" else None


def write_predictions(path: Path, format: str, examples: Sequence[GlueExample], predicted: Floats) -> None:
    """Write ``index`` TAB ``prediction``, a line an example in the file's order, with a line of names.

    Labels are written as GLUE's files write them, STS-B's scores with three decimals, brought within 0 and 5 as the
    leaderboard wants them.

    Args:
        predicted: (n,) as in :mod:`quartet.evaluation.glue`.

    Raises:
        ValueError: the numbers differ.
    """
    if predicted.shape != (len(examples),):
        raise ValueError(f"{predicted.shape} predictions for {len(examples)} examples")
    labels = TASKS[format].labels
    lines = ["index\tprediction"]
    for example, value in zip(examples, predicted.tolist(), strict=True):
        said = labels[int(value)] if labels else f"{float(np.clip(value, LOWEST, HIGHEST)):.3f}"
        lines.append(f"{example.index}\t{said}")
    with atomic_path(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
