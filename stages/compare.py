"""compare: every two systems that reranked a set of lists held against each other, on test."""

from __future__ import annotations

import itertools
from pathlib import Path

from pipeline.judged_lists import metric_of, reranked_systems
from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.progress import say
from pipeline.tracking.stage import stage_run
from quartet.nbest.rescored_file import read_rescored
from quartet.nbest.system_comparison import compare
from quartet.results import Measure, Result, combined_name, rows_of, system_name, write_results


def compare_systems() -> None:
    """Write the rows of every pair of systems on every set of lists: the first minus the second, of each seed."""
    params = load()
    layout = Layout(params.experiment)
    rows: list[Result] = []
    with stage_run(params, "compare"):
        for name in params.nbest:
            for seed in params.seeds:
                rows += compare_on(params, layout, name, seed)
        write_results(layout.rows("compare"), rows)
        say(f"{len(rows)} rows of pairs of systems")


def compare_on(params: Params, layout: Layout, name: str, seed: int) -> list[Result]:
    """Every pair on one set of lists."""
    metric = metric_of(params.nbest[name])
    written = {
        (model, reading): read_rescored(path)
        for (model, reading), path in results_of(params, layout, name, seed).items()
    }
    rows: list[Result] = []
    for ours, theirs in itertools.combinations(written, 2):
        found = compare(written[theirs], written[ours], metric, params.bootstrap, seed)
        n = found.utterances
        measures = {
            f"{metric.name}-difference": found.comparison.difference,
            "better": Measure(found.wins, n),
            "worse": Measure(found.losses, n),
        }
        optional = {
            "p-value": found.comparison.p_value,
            f"{metric.name}-detectable": found.comparison.detectable,
        }
        measures |= {key: Measure(value, n) for key, value in optional.items() if value is not None}
        rows += rows_of(
            measures,
            experiment=params.experiment,
            table="rerank-pairs",
            model=ours[0],
            reading=ours[1],
            versus=system_name(*theirs),
            dataset=name,
            split="test",
            device="cpu",
            scale=f"{n} utterances",
            seed=seed,
        )
    return rows


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
