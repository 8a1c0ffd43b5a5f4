"""compare-losses: every two models that read the same tokens held against each other, on the test documents."""

from __future__ import annotations

import itertools

from pipeline.layout import Layout
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.progress import say
from pipeline.tracking.stage import stage_run
from quartet.results import Result, rows_of, write_results
from quartet.tasks.perplexity import read_losses


def compare_losses() -> None:
    """Write a row for every pair of models and each seed: the first one's loss minus the second's."""
    params = load()
    layout = Layout(params.experiment)
    rows: list[Result] = []
    with stage_run(params, "compare-losses"):
        kept = {name: {one.seed: one for one in read_losses(layout.losses(name))} for name in params.models}
        for (name, losses), (other, others) in itertools.combinations(kept.items(), 2):
            for seed in params.seeds:
                ours, theirs = losses[seed], others[seed]
                if ours.comparable(theirs):
                    difference = ours.difference(theirs, params.bootstrap, seed)
                    rows += rows_of(
                        {"loss-difference": difference},
                        experiment=params.experiment,
                        table="perplexity-pairs",
                        model=name,
                        versus=other,
                        dataset=ours.dataset,
                        split="test",
                        device="cpu",
                        scale=f"{len(ours.tokens)} documents",
                        seed=seed,
                    )
        write_results(layout.rows("compare-losses"), rows)
        say(f"{len(rows)} rows of pairs of models")


if __name__ == "__main__":
    main(compare_losses)
