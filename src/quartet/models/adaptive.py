"""Adaptive input and softmax for large vocabularies, tied (Baevski and Auli 2019; Grave et al. 2017; Transformer-XL).

The vocabulary is cut into a head and tails at rising ids, which serves where frequent tokens have low ids, as in
tokenizers of whole words. A tail's embeddings may be narrower; a projection brings them to the model's width. The
softmax over the head has one more entry for each tail, and a tail's token has the probability of its tail times its own
in it. Input and output share the tables and the projections.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.config.model import ModelConfig
from quartet.errors import InputError
from quartet.kernels.cross_entropy import summed_cross_entropy
from quartet.kernels.linear import linear


class AdaptiveEmbedding(nn.Module):
    """Token embeddings in clusters: with dim 1024 and ``div_val`` 4 of widths 1024, 256, 64 and 16.

    Raises:
        InputError: a cut-off is not below the vocabulary.
    """

    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__()
        cutoffs, div_val = config.adaptive.cutoffs, config.adaptive.div_val
        if cutoffs[-1] >= vocabulary:
            raise InputError(
                "adaptive.cutoffs",
                f"{cutoffs[-1]} leaves nothing behind it in a vocabulary of {vocabulary}",
                "lower or drop it",
            )
        self.dim = config.dim
        self.num_embeddings = vocabulary
        self.edges = [0, *cutoffs, vocabulary]
        widths = [config.dim // div_val**cluster for cluster in range(len(cutoffs) + 1)]
        sizes = [high - low for low, high in itertools.pairwise(self.edges)]
        self.tables = nn.ParameterList(
            nn.Parameter(torch.empty(size, width)) for size, width in zip(sizes, widths, strict=True)
        )
        self.projections = nn.ParameterList(
            nn.Parameter(torch.empty(config.dim, width)) for width in widths if div_val > 1
        )

    def members(
        self, ids: Tensor, known: Sequence[Tensor] | None = None
    ) -> Iterator[tuple[int, Tensor, Tensor]]:
        """For each cluster that ids (N,) fall in: its number, where they are, and their rows in its table.

        Args:
            known: where those of each cluster are; None: they are looked for, for which a GPU has to be waited for.
        """
        for cluster, (low, high) in enumerate(itertools.pairwise(self.edges)):
            where = known[cluster] if known else ((ids >= low) & (ids < high)).nonzero(as_tuple=True)[0]
            yield cluster, where, ids[where] - low

    def raised(self, rows: Tensor, cluster: int) -> Tensor:
        """Rows of a cluster's width -> the model's width D."""
        return linear(rows, self.projections[cluster]) if len(self.projections) else rows

    def lowered(self, hidden: Tensor, cluster: int) -> Tensor:
        """Representations of width D -> the cluster's width."""
        return linear(hidden, self.projections[cluster].T) if len(self.projections) else hidden

    def forward(self, ids: Tensor) -> Tensor:
        """(...) ids -> (..., D)."""
        if not ids.is_cpu:
            return self.looked_up_everywhere(ids)
        flat_N = ids.flatten()
        output_ND = self.tables[0].new_zeros(len(flat_N), self.dim)
        for cluster, where, rows in self.members(flat_N):
            raised = self.raised(F.embedding(rows, self.tables[cluster]), cluster)
            output_ND = output_ND.index_copy(0, where, raised.to(output_ND.dtype))
        output: Tensor = output_ND.reshape(*ids.shape, self.dim)
        return output

    def looked_up_everywhere(self, ids: Tensor) -> Tensor:
        """As :meth:`forward`, with every token looked up in every cluster: no number is asked for.

        A GPU would have to be waited for to find out which tokens are whose. All clusters together are little beside
        one layer.
        """
        output: Tensor | None = None
        for cluster, (low, high) in enumerate(itertools.pairwise(self.edges)):
            rows = (ids - low).clamp(0, high - low - 1)
            raised = self.raised(F.embedding(rows, self.tables[cluster]), cluster)
            output = raised if output is None else torch.where((ids >= low)[..., None], raised, output)
        assert output is not None, "there is a cluster"
        return output


