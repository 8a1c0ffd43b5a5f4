"""nli@<model>: siamese fine-tuning on entailment, its accuracy, and the similarity of meaning that it teaches."""

from __future__ import annotations

from functools import partial

from pipeline.decisive_settings import decisive_settings
from pipeline.evaluation import evaluation
from pipeline.run import main
from pipeline.task_sets import published_sets, sets_of
from pipeline.trained_models import trained_models
from quartet.tasks.nli import data as nli_data
from quartet.tasks.nli.evaluation import evaluate
from quartet.tasks.nli.metrics import nli_sets
from quartet.tasks.sts import data as sts_data
from quartet.tasks.sts.evaluation import judged_sets
from quartet.training.tuned_weights import KeptTunings


def nli(name: str) -> None:
    """Write the rows of the model `name`: before tuning, tuned, and as a control tuned from random weights.

    The tuned weights stay in the resume folder, so that a changed evaluation does not tune again.
    """
    with evaluation("nli", name, outcomes=True) as run:
        params, layout = run.params, run.layout
        settings = decisive_settings(params, "nli", name)
        sets = nli_sets(run, dict(sets_of(nli_data.KIND, params, layout)), params.nli)
        if not sets.train:
            run.say("no set of nli.sets is available: nothing to tune on")
            return
        similarity = judged_sets((), published_sets(sts_data.KIND, params, layout))
        tested = [one for one in similarity if one.split == "test"]
        with KeptTunings(partial(layout.resume, f"nli/{name}"), settings) as kept:
            for model in trained_models(params, name):
                evaluate(run, model, sets, tested, params.nli, kept)


if __name__ == "__main__":
    main(nli)
