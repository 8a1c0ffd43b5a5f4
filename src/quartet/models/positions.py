"""Where a token stands: absolute tables that are summed (BERT, SegaBERT, T-TA), relative phases (Transformer-XL).

Shape letters, here and in the other models: B batch, T tokens of the input, S keys (memory and input), M memory,
D width, H heads, K width of a head, N any selection of tokens, V vocabulary, P the four kinds of position.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.config.model import POSITIONS, ModelConfig, Position
from quartet.errors import InputError

#: Base of the geometric series of wavelengths (Eq. 2).
WAVELENGTH_BASE = 10000.0


def fit_maximum(indices_BT: Tensor, maximum: int) -> Tensor:
    """Bring an example's indices under `maximum` by subtracting (Bai et al. 2021, section "Data preparation").

    One is subtracted from all indices of the example until the largest is maximum - 1, so differences between
    neighbouring segments survive; what would fall below 0 stays at 0. With maximum 4, the paragraph indices
    ``[2, 3, 4, 5]`` become ``[0, 1, 2, 3]`` and ``[0, 4]`` becomes ``[0, 3]``.

    Args:
        indices_BT: indices of one kind, one example a row.
        maximum: rows of the position table.
    """
    excess_B1 = (indices_BT.amax(dim=1, keepdim=True) - (maximum - 1)).clamp(min=0)
    return (indices_BT - excess_B1).clamp(min=0)


def released_maximum(indices_BT: Tensor, maximum: int, subtract: bool) -> Tensor:
    """Bring indices under `maximum` as the released SegaBERT does: by stopping at the last row.

    With maximum 4, ``[0, 1, 4]`` becomes ``[0, 1, 3]``.

    Args:
        subtract: for paragraphs: first one is subtracted from all indices of the example as long as its first one is
            above 0, so that ``[2, 3, 4, 5]`` becomes ``[0, 1, 2, 3]`` and ``[1, 2, 5]`` becomes ``[0, 1, 3]``.
    """
    if subtract:
        excess_B1 = (indices_BT.amax(dim=1, keepdim=True) - (maximum - 1)).clamp(min=0)
        indices_BT = (indices_BT - torch.minimum(excess_B1, indices_BT[:, :1])).clamp(min=0)
    return indices_BT.clamp(max=maximum - 1)


def from_first(indices_BT: Tensor) -> Tensor:
    """Indices counted from the first one of their example, as if a document began there.

    ``[7, 7, 8, 9]`` becomes ``[0, 0, 1, 2]``; what is below the first one becomes 0.

    Args:
        indices_BT: indices of one kind, one example a row.
    """
    return (indices_BT - indices_BT[:, :1]).clamp(min=0)


def sinusoids(rows: int, dim: int) -> Tensor:
    """(rows, dim) sines and cosines of Eq. 2 for the absolute positions 0, 1, 2, …, with a mean square of 1."""
    angles = torch.arange(rows)[:, None] * WAVELENGTH_BASE ** (-torch.arange(0, dim, 2) / dim)
    return torch.cat([angles.sin(), angles.cos()], dim=1)[:, :dim] * 2**0.5


class AbsolutePositions(nn.Module):
    """The sum of one learned embedding for each kind of position (Bai et al. 2021, Figure 1b)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        rows = {
            "sequence": config.max_length,
            "token": config.maxima.token,
            "sentence": config.maxima.sentence,
            "paragraph": config.maxima.paragraph,
        }
        self.causal = config.causal
        self.overflow = config.maxima.overflow
        self.kinds: tuple[Position, ...] = tuple(kind for kind in POSITIONS if kind in config.positions)
        self.tables = nn.ModuleDict({kind: nn.Embedding(rows[kind], config.dim) for kind in self.kinds})

    def initialise(self, config: ModelConfig) -> None:
        """Give each table its first values, as ``position_init`` says."""
        split = config.position_init == "split-sinusoid"
        widths = split_dimension(config.dim, len(self.kinds)) if split else [config.dim] * len(self.kinds)
        at = 0
        for table_RD, width in zip(self.rows(), widths, strict=True):
            if config.position_init == "normal":
                nn.init.normal_(table_RD, std=config.init_std)
                continue
            with torch.no_grad():
                table_RD.zero_()
                table_RD[:, at : at + width] = config.init_std * sinusoids(len(table_RD), width)
            at += width * split

    def rows(self) -> list[Tensor]:
        """The tables, (rows, D) each."""
        return [table.weight for table in self.tables.values() if isinstance(table, nn.Embedding)]

    def indices(self, positions_BTP: Tensor) -> list[Tensor]:
        """(B, T) rows of each table that (B, T, P) indices stand for."""
        found = []
        for kind, rows_RD in zip(self.kinds, self.rows(), strict=True):
            indices_BT = positions_BTP[..., POSITIONS.index(kind)]
            if self.overflow == "restart" and kind == "paragraph":
                indices_BT = from_first(indices_BT)
            if self.causal:  # what later tokens' indices are must not move earlier ones
                found.append(indices_BT.clamp(max=len(rows_RD) - 1))
            elif self.overflow == "released":
                found.append(released_maximum(indices_BT, len(rows_RD), subtract=kind == "paragraph"))
            else:
                found.append(fit_maximum(indices_BT, len(rows_RD)))
        return found

    def look_up(self, indices: Sequence[Tensor]) -> Tensor:
        """The sum (B, T, D) of each table's rows."""
        parts = [
            F.embedding(rows_BT, table_RD) for rows_BT, table_RD in zip(indices, self.rows(), strict=True)
        ]
        total: Tensor = sum(parts[1:], parts[0])
        return total

    def forward(self, positions_BTP: Tensor) -> Tensor:
        """(B, T, P) indices -> (B, T, D)."""
        return self.look_up(self.indices(positions_BTP))


