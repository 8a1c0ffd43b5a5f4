"""Which tokens are targets, for any texts: special tokens only where they are asked for, padding never."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from quartet.data.batch import Batch, Row, collate, framed
from quartet.objectives import OBJECTIVES
from quartet.objectives.base import IGNORED
from quartet.objectives.mlm import MASK_ID
from quartet.text.tokenizer import SPECIALS, is_own
from quartet.training.randomness import rows
from tests.models.drawn import SEEDS
from tests.models.shapes import VOCABULARY

PAD, UNK, CLS, SEP, _, BOS, EOS = range(len(SPECIALS))
FRAMES = st.sampled_from([(BOS, EOS), (CLS, SEP)])
#: Ordinary tokens and [UNK], which is one of a text's own.
TEXTS = st.lists(
    st.lists(st.sampled_from([UNK, *range(len(SPECIALS), VOCABULARY)]), max_size=9), min_size=1, max_size=4
)


def batch_of(texts: list[list[int]], frame: tuple[int, int]) -> Batch:
    rows = [Row(np.array(text, dtype=np.int64), np.zeros((len(text), 3))) for text in texts]
    return collate([framed(row, *frame) for row in rows], PAD)


@given(texts=TEXTS, frame=FRAMES, specials=st.booleans(), seed=SEEDS)
def test_clm_predicts_what_follows_and_the_closing_token(
    texts: list[list[int]], frame: tuple[int, int], specials: bool, seed: int
) -> None:
    """Once a text, whatever ``loss_on_specials`` says; the opening token is read and never predicted."""
    batch = batch_of(texts, frame)
    objective = OBJECTIVES["clm"](loss_on_specials=specials)
    inputs_BT, targets_BT = objective.training_pair(batch, VOCABULARY, rows(seed, 0, 0))
    assert torch.equal(inputs_BT, batch.ids_BT)
    for text, row in zip(texts, targets_BT.tolist(), strict=True):
        expected = [*text, frame[1]]
        assert row == expected + [IGNORED] * (len(row) - len(expected))
    # what is trained is what is scored, a place earlier
    assert objective.predicted(batch).sum() == (targets_BT != IGNORED).sum()


@given(texts=TEXTS, frame=FRAMES, specials=st.booleans(), seed=SEEDS)
def test_lae_predicts_every_token_of_its_own(
    texts: list[list[int]], frame: tuple[int, int], specials: bool, seed: int
) -> None:
    batch = batch_of(texts, frame)
    objective = OBJECTIVES["lae"](loss_on_specials=specials)
    inputs_BT, targets_BT = objective.training_pair(batch, VOCABULARY, rows(seed, 0, 0))
    assert torch.equal(inputs_BT, batch.ids_BT)
    for text, row in zip(texts, targets_BT.tolist(), strict=True):
        edges = frame if specials else (IGNORED, IGNORED)
        expected = [edges[0], *text, edges[1]]
        assert row == expected + [IGNORED] * (len(row) - len(expected))


@given(
    texts=TEXTS,
    frame=FRAMES,
    specials=st.booleans(),
    seed=SEEDS,
    probability=st.sampled_from([0.05, 0.15, 0.5, 0.99]),
    limit=st.integers(0, 3),
)
def test_mlm_selects_its_share_of_what_may_be_selected(
    texts: list[list[int]], frame: tuple[int, int], specials: bool, seed: int, probability: float, limit: int
) -> None:
    """With the specials among the candidates they count in the share, and can be masked like others."""
    batch = batch_of(texts, frame)
    objective = OBJECTIVES["mlm"](probability, limit, specials)
    inputs_BT, targets_BT = objective.training_pair(batch, VOCABULARY, rows(seed, 0, 0))
    selected_BT = targets_BT != IGNORED
    may_BT = batch.real_BT & (is_own(batch.ids_BT) | torch.tensor(specials))
    assert not (selected_BT & ~may_BT).any()
    assert torch.equal(targets_BT[selected_BT], batch.ids_BT[selected_BT])
    assert torch.equal(inputs_BT[~selected_BT], batch.ids_BT[~selected_BT])
    for candidates, count in zip(may_BT.sum(1).tolist(), selected_BT.sum(1).tolist(), strict=True):
        quota = min(candidates, max(1, round(probability * candidates)))
        assert count == (min(quota, limit) if limit else quota)
    made = inputs_BT[selected_BT]
    kept = made == batch.ids_BT[selected_BT]
    assert ((made == MASK_ID) | (made >= len(SPECIALS)) | kept).all(), "no special token is put in at random"


@pytest.mark.parametrize("name", OBJECTIVES)
@given(texts=TEXTS, frame=FRAMES)
def test_a_score_is_of_the_text_alone(name: str, texts: list[list[int]], frame: tuple[int, int]) -> None:
    """And of the closing token where the objective predicts it, whatever was a target in training."""
    batch = batch_of(texts, frame)
    for specials in (False, True):
        predicted_BT = OBJECTIVES[name](loss_on_specials=specials).predicted(batch)
        found = [batch.ids_BT[row][predicted_BT[row]].tolist() for row in range(len(texts))]
        assert found == [[*text, frame[1]] if OBJECTIVES[name].predicts_end else text for text in texts]


def test_a_stream_predicts_each_end_of_a_paragraph_in_training() -> None:
    """[EOS] is a token of the stream; a perplexity does not count it, training does."""
    ids = torch.tensor([[8, EOS, 9, 10]])
    batch = Batch(ids, torch.zeros(1, 4, 4), torch.ones(1, 4, dtype=torch.bool), torch.tensor([EOS]))
    _, targets_BT = OBJECTIVES["clm"]().training_pair(batch, VOCABULARY, rows(0, 0, 0))
    assert targets_BT.tolist() == [[EOS, 9, 10, EOS]]
