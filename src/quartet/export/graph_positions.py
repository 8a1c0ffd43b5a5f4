"""Where tokens stand, in an exported graph: position vectors, who may see whom, and which places are asked about."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from quartet.config.model import POSITIONS, ModelConfig, Position
from quartet.export.arithmetic import Floats
from quartet.export.nodes import Nodes
from quartet.text.tokenizer import SPECIALS, UNKNOWN_ID

#: ONNX's number of the type of ids.
INT64 = 7


class GraphPositions:
    """What follows from the inputs and the position tables. Shape letters as in :mod:`quartet.export.graph`.

    Attributes:
        ids_R: the token ids.
        real_B1S: which keys there are.
        shared: the positions are the same in every row of the batch, since only the sequence index counts.
    """

    def __init__(self, nodes: Nodes, config: ModelConfig, state: Mapping[str, Floats]) -> None:
        """Args:
        state: the network's tensors, of which the position tables are taken.
        """
        self.nodes = nodes
        self.config = config
        self.shared = config.positions == ("sequence",)
        self._state = state
        self._shape_2 = nodes.op("Shape", "ids")
        self._length_1 = nodes.op("Slice", self._shape_2, nodes.ints(1), nodes.ints(2))
        length = nodes.op("Squeeze", self._length_1, nodes.ints(0))
        self._places_T = nodes.op("Range", nodes.number(0), length, nodes.number(1))
        self.ids_R = nodes.op("Reshape", "ids", nodes.ints(-1))
        self.real_B1S = nodes.op("Unsqueeze", "real", nodes.ints(1))

    def shape(self, *sizes: int, shared: bool = False) -> str:
        """The shape (B, T, sizes), or (1, T, sizes) of what is shared by the batch."""
        if shared:
            return self.nodes.op(
                "Concat", self.nodes.ints(1), self._length_1, self.nodes.ints(*sizes), axis=0
            )
        return self.nodes.op("Concat", self._shape_2, self.nodes.ints(*sizes), axis=0)

    def positions(self) -> str:
        """(R, D), or (T, D) where they are shared: :class:`quartet.models.positions.AbsolutePositions`."""
        if self.shared:
            return self.nodes.op("Gather", self._table("sequence"), self._places_T)
        kinds = [kind for kind in POSITIONS if kind in self.config.positions]
        total, *others = [self.nodes.op("Gather", self._table(kind), self._index(kind)) for kind in kinds]
        for other in others:
            total = self.nodes.op("Add", total, other)
        return self.nodes.op("Reshape", total, self.nodes.ints(-1, self.config.dim))

    def in_rows(self, vectors: str) -> str:
        """What :meth:`positions` gave, or was made of it, as (R, D)."""
        if not self.shared:
            return vectors
        expanded_BTD = self.nodes.op("Expand", vectors, self.shape(self.config.dim))
        return self.nodes.op("Reshape", expanded_BTD, self.nodes.ints(-1, self.config.dim))

    def others(self) -> str:
        """(T, S) True where the key is another token than the query."""
        return self.nodes.op("Not", self.nodes.op("Equal", *self._pairs(self._places_T, 1)))

    def other_words(self, continues_V: NDArray[np.bool_]) -> str:
        """(B, T, S) True where the key's token is of another word, as :meth:`quartet.models.tta.TTA.others` has it."""
        nodes = self.nodes
        starts_BT = nodes.op("Gather", nodes.constant(~continues_V, "starts_V"), "ids")
        known_BT = nodes.op("GreaterOrEqual", "ids", nodes.number(len(SPECIALS)))
        own_BT = nodes.op("Or", known_BT, nodes.op("Equal", "ids", nodes.number(UNKNOWN_ID)))
        before_BT = nodes.op("Slice", own_BT, nodes.ints(0), nodes.ints(-1), nodes.ints(1))
        later_BT = nodes.op("Slice", starts_BT, nodes.ints(1), self._length_1, nodes.ints(1))
        first_B1 = nodes.op("Slice", starts_BT, nodes.ints(0), nodes.ints(1), nodes.ints(1))
        starts_BT = nodes.op("Concat", first_B1, nodes.op("Or", later_BT, nodes.op("Not", before_BT)), axis=1)
        words_BT = nodes.op("CumSum", nodes.op("Cast", starts_BT, to=INT64), nodes.number(1))
        return nodes.op("Not", nodes.op("Equal", *self._pairs(words_BT, 2)))

    def earlier(self) -> str:
        """(T, S) True where the key is the query's own place or before it."""
        query_T1, key_1S = self._pairs(self._places_T, 1)
        return self.nodes.op("GreaterOrEqual", query_T1, key_1S)

    def mask(self, allowed: str) -> str:
        """0 where a query may look and minus infinity where not."""
        nothing, never = (self.nodes.constant(value, dtype=np.float32) for value in (0, -np.inf))
        return self.nodes.op("Where", allowed, nothing, never)

    def asked(self) -> tuple[str, str]:
        """(N,) the places that are asked about, counted in R, and (R,) the targets."""
        targets_R = self.nodes.op("Reshape", "targets", self.nodes.ints(-1))
        places_1N = self.nodes.op("NonZero", self.nodes.op("GreaterOrEqual", targets_R, self.nodes.number(0)))
        return self.nodes.op("Squeeze", places_1N, self.nodes.ints(0)), targets_R

    def spread(self, values_N: str, asked_N: str) -> str:
        """(B, T) the values at their places, 0 elsewhere."""
        zeros_R = self.nodes.op("ConstantOfShape", self.nodes.op("Shape", self.ids_R))
        values_R = self.nodes.op("ScatterElements", zeros_R, asked_N, values_N, axis=0)
        return self.nodes.op("Reshape", values_R, self._shape_2)

    def _pairs(self, values: str, axis: int) -> tuple[str, str]:
        """Values as queries and as keys, which broadcast to all pairs along `axis` and the one before it."""
        query = self.nodes.op("Unsqueeze", values, self.nodes.ints(axis))
        return query, self.nodes.op("Unsqueeze", values, self.nodes.ints(axis - 1))

    def _table(self, kind: Position) -> str:
        return self.nodes.constant(self._state[f"positions.tables.{kind}.weight"], f"positions.{kind}")

    def _index(self, kind: Position) -> str:
        """(B, T) rows of a kind's table; what is over its maximum is brought down as in the models' positions.py."""
        nodes, maxima = self.nodes, self.config.maxima
        index_BT = nodes.op("Gather", "positions", nodes.number(POSITIONS.index(kind)), axis=2)
        last = nodes.number(len(self._state[f"positions.tables.{kind}.weight"]) - 1)
        released = maxima.overflow == "released"
        if maxima.overflow == "restart" and kind == "paragraph":
            restarted_BT = nodes.op("Sub", index_BT, self._first(index_BT))
            index_BT = nodes.op("Max", restarted_BT, nodes.number(0))
        if not self.config.causal and (not released or kind == "paragraph"):
            largest_B1 = nodes.op("ReduceMax", index_BT, nodes.ints(1), keepdims=1)
            excess_B1 = nodes.op("Max", nodes.op("Sub", largest_B1, last), nodes.number(0))
            if released:
                excess_B1 = nodes.op("Min", excess_B1, self._first(index_BT))
            index_BT = nodes.op("Max", nodes.op("Sub", index_BT, excess_B1), nodes.number(0))
        return nodes.op("Min", index_BT, last)

    def _first(self, values_BT: str) -> str:
        """(B, 1) the values of the first tokens."""
        return self.nodes.op("Slice", values_BT, self.nodes.ints(0), self.nodes.ints(1), self.nodes.ints(1))
