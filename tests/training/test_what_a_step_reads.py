"""What each step of a training and of a validation is given: batches, memory, masks, and its own random numbers."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from quartet.config.training import TrainingConfig
from quartet.data.batch import Batch
from quartet.models.network import Memory, Network
from quartet.objectives import OBJECTIVES
from quartet.objectives.base import IGNORED, LabelledBatch
from quartet.tasks.nli.tuning import SiameseModel
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import SPECIALS, TextTokenizer
from quartet.training import randomness
from quartet.training.fit import TrainedNetwork, fit
from quartet.training.tuning import TuningSettings, load_or_tune
from tests.models.shapes import KINDS, small
from tests.scoring.test_language_model import random_model
from tests.small_corpus import corpus_of

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


@dataclass
class Call:
    """One call of an objective's loss.

    Attributes:
        training: gradients are asked for.
        seed: of torch's generator.
        targets_BT: what was to be predicted.
        given, left: the memory that came in and the one that went out.
    """

    training: bool
    batch: Batch
    seed: int
    targets_BT: Tensor
    given: Memory | None
    left: Memory | None


def calls(
    patch: pytest.MonkeyPatch, corpus: Small, folder: Path, kind: str, seed: int = 7, **settings: Any
) -> tuple[TrainedNetwork, list[Call]]:
    """A short training, and what its objective was given."""
    objective = OBJECTIVES[KINDS[kind]["objective"]]
    loss = objective.loss
    found: list[Call] = []

    def noted(
        self: Any, network: Network, labelled: LabelledBatch, memory: Memory | None = None
    ) -> tuple[Tensor, Memory | None]:
        seeded = torch.initial_seed()
        out = loss(self, network, labelled, memory)
        targets_BT = torch.full_like(labelled.inputs_BT, IGNORED)
        targets_BT.view(-1)[labelled.places_N] = labelled.targets_N
        found.append(Call(torch.is_grad_enabled(), labelled.batch, seeded, targets_BT, memory, out[1]))
        return out

    plain: dict[str, Any] = {"steps": 4, "batch_size": 4, "learning_rate": 1e-3, "validate_every": 2}
    tokenizer, splits = corpus
    with patch.context() as patched:
        patched.setattr(objective, "loss", noted)
        trained = fit(
            small(**KINDS[kind]),
            TrainingConfig(**{**plain, **settings}),
            *(tokenizer, splits["train"], splits["valid"]),
            seed=seed,
            resume=folder / "resume.ckpt",
        )
    return trained, found


def of_validations(found: list[Call]) -> list[list[Call]]:
    """The calls of each validation."""
    return [
        list(group)
        for training, group in itertools.groupby(found, lambda call: call.training)
        if not training
    ]


def same(one: Memory | None, other: Memory | None) -> bool:
    """Whether both hold the same tokens' states, or are both nothing."""
    if one is None or other is None:
        return one is other
    return torch.equal(one.hidden_LBMD, other.hidden_LBMD) and torch.equal(
        one.positions_BMP, other.positions_BMP
    )


