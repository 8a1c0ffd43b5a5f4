"""The order of systems, sets and splits."""

from __future__ import annotations

from quartet.report.order import model_of, set_rank, split_rank, system_rank
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
    assert sorted(set(wanted), key=lambda system: system_rank(system, known)) == wanted


def test_a_model_is_no_variant_of_a_shorter_name() -> None:
    known = facts()
    assert model_of("tta-segments/context", known) == "tta-segments"
    assert model_of("tta-wide", known) == "tta"
    assert model_of("bilm-one-by-one/sts", known) == "bilm"
    assert model_of("hf-some/cls", known) == "hf-some"


def test_sets_and_splits() -> None:
    known = facts()
    names = ["zzz", "simlex999", "wordsim353", "lee", "sample-speech", "wikipedia-sample"]
    assert sorted(names, key=lambda name: set_rank(name, known)) == names[::-1]
    assert sorted(["test", "other", "dev", "train"], key=split_rank) == ["train", "dev", "test", "other"]
