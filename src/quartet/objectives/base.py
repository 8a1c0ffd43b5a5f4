"""What an objective is: how a batch becomes inputs and targets, and how a text is read for scoring."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from quartet.data.batch import Batch, RowLengths, Tensors, closes
from quartet.models.network import Memory, Network
from quartet.text.tokenizer import is_own

#: Of the rows from a first one on, so many of so many columns: (4, rows, columns) of 32 random bits. They depend on a
#: row's number in the step's whole batch, and not on how it is divided.
RowRandom = Callable[[int, int, int], NDArray[np.uint64]]

#: A target that counts in no loss.
IGNORED = -100


@dataclass(frozen=True)
class LabelledBatch(Tensors):
    """A batch with what is asked of it, made before it goes to a device: there nothing has to be counted or found.

    Attributes:
        batch: its ids are the uncorrupted ones.
        inputs_BT: token ids that the network reads.
        places_N: the targets' places, b T + t.
        targets_N: the ids that are right there.
        lengths: tokens of each row, padding apart.
        clustered_N: of an adaptive softmax, the targets' numbers, those of a cluster together and in their order.
        cluster_sizes: how many of them each cluster has.
    """

    batch: Batch
    inputs_BT: Tensor
    places_N: Tensor
    targets_N: Tensor
    lengths: NDArray[np.int64]
    clustered_N: Tensor | None = None
    cluster_sizes: tuple[int, ...] = ()

    @property
    def clusters(self) -> Sequence[Tensor] | None:
        """Where the targets of each cluster are; None: there are no clusters."""
        return None if self.clustered_N is None else self.clustered_N.split(self.cluster_sizes)

    @property
    def part(self) -> int:
        """Number of this part of a step's batch."""
        return self.batch.part


@dataclass(frozen=True)
class TokenStates:
    """What a network says of each token of a batch.

    Attributes:
        predictive_BTD: [b, t] predicts token t of row b (through the head).
        contextual_BTD: [b, t] represents token t in its context. For CLM it has read the token itself; for MLM and LAE
            it is the predictive state.
    """

    predictive_BTD: Tensor
    contextual_BTD: Tensor


class Objective(ABC):
    """A training objective and the reading that goes with it.

    Attributes:
        predicts_end: a text's score includes its closing token (CLM alone: without it, a proper probability over texts
            of all lengths is not defined).
        pseudo: the scores are pseudo-log-likelihoods, sums of log p(token | all other tokens). Whether they are
            log-probabilities at all stands in `quartet.config.objectives`.
        masks: mask-and-predict and the intact input are two readings (see `masked` of :meth:`states`).
    """

    predicts_end = False
    pseudo = True
    masks = False

    def __init__(
        self, mask_probability: float = 0.15, max_selected: int = 0, loss_on_specials: bool = False
    ) -> None:
        self.mask_probability = mask_probability
        self.max_selected = max_selected
        self.loss_on_specials = loss_on_specials

    @abstractmethod
    def training_pair(self, batch: Batch, vocabulary: int, random: RowRandom) -> tuple[Tensor, Tensor]:
        """Input ids (B, T) and targets (B, T) of a batch on the CPU, `IGNORED` where nothing is to be predicted.

        Target t belongs to the network's output at t. How many there are does not depend on chance.
        """

    @abstractmethod
    def states(self, network: Network, batch: Batch, masked: bool = True) -> TokenStates:
        """Read texts as the objective scores them.

        Args:
            masked: mask and predict each token in turn, where the objective does; False reads the intact input once.
        """

    def own_states(self, network: Network, batch: Batch, masked: bool = True) -> TokenStates:
        """The states of texts between two special tokens, which are right where :meth:`predicted` is True.

        Elsewhere they are anything: what nobody asks for need not be computed.
        """
        return self.states(network, batch, masked)

    def read(
        self, network: Network, inputs_BT: Tensor, batch: Batch, memory: Memory | None = None
    ) -> tuple[Tensor, Memory | None]:
        """One pass of the network over inputs of a batch: what it returns.

        An objective some of whose rows are causal says here which, by :class:`quartet.models.encoder.Encoder`'s
        `causal_B`.
        """
        hidden_BTD, memory = network(inputs_BT, batch.positions_BTP, batch.real_BT, memory)
        return hidden_BTD, memory

    def token_scores(self, network: Network, hidden_ND: Tensor, targets_N: Tensor) -> Tensor:
        """(N,) of predictive states the scores of the tokens that stand there: their log-probabilities, in nats."""
        return network.target_logprobs(hidden_ND, targets_N)

    def predicted(self, batch: Batch) -> Tensor:
        """(B, T) True at the tokens that a score adds up: the text's own, and the closing one for CLM."""
        own_BT = is_own(batch.ids_BT) & batch.real_BT
        if not self.predicts_end:
            return own_BT
        return own_BT | closes(batch.real_BT)

    @abstractmethod
    def targets(self, own: NDArray[np.int64], specials: int) -> NDArray[np.int64]:
        """How many targets inputs have in training.

        Args:
            own: (N,) the tokens of each, special ones apart.
            specials: the special tokens of each; 0: windows of running text, whose next token is known.
        """

    def targets_per_step(self, lengths: RowLengths) -> float:
        """The mean number of targets of a step of training, which its loss is divided by.

        The same number for every step: so each target weighs the same, whichever sentences it came together with.
        """
        return float(self.targets(lengths.own, lengths.specials) @ lengths.chances) * lengths.rows

    def label(
        self, batch: Batch, vocabulary: int, random: RowRandom, edges: Sequence[int] = ()
    ) -> LabelledBatch:
        """A batch on the CPU with its inputs and targets.

        Args:
            edges: of an adaptive softmax's clusters, see :attr:`quartet.models.network.Network.edges`.
        """
        inputs_BT, targets_BT = self.training_pair(batch, vocabulary, random)
        (places_N,) = (targets_BT != IGNORED).flatten().nonzero(as_tuple=True)
        targets_N = targets_BT.flatten()[places_N]
        labelled = LabelledBatch(batch, inputs_BT, places_N, targets_N, batch.real_BT.sum(dim=1).numpy())
        if not edges:
            return labelled
        cluster_N = np.searchsorted(np.array(edges[1:]), targets_N.numpy(), side="right")
        sizes = np.bincount(cluster_N, minlength=len(edges) - 1)
        clustered_N = torch.from_numpy(cluster_N.argsort(kind="stable"))
        return replace(labelled, clustered_N=clustered_N, cluster_sizes=tuple(sizes.tolist()))

    def loss(
        self, network: Network, labelled: LabelledBatch, memory: Memory | None = None
    ) -> tuple[Tensor, Memory | None]:
        """Cross-entropy in nats summed over the targets, and the memory after the batch.

        The distribution over the vocabulary is computed at the targets alone.
        """
        batch = labelled.batch
        hidden_BTD, memory = self.read(network, labelled.inputs_BT, batch, memory)
        hidden_ND = hidden_BTD.flatten(0, 1)[labelled.places_N]
        if torch.is_grad_enabled():
            return network.loss(hidden_ND, labelled.targets_N, labelled.clusters), memory
        return -network.target_logprobs(hidden_ND, labelled.targets_N).sum(), memory
