"""Keys, values and first queries of T-TA looked up: as its inputs are isolated, no text is needed to know them.

The plain twin is the network's own forward pass, which multiplies them: `ProjectionTables` gives None
where that is to be taken.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.kernels import is_plain
from quartet.kernels.linear import product

#: Bytes that the tokens' rows may have when every token has been seen; a larger model multiplies as it reads.
LARGEST = 512 * 2**20
#: Tokens whose rows are made at once. Always the same ones together, so that a score does not depend on what was read
#: before it.
BLOCK = 64


class ProjectionMaps(Protocol):
    """What an attention makes queries, keys and values by."""

    @property
    def query(self) -> nn.Linear: ...

    @property
    def key(self) -> nn.Linear: ...

    @property
    def value(self) -> nn.Linear: ...


class PositionTables(Protocol):
    """The tables of positions."""

    def rows(self) -> list[Tensor]:
        """(rows, D) each."""


@dataclass(frozen=True)
class ProjectionInputs:
    """What keys and values are made of: W norm(x + p) + b for a token's row x, its positions' rows p, and the maps.

    Attributes:
        first_query: of the positions' sums (..., D), and of no token that is read.
    """

    tokens: nn.Module
    vocabulary: int
    positions: PositionTables
    norm: nn.LayerNorm | None
    first_query: Callable[[Tensor], Tensor]
    attentions: Sequence[ProjectionMaps]

    @property
    def maps(self) -> list[nn.Linear]:
        """Key, value, key, value, … of all layers."""
        return [one for attention in self.attentions for one in (attention.key, attention.value)]

    def parameters(self) -> list[Tensor]:
        """Everything that a change of changes keys, values or the first attention's queries."""
        normed = [self.norm.weight, self.norm.bias] if self.norm else []
        maps = [self.attentions[0].query, *self.maps]
        mapped = [parameter for one in maps for parameter in (one.weight, one.bias)]
        return [*self.tokens.parameters(), *self.positions.rows(), *normed, *mapped]


@dataclass(frozen=True)
class PrecomputedProjections:
    """What is known of texts before they are read.

    Attributes:
        keys_values: of each attention, (B, T, D).
        first: the first queries and the first attention's map of them, (B, T, D); None where positions are of several
            kinds, which have too many sums for a table.
    """

    keys_values: list[tuple[Tensor, Tensor]]
    first: tuple[Tensor, Tensor] | None


class ProjectionTables:
    """Keys and values of all layers as sums of rows, kept until a weight that they are of changes.

    The map of a centred sum is the sum of the maps of its centred terms, and the norm divides by one number a token. So
    W norm(x + p) + b = (W' x' + W' p') r + c, with W' = W diag(gain), c = W shift + b, centred x' and p', and r the
    reciprocal of the deviation of x + p: of a product of all layers a sum is left. The first queries are of positions
    alone: as many rows as the table of positions has.
    """

    def __init__(self) -> None:
        self._kept: tuple[tuple[tuple[int, int], ...], _ProjectionTable] | None = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[ProjectionTables], tuple[()]]:
        return type(self), ()  # a copy of the network makes its own

    def __call__(
        self, inputs: ProjectionInputs, ids_BT: Tensor, places: Sequence[Tensor], x_BTD: Tensor
    ) -> PrecomputedProjections | None:
        """What is known of texts with these ids; None where it is to be multiplied instead.

        That is where gradients are asked for, where products are of another type than the weights, where the rows would
        take more than :data:`LARGEST`, and within :func:`quartet.kernels.plain`.

        Args:
            places: (B, T) rows of each table of positions.
            x_BTD: the sum of the tokens' and the positions' rows.
        """
        if (
            is_plain()
            or torch.is_grad_enabled()
            or torch.compiler.is_compiling()
            or torch.is_autocast_enabled(x_BTD.device.type)
        ):
            return None
        width = 2 * len(inputs.attentions) * x_BTD.shape[-1]
        parameters = inputs.parameters()
        if inputs.vocabulary * width * x_BTD.element_size() > LARGEST or any(
            parameter.is_inference() for parameter in parameters
        ):
            return None
        now = tuple((parameter.data_ptr(), parameter._version) for parameter in parameters)
        kept = self._kept
        if kept is None or kept[0] != now or not kept[1].has(ids_BT):
            with self._lock, torch.inference_mode():
                kept = self._kept
                if kept is None or kept[0] != now:
                    self._kept = kept = (now, _ProjectionTable(inputs))
                kept[1].add(inputs, ids_BT)
        parts = kept[1].sums(inputs, ids_BT, places, x_BTD).chunk(2 * len(inputs.attentions), dim=-1)
        return PrecomputedProjections(list(zip(parts[::2], parts[1::2], strict=True)), kept[1].first(places))

    def forget(self) -> None:
        """Let everything go."""
        self._kept = None


