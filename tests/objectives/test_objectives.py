"""Inputs and targets of each objective, and the states that its scores come from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from quartet.config.objectives import OBJECTIVES as FACTS
from quartet.config.objectives import PARTICULAR
from quartet.data.batch import Batch, Row, collate, framed
from quartet.models.architectures import build
from quartet.objectives import OBJECTIVES
from quartet.objectives.base import IGNORED
from quartet.objectives.mlm import MASK_ID, MaskedLM
from quartet.training.randomness import rows
from tests.models.shapes import KINDS, VARIANTS, VOCABULARY, small

BOS, EOS, PAD = 5, 6, 0
RANDOM = rows(1, 0, 0)


def batch_of(*texts: list[int]) -> Batch:
    rows = [framed(Row(np.array(text, dtype=np.int64), np.zeros((len(text), 3))), BOS, EOS) for text in texts]
    return collate(rows, PAD)


def test_clm_predicts_the_next_token_and_the_end() -> None:
    objective = OBJECTIVES["clm"]()
    batch = batch_of([7, 8, 9], [10])
    inputs, targets = objective.training_pair(batch, VOCABULARY, RANDOM)
    assert inputs is batch.ids_BT
    assert targets.tolist() == [[7, 8, 9, EOS, IGNORED], [10, EOS, IGNORED, IGNORED, IGNORED]]
    assert objective.predicted(batch).tolist() == [
        [False, True, True, True, True],
        [False, True, True, False, False],
    ]


def test_a_stream_has_a_target_behind_its_last_token() -> None:
    batch = Batch(
        torch.tensor([[7, 8]]), torch.zeros(1, 2, 4), torch.ones(1, 2, dtype=torch.bool), torch.tensor([9])
    )
    _, targets = OBJECTIVES["clm"]().training_pair(batch, VOCABULARY, RANDOM)
    assert targets.tolist() == [[8, 9]]


def test_lae_predicts_its_input() -> None:
    batch = batch_of([7, 1], [10])
    _, targets = OBJECTIVES["lae"]().training_pair(batch, VOCABULARY, RANDOM)
    assert targets.tolist() == [[IGNORED, 7, 1, IGNORED], [IGNORED, 10, IGNORED, IGNORED]]
    _, targets = OBJECTIVES["lae"](loss_on_specials=True).training_pair(batch, VOCABULARY, RANDOM)
    assert targets.tolist() == [[BOS, 7, 1, EOS], [BOS, 10, EOS, IGNORED]]


def test_mlm_selects_fifteen_percent_and_masks_most_of_them() -> None:
    objective = MaskedLM()
    batch = batch_of(*([list(range(7, 23))] * 400))
    random = rows(0, 0, step=0)
    inputs, targets = objective.training_pair(batch, VOCABULARY, random)
    selected = targets != IGNORED
    assert (selected.sum(1) == round(0.15 * 16)).all()
    assert not selected[:, 0].any() and not selected[:, -1].any(), "special tokens are never selected"
    assert torch.equal(targets[selected], batch.ids_BT[selected])
    assert torch.equal(inputs[~selected], batch.ids_BT[~selected])
    masked = (inputs[selected] == MASK_ID).float().mean().item()
    kept = (inputs[selected] == targets[selected]).float().mean().item()
    assert abs(masked - 0.8) < 0.05
    assert abs(kept - (0.1 + 0.1 / 16)) < 0.04, "a random token may be the right one"
    again, _ = objective.training_pair(batch, VOCABULARY, rows(0, 0, step=1))
    assert not torch.equal(inputs, again), "dynamic: another step, other masks"
    short = batch_of([7])
    assert (objective.training_pair(short, VOCABULARY, random)[1] != IGNORED).sum() == 1
    empty = batch_of([], [7])
    assert (objective.training_pair(empty, VOCABULARY, random)[1] != IGNORED).sum(1).tolist() == [0, 1]


def test_mlm_settings_of_what_may_be_selected() -> None:
    batch = batch_of(*([list(range(7, 23))] * 40))
    capped = MaskedLM(mask_probability=0.5, max_selected=3)
    assert ((capped.training_pair(batch, VOCABULARY, RANDOM)[1] != IGNORED).sum(1) == 3).all()
    everywhere = MaskedLM(mask_probability=0.99, loss_on_specials=True)
    targets = everywhere.training_pair(batch, VOCABULARY, RANDOM)[1]
    assert (targets[:, 0] == BOS).any() and (targets[:, -1] == EOS).any()


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_parts_of_a_batch_have_its_targets(name: str) -> None:
    """Same masks, same number of targets, whatever a batch is divided into; parts without rows have none."""
    objective = OBJECTIVES[name]()
    batch = batch_of(list(range(7, 20)), [7, 8, 9], [10])
    random = rows(3, 0, step=5)
    whole = objective.training_pair(batch, VOCABULARY, random)
    for parts in (1, 2, 3, 5):
        split = batch.split(parts)
        assert len(split) == parts
        for part in split:
            inputs, targets = objective.training_pair(part, VOCABULARY, random)
            here = slice(part.first_row, part.first_row + len(inputs))
            assert torch.equal(inputs, whole[0][here, : inputs.shape[1]])
            assert torch.equal(targets, whole[1][here, : targets.shape[1]])


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_batch_has_as_many_targets_as_are_counted(name: str) -> None:
    """A training divides its loss by the counted ones, see `targets_per_step`."""
    objective = OBJECTIVES[name](mask_probability=0.3)
    own = np.array([13, 3, 1])
    _, targets = objective.training_pair(
        batch_of(*(list(range(7, 7 + size)) for size in own)), VOCABULARY, RANDOM
    )
    assert (targets != IGNORED).sum(dim=1).tolist() == objective.targets(own, specials=2).tolist()


def test_every_objective_is_known_to_the_settings_and_the_report() -> None:
    assert OBJECTIVES.keys() == FACTS.keys()
    for name, one in FACTS.items():
        assert one.masks == OBJECTIVES[name].masks
        assert set(one.settings) <= set(PARTICULAR)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_prediction_does_not_see_its_token(name: str) -> None:
    """A causal objective whose facts do not say so would let its network see what is to be predicted."""
    kind = next((kind for kind in KINDS.values() if kind["objective"] == name), {"objective": name})
    torch.manual_seed(0)
    network = build(small(**kind), VOCABULARY).eval()
    objective, batch = OBJECTIVES[name](), batch_of([7, 8, 9, 10, 11])
    states_BTD = objective.states(network, batch).predictive_BTD
    for place in objective.predicted(batch)[0].nonzero().flatten().tolist():
        ids_BT = batch.ids_BT.clone()
        ids_BT[0, place] = 12
        changed_BTD = objective.states(network, replace(batch, ids_BT=ids_BT)).predictive_BTD
        assert torch.allclose(changed_BTD[0, place], states_BTD[0, place], atol=1e-5)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_training_does_not_show_what_it_asks_for(name: str) -> None:
    """A target that moves with a token belongs to an output that does not."""
    kind = next((kind for kind in KINDS.values() if kind["objective"] == name), {"objective": name})
    torch.manual_seed(0)
    network = build(small(**kind), VOCABULARY).eval()
    objective, batch = OBJECTIVES[name](mask_probability=0.3), batch_of([7, 8, 9, 10, 11])

    def all_masked(first: int, count: int, columns: int) -> NDArray[np.uint64]:
        """BERT shows some of the tokens that it asks for: here none."""
        words = RANDOM(first, count, columns)
        words[2] = 0
        return words

    def read(ids_BT: Tensor) -> tuple[Tensor, Tensor]:
        inputs_BT, targets_BT = objective.training_pair(replace(batch, ids_BT=ids_BT), VOCABULARY, all_masked)
        return targets_BT[0], network(inputs_BT, batch.positions_BTP, batch.real_BT)[0][0]

    targets_T, states_TD = read(batch.ids_BT)
    asked = 0
    for place in range(1, 6):
        ids_BT = batch.ids_BT.clone()
        ids_BT[0, place] = 12
        other_T, moved_TD = read(ids_BT)
        its_T = other_T != targets_T
        asked += int(its_T.sum())
        assert torch.allclose(moved_TD[its_T], states_TD[its_T], atol=1e-5)
    assert asked


def test_mask_and_predict_hides_one_token_at_a_time() -> None:
    """Against one forward pass a token, whatever goes through the network at once."""
    torch.manual_seed(0)
    network = build(small(**KINDS["bilm"]), VOCABULARY).eval()
    batch = batch_of([7, 8, 9, 10], [11, 12])
    objective = MaskedLM()
    states = objective.states(network, batch).predictive_BTD
    for row, place in [(0, 1), (0, 4), (1, 2)]:
        inputs = batch.ids_BT[row : row + 1].clone()
        inputs[0, place] = MASK_ID
        alone, _ = network(inputs, batch.positions_BTP[row : row + 1], batch.real_BT[row : row + 1])
        assert torch.allclose(states[row, place], alone[0, place], atol=1e-5)
    for setting, value in (("copy_budget", 1), ("plain", True)):
        setattr(objective, setting, value)
        assert torch.allclose(objective.states(network, batch).predictive_BTD, states, atol=1e-5)
    intact = objective.states(network, batch, masked=False).predictive_BTD
    assert not torch.allclose(intact[0, 1], states[0, 1], atol=1e-3)


@pytest.mark.parametrize("kind", ["unilm", "bilm", "tta", "tta-word", "tta-segments"])
@pytest.mark.parametrize("texts", [[[7, 8, 9], [10], []], [[]], [[7]], [[11, 12], [13, 14]]])
def test_the_states_of_own_tokens_are_those_of_the_whole_reading(kind: str, texts: list[list[int]]) -> None:
    config = small(**VARIANTS[kind])
    torch.manual_seed(3)
    network = build(config, VOCABULARY, torch.arange(VOCABULARY) % 3 == 0).eval()
    objective, batch = OBJECTIVES[config.objective](), batch_of(*texts)
    wanted = objective.predicted(batch)
    own, whole = objective.own_states(network, batch), objective.states(network, batch)
    assert own.predictive_BTD.shape == whole.predictive_BTD.shape
    assert torch.allclose(own.predictive_BTD[wanted], whole.predictive_BTD[wanted], atol=1e-6)
    assert torch.allclose(own.contextual_BTD[wanted], whole.contextual_BTD[wanted], atol=1e-6)
