"""Adaptive input and softmax: one distribution by every way to it, and training that reaches all its parts."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import quartet
from quartet.config.model import ModelConfig
from quartet.config.training import TrainingConfig
from quartet.data.batch import Batch
from quartet.errors import InputError
from quartet.models.adaptive import AdaptiveEmbedding, AdaptiveHead
from quartet.models.architectures import build
from quartet.models.checkpoint import ModelCard, save_model
from quartet.models.network import Network
from quartet.objectives import OBJECTIVES
from quartet.scoring.language_model import LanguageModel
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training import randomness
from quartet.training.fit import fit
from tests.models import naive
from tests.models.drawn import SEEDS
from tests.models.shapes import KINDS, VOCABULARY, random_inputs, small

#: A head of 9 and tails of 5 and 9, of widths 24, 24, 24 or 24, 6, 1.
CUTOFFS = [9, 14]
BOTH = pytest.mark.parametrize("div_val", [1, 4])


def adaptive(div_val: int, cutoffs: list[int] = CUTOFFS, kind: str = "segatron-xl") -> ModelConfig:
    settings = {"cutoffs": cutoffs, "div_val": div_val}
    return small(**{**KINDS[kind], "head": "tied", "init_std": 0.3, "adaptive": settings})


def network_of(config: ModelConfig, seed: int = 0) -> tuple[Network, AdaptiveEmbedding, AdaptiveHead]:
    """With biases that are not 0."""
    torch.manual_seed(seed)
    network = build(config, VOCABULARY)
    assert isinstance(network.tokens, AdaptiveEmbedding) and isinstance(network.head, AdaptiveHead)
    for bias in (network.head.bias_V, network.head.tails_bias):
        torch.nn.init.normal_(bias)
    return network, network.tokens, network.head


def naive_embedding(tokens: AdaptiveEmbedding, token: int) -> np.ndarray:
    """The row of the token's cluster, through its cluster's projection."""
    cluster = sum(token >= edge for edge in tokens.edges[1:-1])
    row = naive.of(tokens.tables[cluster])[token - tokens.edges[cluster]]
    projection = naive.of(tokens.projections[cluster]) if len(tokens.projections) else np.eye(len(row))
    embedding: np.ndarray = projection @ row
    return embedding


def naive_logprob(tokens: AdaptiveEmbedding, head: AdaptiveHead, hidden: np.ndarray, token: int) -> float:
    """log p(cluster) + log p(token | cluster); each logit is the product with the token's embedding, and its bias."""

    def logit(other: int) -> float:
        return float(hidden @ naive_embedding(tokens, other) + naive.of(head.bias_V)[other])

    lowered = hidden @ naive.of(tokens.projections[0]) if len(tokens.projections) else hidden
    first = [logit(other) for other in range(tokens.edges[1])]
    first += list(naive.of(head.tails_CD) @ lowered + naive.of(head.tails_bias))
    cluster = sum(token >= edge for edge in tokens.edges[1:-1])
    total = math.log(sum(math.exp(value) for value in first))
    if cluster == 0:
        return first[token] - total
    low, high = tokens.edges[cluster : cluster + 2]
    inside = math.log(sum(math.exp(logit(other)) for other in range(low, high)))
    return first[tokens.edges[1] + cluster - 1] - total + logit(token) - inside


@settings(max_examples=40)
@given(
    cutoffs=st.sets(st.integers(1, VOCABULARY - 1), min_size=1, max_size=4),
    div_val=st.sampled_from([1, 2, 4]),
    seed=SEEDS,
    count=st.integers(0, 6),
)
def test_a_distribution_by_every_way_to_it(cutoffs: set[int], div_val: int, seed: int, count: int) -> None:
    """It sums to 1; the targets' log-probabilities are its entries, whatever clusters they are in."""
    div_val = div_val if 24 // div_val ** len(cutoffs) else 1
    network, *_ = network_of(adaptive(div_val, sorted(cutoffs)), seed)
    hidden_ND, targets_N = torch.randn(count, 24), torch.randint(VOCABULARY, (count,))
    logprobs_NV = network.logprobs(hidden_ND)
    assert logprobs_NV.shape == (count, VOCABULARY)
    assert torch.allclose(logprobs_NV.exp().sum(1), torch.ones(count), atol=1e-5)
    gathered_N = logprobs_NV.gather(1, targets_N[:, None])[:, 0]
    assert torch.allclose(network.target_logprobs(hidden_ND, targets_N), gathered_N, atol=1e-5)


