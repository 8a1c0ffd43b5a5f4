"""The papers' equations by loops over heads, queries and keys, in float64: what the networks are compared with.

Only weights are taken from the networks; nothing here is batched, padded, fused or rearranged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from quartet.config.model import POSITIONS
from quartet.models.encoder import Encoder
from quartet.models.positions import split_dimension
from quartet.models.transformer_xl import TransformerXL
from quartet.models.tta import TTA

Array = np.ndarray
#: Whether a query (first) may see a key (second).
Sees = Callable[[int, int], bool]


def of(tensor: Tensor) -> Array:
    """A weight as float64."""
    array: Array = tensor.detach().to(torch.float64).numpy()
    return array


def linear(layer: Any, x: Array) -> Array:
    y: Array = of(layer.weight) @ x
    return y if layer.bias is None else y + of(layer.bias)


def norm(layer: Any, x: Array) -> Array:
    """Layer normalisation of one vector."""
    mean = sum(x) / len(x)
    variance = sum((value - mean) ** 2 for value in x) / len(x)
    normed: Array = (x - mean) / math.sqrt(variance + layer.eps) * of(layer.weight) + of(layer.bias)
    return normed


def gelu(x: Array) -> Array:
    return np.array([0.5 * value * (1 + math.erf(value / math.sqrt(2))) for value in x])


def relu(x: Array) -> Array:
    return np.array([max(0.0, value) for value in x])


def weighted(scores: list[float], values: list[Array], width: int) -> Array:
    """softmax(scores) V of one query; without any key, zeros."""
    if not scores:
        return np.zeros(width)
    highest = max(scores)
    powers = [math.exp(score - highest) for score in scores]
    mean: Array = sum(
        (power / sum(powers) * value for power, value in zip(powers, values, strict=True)), np.zeros(width)
    )
    return mean


# -- absolute positions: BERT, SegaBERT, T-TA (Shin et al. 2020, Eq. 1 and 2) -------------------------------


def attention(module: Any, queries: Sequence[Array], source: Sequence[Array], sees: Sees) -> list[Array]:
    """SoftMax(Mask(Q K^T / sqrt(d))) V, a head at a time, and the output map."""
    heads, width = module.heads, len(queries[0]) // module.heads
    outputs = []
    for i, query in enumerate(queries):
        parts = []
        for h in range(heads):
            part = slice(h * width, (h + 1) * width)
            q = linear(module.query, query)[part]
            seen = [j for j in range(len(source)) if sees(i, j)]
            scores = [float(q @ linear(module.key, source[j])[part]) / math.sqrt(width) for j in seen]
            parts.append(weighted(scores, [linear(module.value, source[j])[part] for j in seen], width))
        outputs.append(linear(module.output, np.concatenate(parts)))
    return outputs


def post_norm(layer: Any, queries: Sequence[Array], source: Sequence[Array], sees: Sees) -> list[Array]:
    """g(Norm(Add(Q, f(Q, K, V)))) with g(x) = Norm(Add(x, FeedForward(x)))."""
    outputs = []
    for query, attended in zip(queries, attention(layer.attention, queries, source, sees), strict=True):
        x = norm(layer.attention_norm, query + attended)
        fed = linear(layer.feed_forward.outer, gelu(linear(layer.feed_forward.inner, x)))
        outputs.append(norm(layer.feed_forward_norm, x + fed))
    return outputs


def absolute(model: Encoder | TTA, positions: Sequence[Sequence[int]]) -> list[Array]:
    """P: the sum of an embedding for each kind, indices brought under the tables' rows by subtracting one from all.

    In a causal model, where that would tell of later tokens, each index stops at the last row.
    """
    total = [np.zeros(model.config.dim) for _ in positions]
    for kind in model.config.positions:
        table = of(model.positions.tables[kind].weight)
        indices = [row[POSITIONS.index(kind)] for row in positions]
        while max(indices) >= len(table):
            if model.config.objective == "clm":
                indices = [min(index, len(table) - 1) for index in indices]
            else:
                indices = [max(0, index - 1) for index in indices]
        total = [vector + table[index] for vector, index in zip(total, indices, strict=True)]
    return total


def tta(
    model: TTA, ids: Sequence[int], positions: Sequence[Sequence[int]], words: Sequence[int]
) -> list[Array]:
    """T-TA: K = V = X + P in every layer, Q^1 = P, and no query sees a key of its own word.

    Args:
        words: the number of each token's word; for the diagonal mask each token's own.
    """
    table = of(model.tokens.weight)
    p = absolute(model, positions)
    source = [table[token] + position for token, position in zip(ids, p, strict=True)]
    queries = p
    if model.config.tta.first_query == "mask_token":
        queries = [table[model.mask_id] + position for position in p]
    if model.config.tta.normalise_inputs:
        source, queries = ([norm(model.embedding_norm, x) for x in xs] for xs in (source, queries))
    for layer in model.layers:
        queries = post_norm(layer, queries, source, lambda i, j: words[i] != words[j])
    return queries


def encoder(model: Encoder, ids: Sequence[int], positions: Sequence[Sequence[int]]) -> list[Array]:
    """BERT's encoder; causal where the objective is CLM."""
    table = of(model.tokens.weight)
    p = absolute(model, positions)
    x = [norm(model.embedding_norm, table[token] + row) for token, row in zip(ids, p, strict=True)]
    causal = model.config.objective == "clm"
    for layer in model.layers:
        x = post_norm(layer, x, x, lambda i, j: not causal or j <= i)
    return x


