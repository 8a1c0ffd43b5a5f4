"""Readers of N-best files by the name of their format; a new one is a file here and a line in `READERS`.

A reader takes a path and gives every list of the file, in the file's order. It never guesses: what is
malformed raises `quartet.errors.InputError` that names the file, the utterance or line, and the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from quartet.nbest.formats import jsonl, mlm_scoring
from quartet.nbest.types import NBest

READERS: dict[str, Callable[[Path], list[NBest]]] = {
    "mlm-scoring": mlm_scoring.read,
    "jsonl": jsonl.read,
}
