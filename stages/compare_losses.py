"""compare-losses: every two models that read the same tokens compared with each other, on the test documents."""

from __future__ import annotations

import itertools

from pipeline.evaluation import evaluation
from pipeline.run import main
from quartet.tasks.perplexity.losses import loss_difference, read_losses


def compare_losses() -> None:
    """Write a row for every pair of models: the first one's loss minus the second's, over all seeds.

    Models with memory are also compared where they read fewer tokens at once (Segatron paper, Figure 3).
    """
    with evaluation("compare-losses", table="perplexity-pairs") as run:
        seeds = run.params.seeds
        for name, other in itertools.combinations(run.params.models, 2):
            both = [read_losses(run.layout.losses(each)) for each in (name, other)]
            for split in dict.fromkeys(one.split for one in both[0]):
                ours, theirs = (
                    sorted((one for one in each if one.split == split), key=lambda one: seeds.index(one.seed))
                    for each in both
                )
                if not theirs or not ours[0].comparable(theirs[0]):
                    continue
                difference = loss_difference(ours, theirs, run.samples, seeds[0])
                table = "perplexity-pairs" if split == "test" else "input-length-pairs"
                system = run.pair(name, versus=other, items=f"{len(ours[0].tokens)} documents")
                run.add({"loss-difference": difference}, system, ours[0].dataset, split, table)
        if run.rows:
            run.say(f"{len(run.rows)} rows of pairs of models")


if __name__ == "__main__":
    main(compare_losses)