def test_a_training_goes_on_with_the_memory_of_the_window_before(
    small_corpus: Small, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Over the validations in between, and from nothing where new streams begin."""
    steps = 20
    settings: dict[str, Any] = {
        "steps": steps,
        "batch_size": 32,
        "validate_every": 3,
        "validation_batches": 1,
    }
    _, found = calls(monkeypatch, small_corpus, tmp_path, "transformer-xl", **settings)
    trained = [call for call in found if call.training]
    assert len(trained) == steps
    fresh = [call.batch.fresh for call in trained]
    assert fresh[0] and any(fresh[1:]) and not all(fresh[1:])
    for before, call in itertools.pairwise(trained):
        assert same(call.given, None if call.batch.fresh else before.left)


def test_a_validation_has_a_memory_of_its_own(
    small_corpus: Small, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, found = calls(monkeypatch, small_corpus, tmp_path, "transformer-xl")
    validations = of_validations(found)
    assert len(validations) == 2
    for validation in validations:
        assert len(validation) > 2 and validation[0].given is None
        for before, call in itertools.pairwise(validation):
            assert before.left is not None and same(call.given, before.left)


def ids(found: list[Call]) -> list[list[list[int]]]:
    return [call.batch.ids_BT.tolist() for call in found]


@pytest.mark.parametrize("kind", ["tta", "segabert", "transformer-xl"])
def test_every_validation_reads_the_same(
    small_corpus: Small, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    """Whatever the seed; without a limit all of the split, of spans and streams in its order."""
    valid = small_corpus[1]["valid"]
    read: dict[int, list[list[list[int]]]] = {}
    for seed, count in ((7, 0), (8, 0), (7, 1), (8, 1)):
        _, found = calls(monkeypatch, small_corpus, tmp_path, kind, seed=seed, validation_batches=count)
        one, other = (ids(validation) for validation in of_validations(found))
        assert one == other == read.setdefault(count, one)
    whole = read[0]
    assert len(read[1]) < len(whole)
    if kind == "tta":
        rows = sorted(row for batch in whole for row in batch)
        assert len(rows) == len(valid)
        return
    own = [token for row in whole[0] for token in row if token >= len(SPECIALS)]
    if kind == "transformer-xl":  # the second row is another place of the corpus
        own = [token for token in whole[0][0] if token >= len(SPECIALS)]
    assert own == np.asarray(valid.ids[: len(own)]).tolist()


@pytest.fixture(scope="module")
def repeated(small_corpus: Small) -> Small:
    """One document of one sentence, which is all that any batch of any step can hold."""
    corpus = corpus_of([[[list(range(10, 22))]]])
    return small_corpus[0], {"train": corpus, "valid": corpus_of([[[list(range(10, 22))]]] * 8)}


def masks(found: list[Call]) -> list[list[tuple[int, ...]]]:
    """Of each call, the places that each row had to predict."""
    return [
        [tuple(np.flatnonzero(row != IGNORED).tolist()) for row in call.targets_BT.numpy()] for call in found
    ]


def test_every_row_of_every_step_has_masks_of_its_own(
    repeated: Small, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same text everywhere: what is selected of it differs by row, by step and by seed, and by nothing else."""
    settings: dict[str, Any] = {"mask_probability": 0.3, "steps": 3, "batch_size": 4}

    def trained(seed: int, **more: Any) -> list[list[tuple[int, ...]]]:
        _, found = calls(monkeypatch, repeated, tmp_path, "segabert", seed=seed, **{**settings, **more})
        return masks([call for call in found if call.training])

    one, other = trained(7), trained(8)
    assert {len(row) for step in one for row in step} == {4}, "0.3 of 12"
    for steps in (one, other):
        assert all(len(set(step)) > 1 for step in steps)
    assert len({str(step) for step in [*one, *other]}) == 6
    assert trained(7) == one
    in_parts = trained(7, accumulate=2)
    joined = [[*first, *second] for first, second in zip(in_parts[::2], in_parts[1::2], strict=True)]
    assert joined == one
    chosen = [place for step in [*one, *other] for row in step for place in row]
    assert len(set(chosen)) == 12, "no place is always left out"


def test_every_validation_has_the_same_masks_which_no_step_has(
    repeated: Small, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"mask_probability": 0.3, "batch_size": 2}
    _, found = calls(monkeypatch, repeated, tmp_path, "segabert", **settings)
    one, other = (masks(validation) for validation in of_validations(found))
    assert one == other
    assert len(one) == 4 and len({str(batch) for batch in one}) == 4, "each batch its own"
    objective = OBJECTIVES["mlm"](0.3)
    for number, batch in enumerate(one):
        call = of_validations(found)[0][number]
        drawn = randomness.rows(7, randomness.CORRUPTION, number)
        _, targets_BT = objective.training_pair(call.batch, repeated[0].vocab_size, drawn)
        (trained,) = masks([Call(False, call.batch, 0, targets_BT, None, None)])
        assert trained != batch


def test_dropout_has_a_seed_for_each_part_of_each_step(
    small_corpus: Small, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def seeds(seed: int) -> list[int]:
        _, found = calls(monkeypatch, small_corpus, tmp_path, "tta", seed=seed, accumulate=2)
        return [call.seed for call in found if call.training]

    one, other = seeds(7), seeds(8)
    assert len(one) == 8 and len({*one, *other}) == 16
    assert seeds(7) == one


def test_each_use_of_random_numbers_has_its_own() -> None:
    uses = (randomness.INITIALISATION, randomness.DROPOUT, randomness.CORRUPTION, randomness.VALIDATION)
    every = [
        randomness.seed_of(seed, use, step, part)
        for seed, use, step, part in itertools.product(range(3), uses, range(5), range(2))
    ]
    assert len(set(every)) == len(every) and all(0 <= each < 2**63 for each in every)
    rows = [
        randomness.rows(seed, use, step) for seed, use, step in itertools.product(range(2), uses, range(3))
    ]
    drawn = np.concatenate([random(0, 3, 4).ravel() for random in rows])
    assert len(set(drawn.tolist())) == len(drawn) == 24 * 48


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ("0 0 0 0", "0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_the_numbers_are_those_of_philox(counter: str, key: str, expected: str) -> None:
    """The known answers of its authors' library, Random123."""
    words = np.array([int(word, 16) for word in counter.split()], dtype=np.uint64)
    low, high = (int(word, 16) for word in key.split())
    found = randomness.philox(words.reshape(4, 1, 1), low | high << 32)
    assert [f"{word:08x}" for word in found.ravel().tolist()] == expected.split()


def test_a_part_of_a_batch_has_the_numbers_of_its_rows() -> None:
    whole = randomness.words(2**60 + 7, 0, 9, 5)
    assert np.array_equal(randomness.words(2**60 + 7, 4, 3, 5), whole[:, 4:7])
    assert np.array_equal(randomness.words(2**60 + 7, 0, 9, 3), whole[:, :, :3])
    assert not np.array_equal(randomness.words(7, 0, 9, 5), whole), "both halves of the key count"


def test_the_first_weights_depend_on_the_seed_alone(
    small_corpus: Small, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """At a rate that moves nothing they are the last ones too."""

    def weights(seed: int, **settings: Any) -> dict[str, Tensor]:
        still: dict[str, Any] = {"steps": 1, "learning_rate": 1e-30, **settings}
        trained, _ = calls(monkeypatch, small_corpus, tmp_path, "tta", seed=seed, **still)
        return {name: tensor for name, tensor in trained.network.state_dict().items() if tensor.dim() > 1}

    one, again, other = weights(7), weights(7, batch_size=2, mask_probability=0.5), weights(8)
    assert all(torch.equal(tensor, again[name]) for name, tensor in one.items())
    assert not any(torch.equal(tensor, other[name]) for name, tensor in one.items())


def test_each_epoch_of_a_tuning_has_each_example_once_in_an_order_of_its_own(
    small_corpus: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = random_model("tta", small_corpus[0])
    pairs = [(f"the miller {number}", "a grey heron", number % 3) for number in range(12)]
    read: list[Any] = []
    original = SiameseModel.batch

    def noted(self: SiameseModel, examples: Any) -> Any:
        read.extend(examples)
        return original(self, examples)

    monkeypatch.setattr(SiameseModel, "batch", noted)
    orders = []
    for seed in (1, 2):
        read.clear()
        settings = TuningSettings(epochs=2, batch_size=5, learning_rate=1e-3, warmup=0.0, seed=seed)
        load_or_tune(lambda: SiameseModel(model, 3), pairs, settings)
        orders += [read[:12], read[12:24]]
    assert all(sorted(order) == sorted(pairs) for order in orders)
    assert len({str(order) for order in [*orders, pairs]}) == 5
