"""combine: each pair of ``rerank.combine`` weighed together, from the scores that rerank wrote."""

from __future__ import annotations

import numpy as np

from pipeline.judged_lists import (
    SPLITS,
    JudgedSplit,
    RerankedSystem,
    load_judged_split,
    reranked_systems,
    rows_of_outcome,
    tried_weights,
)
from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.progress import say
from pipeline.tracking.stage import stage_run
from quartet.errors import InputError
from quartet.nbest.combine import combine
from quartet.nbest.rerank import Candidates, weight_grid
from quartet.nbest.rescored_file import read_rescored, write_rescored
from quartet.results import EvaluatedSystem, Measure, Result, combined_name, write_results

#: The step of the shares that are tried where the weights are no grid.
SHARES = 0.05


def combine_pairs() -> None:
    """Write the rows of every pair on every set of lists, and its reranked lists of test."""
    params = load()
    layout = Layout(params.experiment)
    layout.combined.mkdir(parents=True, exist_ok=True)
    rows: list[Result] = []
    with stage_run(params, "combine"):
        known = reranked_systems(params, layout)
        for list_name in params.nbest if params.rerank.combine else ():
            splits = {split: load_judged_split(params, layout, list_name, split) for split in SPLITS}
            for pair in params.rerank.combine:
                for seed in params.seeds:
                    rows += combine_pair(params, layout, known, pair, seed, list_name, splits)
        write_results(layout.rows("combine"), rows)


def combine_pair(
    params: Params,
    layout: Layout,
    known: dict[str, RerankedSystem],
    pair: tuple[str, str],
    seed: int,
    name: str,
    splits: dict[str, JudgedSplit],
) -> list[Result]:
    """One pair, trained with one seed, on one set of lists.

    Raises:
        InputError: one of the pair reranked nothing (only masked models have a reading of the intact input).
    """
    for system in pair:
        if system not in known:
            reason = f"{system} reranked nothing; there are {', '.join(known)}"
            raise InputError("params.yaml: rerank.combine", reason)
    dev, test = (
        [scored(layout, system, known[system], seed, name, split, each) for system in pair]
        for split, each in splits.items()
    )
    weights = params.nbest[name].weights or params.rerank.weights
    shares = weight_grid(0.0, 1.0, SHARES if weights == "exact" else weights.step)
    found = combine((dev[0], dev[1]), (test[0], test[1]), tried_weights(params, name), shares)
    system = combined_name(pair)
    write_rescored(
        layout.reranked(layout.combined, seed, system, name, "test"),
        found.test,
        found.reranking.weight,
        splits["test"].normalise,
        splits["test"].given,
    )
    mixed = dev[0].mixed(dev[1], found.share)
    mixture = EvaluatedSystem(system, "cpu", f"{pair[0]} and {pair[1]}, weighed on dev", seed)
    share = mixture.rows(
        {"share": Measure(found.share, len(found.reranking.reranked.counts))},
        experiment=params.experiment,
        table="rerank",
        dataset=name,
        split="test",
    )
    say(f"{system} on {name}: weight {found.reranking.weight:g}, share of {pair[1]} {found.share:g}")
    return share + rows_of_outcome(params, name, mixture, found.reranking, mixed, found.test)


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
