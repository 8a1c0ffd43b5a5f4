"""Which pairs of entailment are tuned on, and which are judged."""

from __future__ import annotations

from quartet.config.finetuning import NliSettings
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.nli.data import LABELS, NliPair
from quartet.tasks.nli.protocol import NliSets, nli_sets

PAIRS = [NliPair("it rains", f"word {number}", LABELS[number % 3]) for number in range(60)]


def drawn(seed: int) -> NliSets:
    settings = NliSettings(
        sets=["snli", "gone"], epochs=1, batch_size=8, learning_rate=1e-3, warmup=0.1, limit=20, max_length=8,
        random_control=False,
    )  # fmt: skip
    found = {"hans": {"test": PAIRS[:3]}, "snli": {"train": PAIRS, "dev": PAIRS[:5]}}
    return nli_sets(Evaluation("made-up", "nli", samples=50, seed=seed), found, settings)


def test_a_limit_is_drawn_of_all_pairs_with_the_seed_of_the_run() -> None:
    first, other = drawn(1), drawn(2)
    assert first == drawn(1) and first.train != other.train
    for one in (first, other):
        places = [PAIRS.index(pair) for pair in one.train]
        assert len(places) == 20
        assert places == sorted(set(places))
        assert places[-1] > 40, "not the first ones"
    assert first.scale == "20 of 60 pairs of snli"


def test_every_file_but_those_to_train_on_is_judged() -> None:
    judged = [(name, split, len(pairs)) for name, split, pairs in drawn(1).judged]
    assert judged == [("hans", "test", 3), ("snli", "dev", 5)]
