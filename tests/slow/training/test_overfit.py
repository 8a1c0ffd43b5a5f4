"""Every model learns one batch by heart: to no loss, or to the least that its blindness allows, and never under it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from quartet.config.model import ModelConfig
from quartet.config.training import TrainingConfig
from quartet.data.batch import Batch, Row, collate, framed
from quartet.models.architectures import build
from quartet.objectives import OBJECTIVES
from quartet.objectives.base import IGNORED, Objective, RowRandom
from quartet.objectives.mlm import MASK_ID
from quartet.text.tokenizer import SPECIALS
from quartet.training.optim import build_optimiser
from quartet.training.randomness import rows, words
from tests.models.drawn import CONTINUES_V
from tests.models.shapes import VARIANTS, VOCABULARY, small

PAD, BOS, EOS = (SPECIALS.index(token) for token in ("[PAD]", "[BOS]", "[EOS]"))
STEPS = 120
#: The loss that may be left, in nats per target; a loss that is not learnt is about log 23 = 3.1.
NEAR = 0.01
#: Rounding in float32.
ROUNDING = 1e-5

#: Two sentences that differ in one token; and two that differ in both pieces of a word (16 and up continue a word).
PAIR = [[8, 13, 9, 16, 11, 12], [8, 13, 10, 16, 11, 12]]
WORDS = [[8, 13, 9, 16, 11, 12], [8, 13, 10, 17, 11, 12]]
PLACE = 2
#: Their tokens' sentence indices; released offsets tell whether the last one begins a sentence.
SENTENCES = [[0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1]]
TOLD = [[0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 2]]
FOLLOWING = 14

#: Targets of a sentence: uniLM has [EOS] too, a masked model the two that are masked.
TARGETS = {**dict.fromkeys(VARIANTS, 6), "unilm": 7, "bilm": 2, "segabert": 2}


def batch_of(texts: list[list[int]], config: ModelConfig, sentences: list[list[int]]) -> Batch:
    """The texts framed, or as windows of streams, with indices of sentences."""
    rows = []
    for text, indices in zip(texts, sentences, strict=True):
        places = [at - indices.index(sentence) for at, sentence in enumerate(indices)]
        rows.append(
            Row(np.array(text), np.array([[at, s, 0] for at, s in zip(places, indices, strict=True)]))
        )
    if config.reads != "streams":
        return collate([framed(row, BOS, EOS) for row in rows], PAD)
    batch = collate(rows, PAD)
    if config.recurrence.index == "running":
        batch.positions_BTP[..., 1] = batch.positions_BTP[..., 0]
    return replace(batch, following_B=torch.full((len(texts),), FOLLOWING))


def masks(objective: Objective, batch: Batch, place: int) -> RowRandom:
    """Random numbers, the same for each row and step, by which MLM masks the place and others, and keeps none."""
    for seed in range(10_000):

        def random(first: int, rows: int, columns: int, seed: int = seed) -> NDArray[np.uint64]:
            return words(seed, 0, 1, columns).repeat(rows, axis=1)

        inputs_BT, targets_BT = objective.training_pair(batch, VOCABULARY, random)
        wanted_BT = targets_BT != IGNORED
        if torch.equal(inputs_BT == MASK_ID, wanted_BT) and wanted_BT[:, place].all():
            return random
    raise AssertionError("no seed masks them")


def seen(config: ModelConfig, batch: Batch, inputs_BT: Tensor, row: int, place: int) -> tuple[Any, ...]:
    """All that a prediction may depend on."""
    ids, positions = inputs_BT[row].tolist(), batch.positions_BTP[row].tolist()
    if config.objective == "clm":
        known = len(positions) if config.leaks else place + 1
        return place, ids[: place + 1], positions[:known]
    if config.objective == "mlm":
        return place, ids, positions
    hidden = {place}
    if config.tta.mask == "word":
        words = np.cumsum([not CONTINUES_V[token] for token in ids])
        hidden = set(np.flatnonzero(words == words[place]).tolist())
    shown = [("hidden", bool(CONTINUES_V[t])) if at in hidden else t for at, t in enumerate(ids)]
    return place, shown, positions


def floor(config: ModelConfig, batch: Batch, inputs_BT: Tensor, targets_BT: Tensor) -> float:
    """The entropy of the targets given what the model may see of the batch, a target."""
    told = [
        (repr(seen(config, batch, inputs_BT, row, place)), int(targets_BT[row, place]))
        for row, place in (targets_BT != IGNORED).nonzero().tolist()
    ]
    alike, right = Counter(key for key, _ in told), Counter(told)
    return sum(-math.log(right[pair] / alike[pair[0]]) for pair in told) / len(told)


def losses(config: ModelConfig, objective: Objective, batch: Batch, random: RowRandom) -> list[float]:
    """The loss per target at each step, all on the one batch."""
    torch.manual_seed(1)
    network = build(config, VOCABULARY, CONTINUES_V).train()
    training = TrainingConfig(
        steps=STEPS, batch_size=2, learning_rate=0.01, warmup=0.1, schedule="cosine", weight_decay=0.0
    )
    optimiser, schedule = build_optimiser(network, training)
    found = []
    labelled = objective.label(batch, VOCABULARY, random)
    targets = len(labelled.targets_N)
    for _ in range(STEPS):
        loss, _ = objective.loss(network, labelled)
        optimiser.zero_grad()
        (loss / targets).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), training.clip)
        optimiser.step()
        schedule.step()
        found.append(loss.item() / targets)
    return found


def overfit(name: str, texts: list[list[int]], sentences: list[list[int]]) -> tuple[list[float], float]:
    """The losses on one batch, and the least that there can be."""
    config = small(**{**VARIANTS[name], "init_std": 0.1})
    objective = OBJECTIVES[config.objective](mask_probability=0.4)
    batch = batch_of(texts, config, sentences)
    random = rows(0, 0, 0)
    if config.objective == "mlm":
        random = masks(objective, batch, PLACE + 1)
    least = floor(config, batch, *objective.training_pair(batch, VOCABULARY, random))
    return losses(config, objective, batch, random), least


@pytest.mark.parametrize("name", VARIANTS)
def test_one_sentence_is_learnt_to_no_loss(name: str) -> None:
    found, least = overfit(name, PAIR[:1], SENTENCES[:1])
    assert least == 0
    assert found[0] > 2 and found[-1] < NEAR


@pytest.mark.parametrize("name", VARIANTS)
def test_a_minimal_pair_is_learnt_to_the_floor_and_not_under_it(name: str) -> None:
    """Where the two differ, a model that sees all but this token (or all before it) is right half of the time."""
    found, least = overfit(name, PAIR, SENTENCES)
    assert least == pytest.approx(math.log(2) / TARGETS[name])
    assert least - ROUNDING < min(found)
    assert found[-1] < least + NEAR


@pytest.mark.parametrize(("name", "doubts"), [("tta", 0), ("tta-word", 2)])
def test_pieces_tell_of_each_other_unless_the_word_is_hidden(name: str, doubts: int) -> None:
    """Of a word of two pieces: each is certain beside the other, and neither is if both are hidden."""
    found, least = overfit(name, WORDS, SENTENCES)
    assert least == pytest.approx(doubts * math.log(2) / 6)
    assert least - ROUNDING < min(found)
    assert found[-1] < least + NEAR


def test_released_offsets_go_under_the_floor_of_causal_models() -> None:
    """Where the last token of one text of the pair begins a sentence: that tells the two apart before they differ."""
    blind, least = overfit("segatron-xl", PAIR, TOLD)
    leaking, of_leaking = overfit("segatron-xl-released", PAIR, TOLD)
    assert least == pytest.approx(math.log(2) / 6)
    assert of_leaking == 0
    assert least - ROUNDING < min(blind)
    assert blind[-1] < least + NEAR
    assert leaking[-1] < NEAR
