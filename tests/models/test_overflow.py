"""Indices over their maxima, by hand, as each way of `maxima.overflow` brings them down."""

from __future__ import annotations

import pytest
import torch

from quartet.config.model import Position
from quartet.models.positions import AbsolutePositions
from tests.models.shapes import KINDS, small

#: With maxima of 4, the indices of one input -> the rows of the tables by the way of bringing them down.
RELEASED, PAPER, RESTART = "released", "paper", "restart"
ROWS: list[tuple[str, Position, list[int], list[int]]] = [
    (RELEASED, "paragraph", [2, 3, 4, 5], [0, 1, 2, 3]),
    (RELEASED, "sentence", [2, 3, 4, 5], [2, 3, 3, 3]),
    (RELEASED, "token", [2, 3, 4, 5], [2, 3, 3, 3]),
    (RELEASED, "paragraph", [1, 2, 5], [0, 1, 3]),
    (PAPER, "paragraph", [2, 3, 4, 5], [0, 1, 2, 3]),
    (PAPER, "sentence", [2, 3, 4, 5], [0, 1, 2, 3]),
    (PAPER, "token", [0, 4, 5], [0, 2, 3]),
    (RESTART, "paragraph", [2, 3, 4, 5], [0, 1, 2, 3]),
    (RESTART, "paragraph", [2, 3], [0, 1]),
    (RESTART, "sentence", [2, 3], [2, 3]),
]
COLUMNS: dict[Position, int] = {"sequence": 0, "token": 1, "sentence": 2, "paragraph": 3}


@pytest.mark.parametrize(("overflow", "kind", "indices", "rows"), ROWS)
def test_rows_by_hand(overflow: str, kind: Position, indices: list[int], rows: list[int]) -> None:
    maxima = {"token": 4, "sentence": 4, "paragraph": 4, "overflow": overflow}
    positions = AbsolutePositions(small(**{**KINDS["segabert"], "maxima": maxima}))
    tables = positions.tables
    with torch.no_grad():
        for name, table in tables.items():  # a row is its number in the kind that is tried, and else nothing
            numbers_R1 = torch.arange(len(table.weight), dtype=torch.float)[:, None]
            table.weight.copy_(numbers_R1.expand_as(table.weight) * (name == kind))
    positions_BTP = torch.zeros(1, len(indices), 4, dtype=torch.long)
    positions_BTP[0, :, COLUMNS[kind]] = torch.tensor(indices)
    assert positions(positions_BTP)[0, :, 0].tolist() == rows