class AdaptiveHead(nn.Module):
    """The softmax that goes with :class:`AdaptiveEmbedding`: a bias a token, and a vector and bias a tail."""

    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__()
        tails = len(config.adaptive.cutoffs)
        self.bias_V = nn.Parameter(torch.zeros(vocabulary))
        self.tails_CD = nn.Parameter(torch.empty(tails, config.dim))
        self.tails_bias = nn.Parameter(torch.zeros(tails))
        #: the loss's step from logits to gradient is compiled, as the layers are: see `Network.compile_layers`
        self.compiled = False

    def output(self, cluster: int, tokens: AdaptiveEmbedding) -> tuple[Tensor, Tensor]:
        """A cluster's rows (size, width) and biases (size,); in the head's, the tails' C come after its tokens'."""
        bias = self.bias_V[tokens.edges[cluster] : tokens.edges[cluster + 1]]
        if cluster:
            return tokens.tables[cluster], bias
        return torch.cat([tokens.tables[0], self.tails_CD]), torch.cat([bias, self.tails_bias])

    def inside(self, hidden_ND: Tensor, cluster: int, tokens: AdaptiveEmbedding) -> Tensor:
        """(N, size) log-probabilities of a tail's tokens, given that the token is in this tail.

        Of the head, which is cluster 0: (N, size + C), of its tokens and of the tails.
        """
        logits = linear(tokens.lowered(hidden_ND, cluster), *self.output(cluster, tokens))
        return F.log_softmax(logits.float(), dim=-1)

    def logprobs(self, hidden_ND: Tensor, tokens: AdaptiveEmbedding) -> Tensor:
        """(N, D) -> (N, V) log-probabilities of every token."""
        first = self.inside(hidden_ND, 0, tokens)
        parts = [first[:, : tokens.edges[1]]]
        for cluster in range(1, len(tokens.tables)):
            tail_N1 = first[:, tokens.edges[1] + cluster - 1, None]
            parts.append(tail_N1 + self.inside(hidden_ND, cluster, tokens))
        return torch.cat(parts, dim=-1)

    def loss(
        self,
        hidden_ND: Tensor,
        targets_N: Tensor,
        tokens: AdaptiveEmbedding,
        known: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """(N, D) and (N,) ids -> minus the sum of the targets' log-probabilities, for training.

        Args:
            known: where the targets of each cluster are, see :meth:`AdaptiveEmbedding.members`.
        """
        first_N, total = targets_N, hidden_ND.new_zeros((), dtype=torch.float32)
        for cluster, where, rows in tokens.members(targets_N, known):
            if cluster:
                first_N = first_N.index_fill(0, where, tokens.edges[1] + cluster - 1)
                total = total + self._loss_inside(hidden_ND[where], rows, cluster, tokens)
        return total + self._loss_inside(hidden_ND, first_N, 0, tokens)

    def _loss_inside(
        self, hidden_ND: Tensor, rows_N: Tensor, cluster: int, tokens: AdaptiveEmbedding
    ) -> Tensor:
        lowered_ND = tokens.lowered(hidden_ND, cluster)
        return summed_cross_entropy(lowered_ND, *self.output(cluster, tokens), rows_N, compiled=self.compiled)

    def target_logprobs(self, hidden_ND: Tensor, targets_N: Tensor, tokens: AdaptiveEmbedding) -> Tensor:
        """(N, D) and (N,) ids -> (N,) log-probabilities; a tail is computed for the targets that are in it alone."""
        first = self.inside(hidden_ND, 0, tokens)
        output_N = first.new_zeros(len(targets_N))
        for cluster, where, rows in tokens.members(targets_N):
            if cluster == 0:
                found = first[where, rows]
            else:
                inside = self.inside(hidden_ND[where], cluster, tokens)
                found = first[where, tokens.edges[1] + cluster - 1] + inside.gather(1, rows[:, None])[:, 0]
            output_N = output_N.index_copy(0, where, found)
        return output_N
