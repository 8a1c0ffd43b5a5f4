"""What reranking is compared with: the recogniser's own choice, and the best that any reranking could make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from quartet.nbest.rerank import Candidates
from quartet.results import EvaluatedSystem
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.rerank.protocol import JudgedSplit, add_choice


def first_pass_and_oracle(
    run: Evaluation, lists: str, splits: Mapping[str, JudgedSplit], lengths: Sequence[int]
) -> None:
    """Add the rows of both on every split of a set."""
    for split, each in splits.items():
        zeros = [np.zeros(len(one.hypotheses)) for one in each.lists]
        candidates = Candidates(each.lists, zeros, each.table)
        for name, chosen in (
            ("first-pass", candidates.first_pass_selection),
            ("oracle", candidates.oracle),
        ):
            system = EvaluatedSystem(name, "cpu", f"{len(each.lists)} lists")
            add_choice(run, system, lists, split, chosen, each.lists, lengths)
