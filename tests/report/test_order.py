"""The order of systems, sets and splits."""

from __future__ import annotations

from quartet.report.order import set_rank, split_rank, system_rank
from tests.named import named
from tests.report.synthetic import facts


def test_baselines_models_with_their_variants_others_and_the_oracle_last() -> None:
    wanted = [
        "first-pass",
        "unigram",
        "unilm",
        "bilm/context",
        "bilm/embed",
        "bilm-intact/context",
        "tta/sts",
        "tta/rerank",
        "bert-",
        "bert--intact",
        "segabert",
        "tta-segments",
        "word2vec",
        "hf-some",
        "oracle",
    ]
    known = facts()

    def rank(system: str) -> tuple[int, int, int, str]:
        of = named(system)
        return system_rank(system, of["model"], of["reading"], known)

    assert sorted(set(wanted), key=rank) == wanted


def test_sets_and_splits() -> None:
    known = facts()
    names = ["zzz", "simlex999", "wordsim353", "lee", "sample-speech", "wikipedia-sample"]
    assert sorted(names, key=lambda name: set_rank(name, known)) == names[::-1]
    assert sorted(["test", "other", "dev", "train"], key=split_rank) == ["train", "dev", "test", "other"]