@BOTH
def test_every_log_probability_by_hand(div_val: int) -> None:
    network, tokens, head = network_of(adaptive(div_val))
    hidden_ND = torch.randn(3, 24)
    logprobs_NV = network.logprobs(hidden_ND)
    for row, token in itertools.product(range(3), range(VOCABULARY)):
        expected = naive_logprob(tokens, head, naive.of(hidden_ND[row]), token)
        assert logprobs_NV[row, token].item() == pytest.approx(expected, abs=2e-5)


@BOTH
def test_embeddings_are_rows_of_their_clusters(div_val: int) -> None:
    network, tokens, _ = network_of(adaptive(div_val))
    assert [tuple(table.shape) for table in tokens.tables] == [
        (9, 24),
        (5, 24 // div_val),
        (9, 24 // div_val**2),
    ]
    assert len(tokens.projections) == (0 if div_val == 1 else 3)
    ids_BT = torch.randint(VOCABULARY, (3, 7))
    found_BTD = tokens(ids_BT)
    for row, place in itertools.product(range(3), range(7)):
        expected = naive_embedding(tokens, int(ids_BT[row, place]))
        assert np.allclose(naive.of(found_BTD[row, place]), expected, atol=1e-5)
    assert torch.allclose(network.table()[ids_BT], found_BTD, atol=1e-6)


@BOTH
@pytest.mark.parametrize("targets", [range(VOCABULARY), range(9), range(14, VOCABULARY)])
def test_gradients_reach_what_takes_part(div_val: int, targets: range) -> None:
    """A tail without targets has no part in the loss; that it is not their tail has, through its vector."""
    network, tokens, head = network_of(adaptive(div_val))
    loss = -network.target_logprobs(torch.randn(len(targets), 24), torch.tensor(targets)).sum()
    loss.backward()
    for cluster in range(3):
        low, high = tokens.edges[cluster : cluster + 2]
        used = cluster == 0 or any(low <= target < high for target in targets)
        parts = [tokens.tables[cluster], *([tokens.projections[cluster]] if len(tokens.projections) else [])]
        for part in parts:
            moved = part.grad is not None and bool(part.grad.abs().sum() > 0)
            assert moved == used
        assert head.bias_V.grad is not None
        assert bool(head.bias_V.grad[low:high].abs().sum() > 0) == used
    assert head.tails_CD.grad is not None
    assert (head.tails_CD.grad.abs().sum(1) > 0).all() and (head.tails_bias.grad != 0).all()


@BOTH
@pytest.mark.parametrize("targets", [range(VOCABULARY), range(9), range(14, VOCABULARY), range(0)])
def test_the_training_loss_is_the_sum_of_log_probabilities(div_val: int, targets: range) -> None:
    """In value and in every gradient, by another way: it keeps no log-probabilities."""
    found, wanted = (network_of(adaptive(div_val), seed=1)[0] for _ in range(2))
    hidden_ND = torch.randn(len(targets), 24)
    states = [hidden_ND.clone().requires_grad_() for _ in range(2)]
    targets_N = torch.tensor(targets, dtype=torch.long)
    loss, same = found.loss(states[0], targets_N), -wanted.target_logprobs(states[1], targets_N).sum()
    torch.testing.assert_close(loss, same)
    for total in (loss, same):
        total.backward()
    pairs = [states, *zip(found.parameters(), wanted.parameters(), strict=True)]
    assert any(theirs.grad is not None and theirs.grad.any() for _, theirs in pairs) == bool(len(targets))
    for ours, theirs in pairs:
        ours_grad, theirs_grad = (
            torch.zeros_like(tensor) if tensor.grad is None else tensor.grad for tensor in (ours, theirs)
        )
        torch.testing.assert_close(ours_grad, theirs_grad, atol=1e-5, rtol=1e-4)


@BOTH
def test_every_parameter_is_trained(div_val: int) -> None:
    network, *_ = network_of(adaptive(div_val))
    ids_BT, positions_BTP, real_BT = random_inputs(4, 8)
    ids_BT[0] = torch.arange(8)
    hidden_BTD, _ = network(ids_BT, positions_BTP, real_BT)
    network.target_logprobs(hidden_BTD.flatten(0, 1), torch.arange(32) % VOCABULARY).sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("last", [VOCABULARY, VOCABULARY + 1, 10 * VOCABULARY])
def test_cutoffs_at_or_over_the_vocabulary_are_refused(last: int) -> None:
    with pytest.raises(InputError, match=rf"adaptive\.cutoffs: {last} leaves nothing behind it"):
        build(adaptive(1, [5, last]), VOCABULARY)
    build(adaptive(1, [5, VOCABULARY - 1]), VOCABULARY)


@BOTH
@pytest.mark.parametrize("kind", ["unilm", "bilm", "tta", "segatron-xl"])
def test_a_model_with_clusters_learns_is_saved_and_scores(
    small_corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]], kind: str, div_val: int, tmp_path: Path
) -> None:
    """Any architecture may have it; the opened model gives the scores of the trained one."""
    tokenizer, splits = small_corpus
    config = adaptive(div_val, [40, 90], kind)
    training = TrainingConfig(steps=10, batch_size=8, learning_rate=5e-3, validate_every=5)
    settings: dict[str, Any] = {"seed": 7, "resume": tmp_path / "none.ckpt"}
    trained = fit(config, training, tokenizer, splits["train"], splits["valid"], **settings)
    assert trained.curve[-1][1] < trained.curve[0][1]
    card = ModelCard(
        name=kind,
        seed=7,
        corpus="made-up",
        corpus_words=1,
        steps=10,
        best_step=trained.best_step,
        parameters=trained.network.parameter_count,
        model=config,
        training=training,
    )
    save_model(tmp_path, {"last": trained.network.state_dict(), "best": trained.best}, card, tokenizer)
    opened = quartet.load(tmp_path)
    texts = ["the miller crossed the river.", "two baskets of pears"]
    scores = opened.score(texts)
    assert scores == LanguageModel(trained.network, tokenizer, card).score(texts)
    assert all(math.isfinite(score) and score < 0 for score in scores)
    assert opened.embedding_table.shape == (tokenizer.vocab_size, 24)


@BOTH
def test_what_a_gpu_computes_without_looking_at_the_ids(div_val: int) -> None:
    """Embeddings of every cluster at every token, and a loss that is told where the targets are: the same, exactly."""
    network, tokens, _ = network_of(adaptive(div_val))
    ids_BT = torch.randint(VOCABULARY, (3, 11))
    hidden_ND = torch.randn(33, network.config.dim)
    labelled = OBJECTIVES["lae"](loss_on_specials=True).label(
        Batch(ids_BT, torch.zeros(3, 11, 4).long(), torch.ones(3, 11).bool()),
        VOCABULARY,
        randomness.rows(1, 0, 0),
        network.edges,
    )
    assert labelled.clusters is not None and sum(map(len, labelled.clusters)) == 33
    found = []
    for told in (False, True):
        network.zero_grad()
        embedded_BTD = tokens.looked_up_everywhere(ids_BT) if told else tokens(ids_BT)
        loss = network.loss(hidden_ND, labelled.targets_N, labelled.clusters if told else None)
        (loss + embedded_BTD.sin().sum()).backward()
        found.append(
            [embedded_BTD, loss, *(each.grad for each in network.parameters() if each.grad is not None)]
        )
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, atol=1e-6)
