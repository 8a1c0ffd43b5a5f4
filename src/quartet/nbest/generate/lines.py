"""A JSON object as a file with an entry a line, so that a person can read it and a difference shows where it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quartet.files import atomic_path

#: Decimals of a log-probability: beyond them the network's own arithmetic differs between batches.
DECIMALS = 6


def write_entries(path: Path, entries: Mapping[str, Any]) -> None:
    """Write an object, an entry a line in its order, atomically; the same entries give the same bytes.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    rows = (
        f"{json.dumps(name)}: {json.dumps(entry, ensure_ascii=False, allow_nan=False)}"
        for name, entry in entries.items()
    )
    with atomic_path(path) as temporary:
        temporary.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
