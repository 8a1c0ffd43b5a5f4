"""compare-losses: every two models that read the same tokens compared with each other, on the test documents."""

from __future__ import annotations

import itertools

from pipeline.evaluation import evaluation
from pipeline.run import main
from quartet.results import EvaluatedSystem
from quartet.tasks.perplexity.losses import read_losses


def compare_losses() -> None:
    """Write a row for every pair of models and each seed: the first one's loss minus the second's."""
    with evaluation("compare-losses", table="perplexity-pairs") as run:
        params = run.params
        kept = {
            name: {one.seed: one for one in read_losses(run.layout.losses(name))} for name in params.models
        }
        for (name, losses), (other, others) in itertools.combinations(kept.items(), 2):
            for seed in params.seeds:
                ours, theirs = losses[seed], others[seed]
                if ours.comparable(theirs):
                    difference = ours.difference(theirs, run.samples, seed)
                    documents = f"{len(ours.tokens)} documents"
                    system = EvaluatedSystem(name, "cpu", documents, seed, versus=other)
                    run.add({"loss-difference": difference}, system, ours.dataset)
        run.say(f"{len(run.rows)} rows of pairs of models")


if __name__ == "__main__":
    main(compare_losses)
