"""No output of T-TA knows its own token (or its own word), to the last bit; every other token moves it."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from quartet.models.network import Network
from quartet.text.tokenizer import SPECIALS
from tests.models.drawn import (
    CONTINUES_V,
    LENGTHS,
    SEEDS,
    SIZES,
    SUBSETS,
    TTA,
    network_of,
    other_of_its_kind,
    other_ordinary,
    restarted,
)
from tests.models.shapes import random_inputs

BOS, EOS = SPECIALS.index("[BOS]"), SPECIALS.index("[EOS]")


def tta(seed: int, sizes: dict[str, Any], positions: tuple[str, ...], **options: Any) -> Network:
    return network_of(
        seed,
        **sizes,
        objective="lae",
        architecture="tta",
        reads="spans",
        positions=positions,
        tta=options,
    )


def outputs(network: Network, ids_BT: Tensor, positions_BTP: Tensor, real_BT: Tensor) -> Tensor:
    """With the same dropout each time, where there is some."""
    torch.manual_seed(0)
    hidden_BTD: Tensor = network(ids_BT, positions_BTP, real_BT)[0]
    return hidden_BTD.detach()


@settings(max_examples=80)
@given(
    seed=SEEDS,
    sizes=SIZES,
    positions=st.sampled_from(SUBSETS),
    options=TTA,
    lengths=LENGTHS,
    framed=st.booleans(),
    training=st.booleans(),
    data=st.data(),
)
def test_no_output_knows_its_own_token(
    seed: int,
    sizes: dict[str, Any],
    positions: tuple[str, ...],
    options: dict[str, Any],
    lengths: list[int],
    framed: bool,
    training: bool,
    data: st.DataObject,
) -> None:
    """Also in training, with dropout; also for the special tokens around a text."""
    dropout = {"dropout": 0.2, "attention_dropout": 0.2} if training else {}
    network = tta(seed, {**sizes, **dropout}, positions, **options).train(training)
    ids_BT, positions_BTP, real_BT = random_inputs(len(lengths), max(lengths), lengths)
    if framed:
        ids_BT[:, 0] = BOS
        ids_BT[torch.arange(len(lengths)), torch.tensor(lengths) - 1] = EOS
    positions_BTP = restarted(positions_BTP)
    row = data.draw(st.integers(0, len(lengths) - 1))
    place = data.draw(st.integers(0, lengths[row] - 1))
    changed_BT = ids_BT.clone()
    changed_BT[row, place] = other_ordinary(ids_BT[row, place])
    before_BTD = outputs(network, ids_BT, positions_BTP, real_BT)
    after_BTD = outputs(network, changed_BT, positions_BTP, real_BT)
    assert torch.isfinite(before_BTD).all()
    assert torch.equal(before_BTD[row, place], after_BTD[row, place])
    moved_BT = (before_BTD != after_BTD).any(-1)
    others_BT = real_BT.clone()
    others_BT[row, place] = False
    others_BT[torch.arange(len(lengths)) != row] = False
    if not training:  # dropout may drop what the change would have moved
        assert torch.equal(moved_BT & real_BT, others_BT), "every other token of the text, and none beside"
    assert not (moved_BT & real_BT & ~others_BT).any()


@settings(max_examples=80)
@given(
    seed=SEEDS,
    sizes=SIZES,
    positions=st.sampled_from(SUBSETS),
    options=TTA,
    lengths=LENGTHS,
    framed=st.booleans(),
    data=st.data(),
)
def test_no_output_knows_its_own_word(
    seed: int,
    sizes: dict[str, Any],
    positions: tuple[str, ...],
    options: dict[str, Any],
    lengths: list[int],
    framed: bool,
    data: st.DataObject,
) -> None:
    """With ``tta.mask: word``, any piece may become another of its kind: its word's outputs stay, all others move.

    A text may begin within a word, behind its opening [BOS].
    """
    network = tta(seed, sizes, positions, mask="word", **options)
    ids_BT, positions_BTP, real_BT = random_inputs(len(lengths), max(lengths), lengths)
    if framed:
        ids_BT[:, 0] = BOS
        ids_BT[torch.arange(len(lengths)), torch.tensor(lengths) - 1] = EOS
    row = data.draw(st.integers(0, len(lengths) - 1))
    own = [at for at in range(lengths[row]) if ids_BT[row, at] >= len(SPECIALS)]
    if not own:
        return
    place = data.draw(st.sampled_from(own))
    changed_BT = ids_BT.clone()
    changed_BT[row, place] = other_of_its_kind(ids_BT[row, place])
    assert CONTINUES_V[changed_BT[row, place]] == CONTINUES_V[ids_BT[row, place]]
    assert changed_BT[row, place] != ids_BT[row, place]
    before_BTD = outputs(network, ids_BT, positions_BTP, real_BT)
    after_BTD = outputs(network, changed_BT, positions_BTP, real_BT)
    moved_T = (before_BTD != after_BTD).any(-1)[row]
    word = words(ids_BT[row].tolist())
    for at in range(lengths[row]):
        assert bool(moved_T[at]) == (word[at] != word[place])


def words(ids: list[int]) -> list[int]:
    """The number of each token's word, counted token by token: specials stand alone, and ## goes on."""
    numbers: list[int] = []
    for at, token in enumerate(ids):
        special = token < len(SPECIALS)
        goes_on = at > 0 and not special and bool(CONTINUES_V[token]) and ids[at - 1] >= len(SPECIALS)
        numbers.append(numbers[-1] if goes_on else len(set(numbers)))
    return numbers


def test_the_word_mask_hides_what_the_diagonal_shows() -> None:
    """The first piece of a word of two: told by the second under the diagonal, not under the blocks."""
    ids_BT = torch.tensor([[BOS, 8, 20, 9, EOS]])
    changed_BT = torch.tensor([[BOS, 8, 21, 9, EOS]])
    _, positions_BTP, real_BT = random_inputs(1, 5)
    for mask, told in (("token", True), ("word", False)):
        network = tta(0, {"init_std": 0.3}, ("sequence",), mask=mask)
        before_BTD, after_BTD = (
            outputs(network, ids, positions_BTP, real_BT) for ids in (ids_BT, changed_BT)
        )
        assert torch.equal(before_BTD[0, 1], after_BTD[0, 1]) != told
        assert not torch.equal(before_BTD[0, 3], after_BTD[0, 3]), "another word"
