"""compare: every two systems that reranked a set of lists compared with each other, on test."""

from __future__ import annotations

import itertools
from pathlib import Path

from pipeline.evaluation import StageEvaluation, evaluation
from pipeline.judged_lists import reranked_systems
from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.run import main
from quartet.nbest.rescored_file import read_rescored
from quartet.nbest.significance import detectable
from quartet.nbest.system_comparison import compare
from quartet.results import EvaluatedSystem, Measure, combined_name, system_name
from quartet.tasks.rerank.metrics import metric_of


def compare_systems() -> None:
    """Write the rows of every pair of systems on every set of lists: the first minus the second, of each seed."""
    with evaluation("compare", table="rerank-pairs") as run:
        for name in run.params.nbest:
            for seed in run.params.seeds:
                compare_on(run, name, seed)
        run.say(f"{len(run.rows)} rows of pairs of systems")


def compare_on(run: StageEvaluation, name: str, seed: int) -> None:
    """Add the rows of every pair on one set of lists."""
    metric = metric_of(run.params.nbest[name])
    written = {
        system: read_rescored(path) for system, path in results_of(run.params, run.layout, name, seed).items()
    }
    for ours, theirs in itertools.combinations(written, 2):
        found = compare(written[theirs], written[ours], metric, run.samples, seed)
        n = found.utterances
        measures = {
            f"{metric.name}-difference": found.difference,
            "better": Measure(found.wins, n),
            "worse": Measure(found.losses, n),
        }
        if (smallest := detectable(found.difference)) is not None:
            measures[f"{metric.name}-detectable"] = Measure(smallest, n)
        model, reading = ours
        system = EvaluatedSystem(model, "cpu", f"{n} utterances", seed, reading, system_name(*theirs))
        run.add(measures, system, name)


def results_of(params: Params, layout: Layout, name: str, seed: int) -> dict[tuple[str, str], Path]:
    """The written lists of each model and reading with one seed."""
    found = {
        (of.model, of.reading): layout.reranked(
            layout.rescored(of.model), of.seed(seed), system, name, "test"
        )
        for system, of in reranked_systems(params, layout).items()
    }
    for pair in params.rerank.combine:
        system = combined_name(pair)
        found[system, ""] = layout.reranked(layout.combined, seed, system, name, "test")
    return found


if __name__ == "__main__":
    main(compare_systems)