def split_dimension(dim: int, parts: int) -> list[int]:
    """Divide the width of a relative position among its kinds: even parts, each nearest to an equal share.

    Three parts of 410 are 136, 136 and 138, of 1024 they are 342, 342 and 340; two parts of 410 are 206 and 204.

    Raises:
        InputError: nothing is left for the last part.
    """
    share = 2 * int(dim / (2 * parts) + 0.5)
    last = dim - share * (parts - 1)
    if last < 2:
        raise InputError("positions", f"{parts} kinds leave no width of dim {dim} for the last", "widen dim")
    return [share] * (parts - 1) + [last]


class RelativePhases(nn.Module):
    """Relative positions as rotations: Eq. 2 and 3 without a tensor of every pair.

    The position term of Eq. 1, g . R(i - j) with g = W_R^T (q + v), is a sum over frequencies w of
    ``g_sin sin((p_i - p_j) w) + g_cos cos((p_i - p_j) w)``. By sin(a - b) = sin a cos b - cos a sin b and
    cos(a - b) = cos a cos b + sin a sin b it is an ordinary dot product: the query side, turned by its own position,
    with ``[sin b, cos b]`` of the key's position. With several kinds of position the width D is split among them and
    each part turns by its own index (Eq. 3); a model with one kind is Transformer-XL (Eq. 2).
    """

    frequencies_F: Tensor

    def __init__(self, dim: int, kinds: Sequence[Position]) -> None:
        super().__init__()
        self.columns = [POSITIONS.index(kind) for kind in POSITIONS if kind in kinds]
        self.widths = [part // 2 for part in split_dimension(dim, len(self.columns))]
        parts = [
            WAVELENGTH_BASE ** (-torch.arange(0, 2 * width, 2, dtype=torch.float64) / (2 * width))
            for width in self.widths
        ]
        self.register_buffer(
            "frequencies_F", torch.cat(parts).to(torch.get_default_dtype()), persistent=False
        )

    def kinds(self) -> Iterator[tuple[int, Tensor, Tensor]]:
        """Of each kind: its column of the positions, its frequencies, and its columns of D (sines, then cosines)."""
        at = 0
        for column, width in zip(self.columns, self.widths, strict=True):
            sines_F = torch.arange(at, at + width, device=self.frequencies_F.device)
            yield (
                column,
                self.frequencies_F[at : at + width],
                torch.cat([sines_F, sines_F + sum(self.widths)]),
            )
            at += width

    def angles(self, offsets_BSP: Tensor) -> Tensor:
        """Angles (B, S, D/2) of positions counted from any origin of the row: a near one keeps them small and exact."""
        offsets_BSP = offsets_BSP.to(self.frequencies_F.dtype)
        turns = [
            offsets_BSP[..., column, None].expand(*offsets_BSP.shape[:2], width)
            for column, width in zip(self.columns, self.widths, strict=True)
        ]
        return torch.cat(turns, dim=-1) * self.frequencies_F

    @staticmethod
    def keys(angles_BSF: Tensor) -> Tensor:
        """The key side, (B, S, D): sines then cosines."""
        return torch.cat([angles_BSF.sin(), angles_BSF.cos()], dim=-1)

    @staticmethod
    def queries(content_BTHD: Tensor, angles_BTF: Tensor) -> Tensor:
        """The query side: (B, T, H, D) of g = [g_sin, g_cos], turned by the query's own angles."""
        g_sin, g_cos = content_BTHD.chunk(2, dim=-1)
        sin, cos = angles_BTF.sin()[:, :, None], angles_BTF.cos()[:, :, None]
        return torch.cat([g_cos * sin - g_sin * cos, g_sin * sin + g_cos * cos], dim=-1)
