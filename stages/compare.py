"""compare: every two systems that reranked a set of lists, and every two that were judged on the items of a set."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from pipeline.evaluation import StageEvaluation, evaluation
from pipeline.judged_lists import reranked_systems
from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.run import main
from pipeline.stages import STAGES, instances
from quartet.nbest.rescored_file import read_rescored
from quartet.nbest.significance import detectable, paired_bootstrap
from quartet.nbest.system_comparison import choice_of
from quartet.results import Measure, combined_name, system_name
from quartet.statistics.outcomes import read_outcomes
from quartet.tasks.compared import add_differences, compared
from quartet.tasks.rerank.metrics import metric_of


def compare_systems() -> None:
    """Write the rows of every pair of systems, the first minus the second, over all seeds: on lists, then on sets."""
    with evaluation("compare", table="rerank-pairs") as run:
        for name in run.params.nbest:
            compare_on(run, name)
        instances_on_sets = [one for one in instances(run.params) if STAGES[one[0]].sets]
        kept = (read_outcomes(run.layout.outcomes(*instance)) for instance in instances_on_sets)
        add_differences(run, itertools.chain.from_iterable(kept))
        if run.rows:
            run.say(f"{len(run.rows)} rows of pairs of systems")


def compare_on(run: StageEvaluation, name: str) -> None:
    """Add the rows of every pair on one set of lists; `better` and `worse` are means over the seeds."""
    settings, seeds = run.params.nbest[name], run.params.seeds
    metric = metric_of(settings)
    choices = {
        system: [choice_of(read_rescored(path), metric, settings.unit) for path in paths]
        for system, paths in results_of(run.params, run.layout, name).items()
    }
    for ours, theirs in compared(choices):
        first, second = choices[ours], choices[theirs]
        difference = paired_bootstrap(first, second, run.samples, seeds[0])
        gains = np.stack([metric.merit(one.counts) for one in first]) - np.stack(
            [metric.merit(one.counts) for one in second]
        )
        n = difference.n
        measures = {
            f"{metric.name}-difference": difference,
            "better": Measure(float((gains > 0).sum() / len(gains)), n),
            "worse": Measure(float((gains < 0).sum() / len(gains)), n),
        }
        if (smallest := detectable(difference)) is not None:
            measures[f"{metric.name}-detectable"] = Measure(smallest, n)
        run.add(measures, run.pair(*ours, versus=system_name(*theirs), items=f"{n} utterances"), name)


def results_of(params: Params, layout: Layout, name: str) -> dict[tuple[str, str], list[Path]]:
    """The written lists of each model and reading, one for each seed, or one of what has no seeds (n-grams)."""
    found = {
        (of.model, of.reading): [
            layout.reranked(layout.rescored(of.model), seed, system, name, "test")
            for seed in (params.seeds if set(params.seeds) <= set(of.seeds) else of.seeds[:1])
        ]
        for system, of in reranked_systems(params, layout).items()
    }
    for pair in params.rerank.combine:
        system = combined_name(pair)
        found[system, ""] = [
            layout.reranked(layout.combined, seed, system, name, "test") for seed in params.seeds
        ]
    return found


if __name__ == "__main__":
    main(compare_systems)
