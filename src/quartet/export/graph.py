"""What an exported model computes: T-TA and the encoders once more, in ONNX's operations instead of torch's.

Written by hand for the sake of int8. In single precision ``torch.onnx.export`` gives a graph of about the same size,
speed and exactness. Its int8 would be onnxruntime's ``quantize_dynamic``, which has one scale for the activations of a
whole batch, so that a text's score depends on the texts beside it. Every export is compared with the torch model before
it gets its place (:mod:`quartet.export.writing`).

Shape letters as in :mod:`quartet.models.positions`; R is all B * T places in one axis, N those that are asked about.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from torch import Tensor

from quartet.config.model import POSITIONS, ModelConfig
from quartet.errors import InputError
from quartet.export.arithmetic import FLOAT, Arithmetic, Floats, log_sum
from quartet.export.graph_positions import GraphPositions
from quartet.export.nodes import Nodes
from quartet.models.network import Network
from quartet.models.tta import TTA

#: The graph's outputs.
LOGPROBS, VECTORS = "logprobs", "vectors"


def needs_positions(config: ModelConfig) -> bool:
    """Whether the graph is given position indices: those of segments are, the sequence index it makes itself."""
    return config.positions != ("sequence",)


def check_exportable(config: ModelConfig, place: object) -> None:
    """Raise where a model cannot be one graph.

    Raises:
        InputError: it has a memory, or a softmax in clusters.
    """
    remedy = "use its folder as it is, or export it with --fp16"
    if config.architecture == "transformer-xl":
        raise InputError(
            place, "a Transformer-XL carries memory between inputs: it is no single graph", remedy
        )
    if config.adaptive.cutoffs:
        raise InputError(place, "a model with an adaptive softmax is exported to no graph", remedy)


class Graph:
    """The nodes of one network.

    Its inputs are ``ids`` (B, T), token ids with the special tokens around each text, padded on the right; ``real``
    (B, T), False at padding; ``targets`` (B, T), the id that each place is asked about, negative where nothing is asked
    (in CLM nothing predicts a row's first place); and, for models that see segments, ``positions`` (B, T, 4): sequence,
    token, sentence and paragraph indices. Rows are read as they are: who hides tokens (MLM) does so in the ids.

    Its outputs are ``logprobs`` (B, T), natural log-probabilities of the targets, 0 where nothing was asked, and
    ``vectors`` (B, T, D), the last layer's outputs (which for CLM have read their own token).
    """

    def __init__(self, network: Network, arithmetic: type[Arithmetic]) -> None:
        """Raises:
        InputError: onnx or onnxruntime is not installed.
        """
        self.config = network.config
        self.nodes = Nodes()
        self._state = {name: _array(tensor) for name, tensor in network.state_dict().items()}
        self.matrices = arithmetic(self.nodes, self._state["tokens.weight"])
        self.places = GraphPositions(self.nodes, self.config, self._state)
        hidden_RD = self._tta(network) if isinstance(network, TTA) else self._encoder()
        self.nodes.rename(self.nodes.op("Reshape", hidden_RD, self.places.shape(self.config.dim)), VECTORS)
        self.nodes.rename(self._logprobs(hidden_RD), LOGPROBS)

    def write(self, path: Path) -> None:
        """Write the file."""
        rows = ("batch", "length")
        inputs: dict[str, tuple[type[np.generic], tuple[str | int, ...]]] = {
            "ids": (np.int64, rows),
            "real": (np.bool_, rows),
            "targets": (np.int64, rows),
        }
        if needs_positions(self.config):
            inputs["positions"] = (np.int64, (*rows, len(POSITIONS)))
        outputs = {LOGPROBS: (np.float32, rows), VECTORS: (np.float32, (*rows, self.config.dim))}
        self.nodes.write(path, inputs, outputs)

    def _tta(self, network: TTA) -> str:
        """(R, D) of :class:`quartet.models.tta.TTA`: queries move, keys and values are the same in every layer."""
        nodes, places = self.nodes, self.places
        positions = places.positions()
        source_RD = nodes.op("Add", self.matrices.embedded(places.ids_R), places.in_rows(positions))
        query = positions
        if self.config.tta.first_query == "mask_token":
            query = nodes.op("Add", query, self.matrices.embedded(nodes.ints(network.mask_id)))
        if self.config.tta.normalise_inputs:
            source_RD = self._norm(source_RD, "embedding_norm")
            query = self._norm(query, "embedding_norm")
        word = self.config.tta.mask == "word"
        allowed_BTS = places.other_words(network.continues_V.cpu().numpy()) if word else places.others()
        allowed_BTS = nodes.op("And", allowed_BTS, places.real_B1S)
        allowed_B1TS = nodes.op("Unsqueeze", allowed_BTS, nodes.ints(1))
        some_B1T1 = nodes.op(
            "ReduceMax", nodes.op("Cast", allowed_B1TS, to=FLOAT), nodes.ints(-1), keepdims=1
        )
        blind_B1T1 = nodes.op("Equal", some_B1T1, nodes.constant(0, dtype=np.float32))
        mask_B1TS = places.mask(nodes.op("Or", allowed_B1TS, blind_B1T1))
        for layer in range(self.config.layers):
            shared = places.shared and layer == 0
            query = self._layer(layer, query, source_RD, mask_B1TS, some_B1T1, shared)
        return query

    def _encoder(self) -> str:
        """(R, D) of :class:`quartet.models.encoder.Encoder`; padding stands where no causal query looks."""
        nodes, places = self.nodes, self.places
        tokens_RD = self.matrices.embedded(places.ids_R)
        x_RD = self._norm(nodes.op("Add", tokens_RD, places.in_rows(places.positions())), "embedding_norm")
        causal = self.config.causal
        allowed = places.earlier() if causal else nodes.op("Unsqueeze", places.real_B1S, nodes.ints(1))
        mask = places.mask(allowed)
        for layer in range(self.config.layers):
            x_RD = self._layer(layer, x_RD, x_RD, mask)
        return x_RD

    def _layer(
        self,
        layer: int,
        query: str,
        source_RD: str,
        mask: str,
        some_B1T1: str | None = None,
        shared: bool = False,
    ) -> str:
        """(R, D) of :class:`quartet.models.attention.PostNormLayer`.

        Args:
            query: (R, D), or (T, D) where it is `shared` by the batch.
            mask: 0 or minus infinity, to be broadcast to (B, H, T, S).
            some_B1T1: 0 for a query that may see nothing, else 1.
            shared: T-TA's first query knows no tokens: it is projected once for all rows.
        """
        nodes, name = self.nodes, f"layers.{layer}"
        q_BHTK = nodes.op(
            "Transpose", self._heads(query, f"{name}.attention.query", shared), perm=[0, 2, 1, 3]
        )
        k_BHKS = nodes.op("Transpose", self._heads(source_RD, f"{name}.attention.key"), perm=[0, 2, 3, 1])
        v_BHSK = nodes.op("Transpose", self._heads(source_RD, f"{name}.attention.value"), perm=[0, 2, 1, 3])
        width = self.config.dim // self.config.heads
        q_BHTK = nodes.op("Mul", q_BHTK, nodes.constant(1 / math.sqrt(width), dtype=np.float32))
        scores_BHTS = nodes.op("Add", nodes.op("MatMul", q_BHTK, k_BHKS), mask)
        context_BHTK = nodes.op("MatMul", nodes.op("Softmax", scores_BHTS, axis=-1), v_BHSK)
        if some_B1T1 is not None:
            context_BHTK = nodes.op("Mul", context_BHTK, some_B1T1)
        context_BTHK = nodes.op("Transpose", context_BHTK, perm=[0, 2, 1, 3])
        context_RD = nodes.op("Reshape", context_BTHK, nodes.ints(-1, self.config.dim))
        attended_RD = self._linear(context_RD, f"{name}.attention.output")
        query_RD = self.places.in_rows(query) if shared else query
        x_RD = self._norm(nodes.op("Add", query_RD, attended_RD), f"{name}.attention_norm")
        inner = nodes.op("Gelu", self._linear(x_RD, f"{name}.feed_forward.inner"))
        outer_RD = self._linear(inner, f"{name}.feed_forward.outer")
        return self._norm(nodes.op("Add", x_RD, outer_RD), f"{name}.feed_forward_norm")

    def _heads(self, rows: str, name: str, shared: bool = False) -> str:
        """(R, D) -> (B, T, H, K), or (T, D) -> (1, T, H, K) of what is shared."""
        heads = self.config.heads
        shape = self.places.shape(heads, self.config.dim // heads, shared=shared)
        return self.nodes.op("Reshape", self._linear(rows, name), shape)

    def _logprobs(self, hidden_RD: str) -> str:
        """(B, T): the head of :class:`quartet.models.heads.VocabularyHead`, where something is asked alone.

        The softmax is summed up tile by tile: neither the caller nor the graph holds (N, V) logits.
        """
        nodes, places = self.nodes, self.places
        asked_N, targets_R = places.asked()
        # One place more than was asked, so that there is never none: runtimes fail at products of empty matrices.
        asked_M = nodes.op("Concat", asked_N, nodes.ints(0), axis=0)
        targets_M = nodes.op("Max", nodes.op("Gather", targets_R, asked_M), nodes.number(0))
        from_M = asked_M
        if self.config.causal:  # the output before a token predicts it
            from_M = nodes.op("Max", nodes.op("Sub", asked_M, nodes.number(1)), nodes.number(0))
        x_MD = nodes.op("Gather", hidden_RD, from_M)
        if self.config.head == "transform":
            x_MD = nodes.op("Gelu", self._linear(x_MD, "head.transform.0"))
            x_MD = self._norm(x_MD, "head.transform.2")
        bias_V = nodes.constant(self._state["head.bias_V"], "head.bias_V")
        sums = []
        for part in self.matrices.tiles():
            bias = self.matrices.part(bias_V, part)
            sums.append(log_sum(nodes, nodes.op("Add", self.matrices.tile(x_MD, part), bias)))
        total_M1 = log_sum(nodes, nodes.op("Concat", *sums, axis=1))
        bias_M = nodes.op("Gather", bias_V, targets_M)
        own_M = nodes.op("Add", self.matrices.matched(x_MD, targets_M), bias_M)
        logprobs_M = nodes.op("Sub", own_M, nodes.op("Squeeze", total_M1, nodes.ints(1)))
        # The target's logit is a sum of its own: one that is nearly certain may be a rounding error too high.
        logprobs_M = nodes.op("Min", logprobs_M, nodes.constant(0, dtype=np.float32))
        return places.spread(nodes.op("Slice", logprobs_M, nodes.ints(0), nodes.ints(-1)), asked_N)

    def _linear(self, rows: str, name: str) -> str:
        return self.matrices.linear(rows, name, self._state[f"{name}.weight"], self._state[f"{name}.bias"])

    def _norm(self, rows: str, name: str) -> str:
        """Layer normalisation of each row."""
        weights = [
            self.nodes.constant(self._state[f"{name}.{part}"], f"{name}.{part}")
            for part in ("weight", "bias")
        ]
        return self.nodes.op("LayerNormalization", rows, *weights, axis=-1, epsilon=self.config.norm_epsilon)


def _array(tensor: Tensor) -> Floats:
    array: Floats = tensor.detach().cpu().contiguous().numpy()
    return array
