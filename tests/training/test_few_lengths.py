"""On a GPU a tuning's batches are of few lengths, and padding changes nothing that is learnt."""

from __future__ import annotations

import random

import pytest
import torch

from quartet.data.batch import one_of_few
from quartet.tasks.nli.tuning import SiameseModel
from quartet.tasks.squad.tuning import SpanModel, question_windows
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training.tuning import LENGTHS
from tests.data.test_passages import full_stops
from tests.models.shapes import KINDS
from tests.scoring.test_language_model import random_model
from tests.tasks.squad.test_tuning import READING, toy

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


@pytest.mark.parametrize("longest", [1, 7, 16, 24, 128, 512])
def test_there_are_so_many_lengths_and_none_is_short(longest: int) -> None:
    found = [one_of_few(length, longest, 15) for length in range(1, longest + 1)]
    assert all(length <= one <= longest for length, one in enumerate(found, start=1))
    assert len(set(found)) <= 15 and found == sorted(found)
    assert max(one - length for length, one in enumerate(found, start=1)) < -(-longest // 15)
    assert one_of_few(longest + 3, longest, 15) == longest + 3, "nothing is cut"


@pytest.mark.parametrize("kind", [name for name in KINDS if "xl" not in name])
def test_a_tunings_batches_are_of_few_lengths_and_of_the_same_loss(small_corpus: Small, kind: str) -> None:
    task = SiameseModel(random_model(kind, small_corpus[0], max_length=64), 3).eval()
    draw = random.Random(1)
    lengths = set()
    for _ in range(60):
        texts = [" ".join(draw.choices(["the", "miller", "river"], k=draw.randint(1, 70))) for _ in range(2)]
        example = [(texts[0], texts[1], draw.randrange(3))]
        task.model.device = "cpu"
        plain = task.batch(example)
        task.model.device = "cuda"
        shaped = task.batch(example)
        lengths.add(shaped.batch.ids_BT.shape)
        width = plain.batch.ids_BT.shape[1]
        assert torch.equal(plain.batch.ids_BT, shaped.batch.ids_BT[:, :width])
        assert not bool(shaped.batch.real_BT[:, width:].any())
        assert task.loss(shaped).item() == pytest.approx(task.loss(plain).item(), abs=1e-4)
    assert 2 < len(lengths) <= LENGTHS


def test_no_answer_is_looked_for_in_padding(small_corpus: Small) -> None:
    model = random_model("segabert", small_corpus[0], max_length=64)
    reader = SpanModel(model).eval()
    windows, _ = question_windows(model, toy(3, 1), READING, full_stops)
    plain = reader(reader.batch(windows))
    model.device = "cuda"
    shaped = reader(reader.batch(windows))
    width = plain.shape[1]
    assert shaped.shape[1] > width or width % 5 == 0
    assert torch.allclose(shaped[:, :width], plain, atol=1e-4)
    assert bool(torch.isneginf(shaped[:, width:]).all())
