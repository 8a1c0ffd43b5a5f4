"""How an exported graph multiplies matrices: in single precision, or with integers of 8 bits.

With integers, weights are rounded once, at the export, each output's row with a scale of its own. Activations are
rounded while the graph runs ("dynamic quantisation"), each token's row by its own largest value: so what a text scores
does not depend on the texts beside it, as it would with one scale a batch. The sums of products are exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from quartet.export.nodes import Nodes

Floats = NDArray[np.float32]

#: ONNX's number of the type of single precision.
FLOAT = 1
#: Rows of the vocabulary whose logits are held at once: with a few hundred tokens they stay in a core's cache.
TILE = 2048
#: The largest magnitude of an 8-bit number that has its negative too.
LARGEST = 127
#: Rounded activations are unsigned, which is what processors multiply fast; this one stands for 0.
ZERO = 128
#: The least scale: of a row of zeros, so that nothing is divided by 0.
LEAST_SCALE = 1e-12


class Arithmetic(ABC):
    """Operations with weights, on rows (N, K) of activations. The token table is in the file once.

    Attributes:
        vocabulary, dim: rows and columns of the token table.
    """

    def __init__(self, nodes: Nodes, table_VD: Floats) -> None:
        self.nodes = nodes
        self.vocabulary, self.dim = table_VD.shape

    @abstractmethod
    def linear(self, rows_NK: str, name: str, weight_MK: Floats, bias_M: Floats) -> str:
        """(N, K) -> (N, M)."""

    @abstractmethod
    def embedded(self, ids_N: str) -> str:
        """(N,) ids -> (N, D), their rows of the token table."""

    @abstractmethod
    def tile(self, rows_ND: str, part: slice) -> str:
        """(N, D) -> (N, part), products with some rows of the token table."""

    @abstractmethod
    def matched(self, rows_ND: str, ids_N: str) -> str:
        """(N, D) and (N,) ids -> (N,), the product of each with one row of the table, rounded as in its tile."""

    def tiles(self) -> Iterator[slice]:
        """The vocabulary in parts of TILE and a rest."""
        for at in range(0, self.vocabulary, TILE):
            yield slice(at, min(at + TILE, self.vocabulary))

    def part(self, constant: str, rows: slice) -> str:
        """Some rows of a constant; runtimes cut them out when they load the graph."""
        nodes = self.nodes
        return nodes.op("Slice", constant, nodes.ints(rows.start), nodes.ints(rows.stop), nodes.ints(0))


class Float32(Arithmetic):
    """The weights as they are."""

    def __init__(self, nodes: Nodes, table_VD: Floats) -> None:
        super().__init__(nodes, table_VD)
        self._table = nodes.constant(table_VD, "tokens")

    def linear(self, rows_NK: str, name: str, weight_MK: Floats, bias_M: Floats) -> str:
        weight = self.nodes.constant(weight_MK, f"{name}.weight")
        bias = self.nodes.constant(bias_M, f"{name}.bias")
        return self.nodes.op("Gemm", rows_NK, weight, bias, transB=1)

    def embedded(self, ids_N: str) -> str:
        return self.nodes.op("Gather", self._table, ids_N)

    def tile(self, rows_ND: str, part: slice) -> str:
        return self.nodes.op("Gemm", rows_ND, self.part(self._table, part), transB=1)

    def matched(self, rows_ND: str, ids_N: str) -> str:
        products = self.nodes.op("Mul", rows_ND, self.embedded(ids_N))
        return self.nodes.op("ReduceSum", products, self.nodes.ints(1), keepdims=0)


class Int8(Arithmetic):
    """Integers of 8 bits, in the standard's own operators."""

    def __init__(self, nodes: Nodes, table_VD: Floats) -> None:
        super().__init__(nodes, table_VD)
        integers_VD, scale_V = quantise(table_VD)
        self._table = nodes.constant(integers_VD, "tokens.int8")
        self._scale_V1 = nodes.constant(scale_V[:, None], "tokens.scale")
        self._zero = nodes.constant(ZERO, dtype=np.uint8)
        self._rounded: dict[str, tuple[str, str]] = {}

    def linear(self, rows_NK: str, name: str, weight_MK: Floats, bias_M: Floats) -> str:
        integers_MK, scale_M = quantise(weight_MK)
        weight_KM = self.nodes.constant(integers_MK.T, f"{name}.int8")
        product = self._product(rows_NK, weight_KM, self.nodes.constant(scale_M, f"{name}.scale"))
        return self.nodes.op("Add", product, self.nodes.constant(bias_M, f"{name}.bias"))

    def embedded(self, ids_N: str) -> str:
        rows = self._float(self.nodes.op("Gather", self._table, ids_N))
        return self.nodes.op("Mul", rows, self.nodes.op("Gather", self._scale_V1, ids_N))

    def tile(self, rows_ND: str, part: slice) -> str:
        weight_DV = self.nodes.op("Transpose", self.part(self._table, part), perm=[1, 0])
        scale_V = self.nodes.op("Squeeze", self.part(self._scale_V1, part), self.nodes.ints(1))
        return self._product(rows_ND, weight_DV, scale_V)

    def matched(self, rows_ND: str, ids_N: str) -> str:
        integers, scale_N1 = self._integers(rows_ND)
        rounded = self.nodes.op("Sub", self._float(integers), self.nodes.constant(ZERO, dtype=np.float32))
        products = self.nodes.op("Mul", self.nodes.op("Mul", rounded, scale_N1), self.embedded(ids_N))
        return self.nodes.op("ReduceSum", products, self.nodes.ints(1), keepdims=0)

    def _product(self, rows_NK: str, weight_KM: str, scale_M: str) -> str:
        """(N, M), the sums of integers times both scales."""
        integers, scale_N1 = self._integers(rows_NK)
        sums = self._float(self.nodes.op("MatMulInteger", integers, weight_KM, self._zero))
        return self.nodes.op("Mul", self.nodes.op("Mul", sums, scale_N1), scale_M)

    def _integers(self, rows_NK: str) -> tuple[str, str]:
        """Rows as unsigned integers around `ZERO`, and the scale (N, 1) of each; made once for all that read them."""
        if rows_NK not in self._rounded:
            nodes = self.nodes
            largest_N1 = nodes.op("ReduceMax", nodes.op("Abs", rows_NK), nodes.ints(1), keepdims=1)
            scale_N1 = nodes.op("Div", largest_N1, nodes.constant(LARGEST, dtype=np.float32))
            scale_N1 = nodes.op("Max", scale_N1, nodes.constant(LEAST_SCALE, dtype=np.float32))
            scale_N = nodes.op("Squeeze", scale_N1, nodes.ints(1))
            zero_N = nodes.op("Expand", self._zero, nodes.op("Shape", scale_N))
            self._rounded[rows_NK] = nodes.op("QuantizeLinear", rows_NK, scale_N, zero_N, axis=0), scale_N1
        return self._rounded[rows_NK]

    def _float(self, value: str) -> str:
        return self.nodes.op("Cast", value, to=FLOAT)


def quantise(weight_NK: Floats) -> tuple[NDArray[np.int8], Floats]:
    """(N, K) weights as integers of -127 to 127 and (N,) scales: integer * scale is the weight, to half a scale."""
    scale_N = np.maximum(np.abs(weight_NK).max(axis=1) / LARGEST, LEAST_SCALE).astype(np.float32)
    integers_NK: NDArray[np.int8] = np.rint(weight_NK / scale_N[:, None]).astype(np.int8)
    return integers_NK, scale_N


def log_sum(nodes: Nodes, logits_NV: str) -> str:
    """(N, 1), the log of the sum of exponentials.

    It is taken from the log-softmax of the first column: a runtime has one fused kernel for that, where onnxruntime's
    own ReduceLogSumExp takes longer than the matrix product before it.
    """
    first = (nodes.ints(0), nodes.ints(1), nodes.ints(1))
    softmax_NV = nodes.op("LogSoftmax", logits_NV, axis=1)
    return nodes.op("Sub", nodes.op("Slice", logits_NV, *first), nodes.op("Slice", softmax_NV, *first))
