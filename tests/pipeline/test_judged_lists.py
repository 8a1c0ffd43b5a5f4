"""Which written result of a system stands beside others' of a seed."""

from __future__ import annotations

from pipeline.judged_lists import RerankedSystem


def test_a_system_has_the_result_of_the_seed_or_its_only_one() -> None:
    assert [RerankedSystem("tta", "", (1, 2)).seed(seed) for seed in (1, 2)] == [1, 2]
    assert [RerankedSystem("ngram-3", "", (1,)).seed(seed) for seed in (1, 2)] == [1, 1]