# -- relative positions: Transformer-XL, Segatron-XL (Bai et al. 2021, Eq. 1 to 3) ---------------------------


def r(offset: float, dim: int) -> list[float]:
    """Eq. 2: sines, then cosines of the same frequencies."""
    angles = [offset / 10000 ** (2 * k / dim) for k in range(dim // 2)]
    return [math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles]


def r_of_parts(offsets: Sequence[float], widths: Sequence[int]) -> Array:
    """Eq. 3: R^t, R^s and R^p one after the other, each of its own part of the width."""
    return np.array(
        [value for offset, width in zip(offsets, widths, strict=True) for value in r(offset, width)]
    )


def paper_order(widths: Sequence[int]) -> list[int]:
    """Where our maps of R, which take the sines of all parts and then the cosines, have the columns of Eq. 3."""
    half, order, at = sum(widths) // 2, [], 0
    for width in widths:
        sines = list(range(at, at + width // 2))
        order += sines + [half + place for place in sines]
        at += width // 2
    return order


def exact_offsets(positions: Sequence[Sequence[int]], columns: Sequence[int], i: int, j: int) -> list[float]:
    """t_i - t_j, s_i - s_j, p_i - p_j, of the kinds that the model has."""
    return [positions[i][column] - positions[j][column] for column in columns]


def released_shift(queries: int, keys: int) -> list[list[int]]:
    """Transformer-XL's shift: for each query and key, whose key's position term it is given.

    A column of padding before the scores, read as a matrix of one row more and one column less, first row dropped.
    """
    padded = [[-1, *range(keys)] for _ in range(queries)]
    flat = [entry for row in padded for entry in row][queries:]
    return [flat[row * keys : (row + 1) * keys] for row in range(queries)]


def relative_attention(
    model: TransformerXL,
    module: Any,
    x: Sequence[Array],
    source: Sequence[Array],
    positions: Sequence[Sequence[int]],
    first_key: Callable[[int], int] = lambda i: 0,
) -> list[Array]:
    """Eq. 1 term by term, each divided by the root of a head's width; the queries stand at the last of the places.

    Args:
        positions: of the memory and the window.
        first_key: the first place that the query at a place sees.
    """
    columns = [POSITIONS.index(kind) for kind in POSITIONS if kind in model.config.positions]
    heads, width = module.heads, module.width
    widths = split_dimension(model.config.dim, len(columns))
    earlier = len(source) - len(x)
    shifted = released_shift(len(x), len(source))
    outputs = []
    for t in range(len(x)):
        i = earlier + t
        parts = []
        for h in range(heads):
            part = slice(h * width, (h + 1) * width)
            w_q, w_k = of(module.query.weight)[part], of(module.key.weight)[part]
            w_r = of(module.position.weight)[part][:, paper_order(widths)]
            u, v = of(model.u_HK)[h], of(model.v_HK)[h]
            scores, values = [], []
            for j in range(first_key(i), i + 1):
                offsets = exact_offsets(positions, columns, i, j)
                if model.config.recurrence.offset == "released":
                    offsets = exact_offsets(positions, columns, len(source) - 1, shifted[t][j])
                embedding = r_of_parts(offsets, widths)
                a = x[t] @ w_q.T @ w_k @ source[j]
                b = x[t] @ w_q.T @ w_r @ embedding
                c = u @ w_k @ source[j]
                d = v @ w_r @ embedding
                scores.append(float(a + b + c + d) / math.sqrt(width))
                values.append(of(module.value.weight)[part] @ source[j])
            parts.append(weighted(scores, values, width))
        outputs.append(linear(module.output, np.concatenate(parts)))
    return outputs


def recurrent_layer(
    model: TransformerXL,
    layer: Any,
    x: Sequence[Array],
    source: Sequence[Array],
    positions: Sequence[Sequence[int]],
    first_key: Callable[[int], int] = lambda i: 0,
) -> list[Array]:
    outputs = []
    attended = relative_attention(model, layer.attention, x, source, positions, first_key)
    for row, context in zip(x, attended, strict=True):
        between = norm(layer.attention_norm, row + context)
        fed = linear(layer.outer, relu(linear(layer.inner, between)))
        outputs.append(norm(layer.feed_forward_norm, between + fed))
    return outputs


def transformer_xl(
    model: TransformerXL,
    ids: Sequence[int],
    positions: Sequence[Sequence[int]],
    first_key: Callable[[int], int] = lambda i: 0,
) -> list[Array]:
    """One pass over a whole text, in which a query sees only the keys from `first_key` of its place to itself.

    With the first key of the memory of the window that a place stands in, this is the model read in windows.
    """
    table = of(model.tokens.weight)
    x: list[Array] = [table[token] * math.sqrt(model.config.dim) for token in ids]
    for layer in model.layers:
        x = recurrent_layer(model, layer, x, x, positions, first_key)
    return x


def logits(model: Any, hidden: Array) -> Array:
    """Softmax's input: H E^T and the bias, after the transform where there is one."""
    if model.config.head == "transform":
        dense, _, normalise = model.head.transform
        hidden = norm(normalise, gelu(linear(dense, hidden)))
    scores: Array = of(model.tokens.weight) @ hidden + of(model.head.bias_V)
    return scores
