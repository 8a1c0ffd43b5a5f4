"""Readers of the published evaluation sets: their well-known files, and the hub's tables, as typed examples.

A kind of set is one file here with its example type and its formats, and a line in `KINDS`.
"""

from __future__ import annotations

from typing import Any

from quartet.evaluation.sets import blimp, glue, nli, race, squad, sts
from quartet.evaluation.sets.format import Format

__all__ = ["KINDS", "Format"]

KINDS: dict[str, dict[str, Format[Any]]] = {
    "sts": dict(sts.FORMATS),
    "glue": dict(glue.FORMATS),
    "nli": dict(nli.FORMATS),
    "squad": dict(squad.FORMATS),
    "race": dict(race.FORMATS),
    "blimp": dict(blimp.FORMATS),
}