class _ProjectionTable:
    """The rows of one state of the weights: the constant c, the parts of the positions, those of the tokens.

    A token's row is made when it is first seen. The first queries have a table of their own.
    """

    def __init__(self, inputs: ProjectionInputs) -> None:
        self._weight_ED = torch.cat([one.weight for one in inputs.maps])
        constant_E = torch.cat([one.bias for one in inputs.maps])
        if inputs.norm is not None:
            constant_E = constant_E + self._weight_ED @ inputs.norm.bias
            self._weight_ED = self._weight_ED * inputs.norm.weight
        tables = inputs.positions.rows()
        self._starts = [*itertools.accumulate(map(len, tables), initial=1)]
        # Pages that nobody writes to take no memory.
        self._rows_RE = self._weight_ED.new_empty(self._starts[-1] + inputs.vocabulary, len(constant_E))
        self._rows_RE[0] = constant_E
        for start, rows_RD in zip(self._starts, tables, strict=False):
            self._rows_RE[start : start + len(rows_RD)] = self._part(inputs, rows_RD)
        self._seen_V = torch.zeros(inputs.vocabulary, dtype=torch.bool)
        self._complete = False
        self._first_RE: Tensor | None = None
        if len(tables) == 1:
            query, first_RD = inputs.attentions[0].query, inputs.first_query(tables[0])
            self._first_RE = torch.cat([first_RD, product(first_RD, query.weight, query.bias)], dim=-1)

    def has(self, ids_BT: Tensor) -> bool:
        """Whether all these tokens have their rows. On a GPU all tokens get them at once, since to ask is to wait."""
        return self._complete or (ids_BT.is_cpu and bool(self._seen_V[ids_BT].all()))

    def add(self, inputs: ProjectionInputs, ids_BT: Tensor) -> None:
        """Make the rows of these tokens, and of those in one block with them."""
        if self.has(ids_BT):
            return
        blocks: Iterable[int] = range(-(-inputs.vocabulary // BLOCK))
        if ids_BT.is_cpu:
            blocks = torch.unique(ids_BT[~self._seen_V[ids_BT]] // BLOCK).tolist()
        for block in blocks:
            rows = slice(block * BLOCK, min((block + 1) * BLOCK, inputs.vocabulary))
            ids_N = torch.arange(rows.start, rows.stop, device=ids_BT.device)
            self._rows_RE[self._starts[-1] + ids_N] = self._part(inputs, inputs.tokens(ids_N))
            self._seen_V[rows] = True
        self._complete = bool(self._seen_V.all())

    def sums(
        self, inputs: ProjectionInputs, ids_BT: Tensor, places: Sequence[Tensor], x_BTD: Tensor
    ) -> Tensor:
        """(B, T, 2 L D): each token's rows, weighted by r, and the constant's, by 1."""
        varied = [start + found for start, found in zip(self._starts, [*places, ids_BT], strict=True)]
        rows_BTR = torch.stack([torch.zeros_like(ids_BT), *varied], dim=-1)
        weights_BTR = torch.ones_like(rows_BTR, dtype=x_BTD.dtype)
        if inputs.norm is not None:
            r_BT1 = torch.native_layer_norm(x_BTD, x_BTD.shape[-1:], None, None, inputs.norm.eps)[2]
            weights_BTR = torch.cat([torch.ones_like(r_BT1), *[r_BT1] * len(varied)], dim=-1)
        joint_NE = F.embedding_bag(
            rows_BTR.flatten(0, 1),
            self._rows_RE,
            mode="sum",
            per_sample_weights=weights_BTR.flatten(0, 1),
        )
        joint_BTE: Tensor = joint_NE.unflatten(0, ids_BT.shape)
        return joint_BTE

    def first(self, places: Sequence[Tensor]) -> tuple[Tensor, Tensor] | None:
        """The first queries (B, T, D) at rows of the one table of positions, and the first attention's map of them."""
        if self._first_RE is None:
            return None
        query_BTD, mapped_BTD = F.embedding(places[0], self._first_RE).chunk(2, dim=-1)
        return query_BTD, mapped_BTD

    def _part(self, inputs: ProjectionInputs, rows_RD: Tensor) -> Tensor:
        """W' x' of rows x."""
        if inputs.norm is not None:
            rows_RD = rows_RD - rows_RD.mean(dim=-1, keepdim=True)
        return product(rows_RD, self._weight_ED)
