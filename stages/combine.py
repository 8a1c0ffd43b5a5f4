"""combine: each pair of ``rerank.combine`` weighed together, from the scores that rerank wrote."""

from __future__ import annotations

import numpy as np

from pipeline.evaluation import StageEvaluation, evaluation
from pipeline.judged_lists import RerankedSystem, judged_lists, reranked_systems
from pipeline.layout import Layout
from pipeline.run import main
from quartet.errors import InputError
from quartet.nbest.rerank import Candidates, combine, weight_grid
from quartet.nbest.rescored_file import read_rescored, write_rescored
from quartet.results import EvaluatedSystem, Measure, combined_name
from quartet.tasks.rerank.metrics import JudgedSplit, add_outcome, tried_weights

#: The step of the shares that are tried where the weights are no grid.
SHARES = 0.05


def combine_pairs() -> None:
    """Write the rows of every pair on every set of lists, and its reranked lists of test."""
    with evaluation("combine", table="rerank") as run:
        params, layout = run.params, run.layout
        layout.combined.mkdir(parents=True, exist_ok=True)
        known = reranked_systems(params, layout)
        for lists in params.nbest if params.rerank.combine else ():
            splits = judged_lists(params, layout, lists)
            for pair in params.rerank.combine:
                for seed in params.seeds:
                    combine_pair(run, known, pair, seed, lists, splits)


def combine_pair(
    run: StageEvaluation,
    known: dict[str, RerankedSystem],
    pair: tuple[str, str],
    seed: int,
    name: str,
    splits: dict[str, JudgedSplit],
) -> None:
    """Add the rows of one pair, trained with one seed, on one set of lists.

    Raises:
        InputError: one of the pair reranked nothing (only masked models have a reading of the intact input).
    """
    layout, settings, of_all = run.layout, run.params.nbest[name], run.params.rerank
    for system in pair:
        if system not in known:
            reason = f"{system} reranked nothing; there are {', '.join(known)}"
            raise InputError("params.yaml: rerank.combine", reason)
    dev, test = (
        [scored(layout, system, known[system], seed, name, split, each) for system in pair]
        for split, each in splits.items()
    )
    weights = settings.weights or of_all.weights
    shares = weight_grid(0.0, 1.0, SHARES if weights == "exact" else weights.step)
    found = combine((dev[0], dev[1]), (test[0], test[1]), tried_weights(settings, of_all), shares)
    combined = combined_name(pair)
    write_rescored(
        layout.reranked(layout.combined, seed, combined, name, "test"),
        found.test,
        found.reranking.weight,
        splits["test"].normalise,
        splits["test"].given,
    )
    mixed = dev[0].mixed(dev[1], found.share)
    mixture = EvaluatedSystem(combined, "cpu", f"{pair[0]} and {pair[1]}, weighed on dev", seed)
    run.add({"share": Measure(found.share, len(found.reranking.reranked.counts))}, mixture, name)
    metric, outcome = settings.metric, found.reranking
    run.say(
        f"{combined} on {name}: {metric.upper()} {outcome.reranked.value:.2f}, first pass "
        f"{outcome.first_pass.value:.2f} (weight {outcome.weight:.4g}, share of {pair[1]} {found.share:.4g})"
    )
    add_outcome(run, mixture, name, found.reranking, mixed, found.test, of_all.lengths)


def scored(
    layout: Layout,
    system: str,
    of: RerankedSystem,
    seed: int,
    name: str,
    split: str,
    judged_split: JudgedSplit,
) -> Candidates:
    """The lists with the scores that a system gave them.

    Raises:
        InputError: the written scores are of other lists.
    """
    path = layout.reranked(layout.rescored(of.model), of.seed(seed), system, name, split)
    known = {row.utterance: row.lm for row in read_rescored(path)}
    scores = []
    for one in judged_split.lists:
        lm = known.get(one.utterance, {})
        if any(each.text not in lm for each in one.hypotheses):
            raise InputError(path, f'utterance "{one.utterance}" has other hypotheses here', "run dvc repro")
        scores.append(np.array([lm[each.text] for each in one.hypotheses]))
    return Candidates(judged_split.lists, scores, judged_split.table)


if __name__ == "__main__":
    main(combine_pairs)
