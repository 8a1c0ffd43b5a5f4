"""rerank@<model>: rescore every set of N-best lists, choose the weight on dev, and apply it to test."""

from __future__ import annotations

from functools import partial

from pipeline.decisive_settings import decisive_settings
from pipeline.evaluation import evaluation
from pipeline.judged_lists import judged_lists
from pipeline.run import main
from pipeline.scorers import scorers
from quartet.files import atomic_path, write_json
from quartet.results import EvaluatedSystem
from quartet.tasks.rerank.evaluation import KeptScores, ModelReading, evaluate, readings


def rerank(name: str) -> None:
    """Write the rows, the curves and the reranked lists of the model `name`."""
    made: dict[str, list[int]] = {}
    curves = ["list,split,system,seed,metric,weight,value"]
    with evaluation("rerank", name) as run:
        params, layout = run.params, run.layout
        sets = {lists: judged_lists(params, layout, lists) for lists in params.nbest}
        with KeptScores(layout.kept_scores(name), decisive_settings(params, "rerank", name)) as kept:
            for model, seed in scorers(params, name):
                for how, masked in readings(model):
                    system = EvaluatedSystem(name, model.device, model.scale, seed, how)
                    reading = ModelReading(model, masked, system, kept)
                    for lists, splits in sets.items():
                        written = partial(layout.reranked, layout.rescored(name), seed, system.name, lists)
                        settings = params.nbest[lists]
                        curves += evaluate(run, reading, lists, splits, settings, params.rerank, written)
                    made.setdefault(how, []).append(seed)
        write_json(layout.systems(name), made)
        with atomic_path(layout.wer_curve(name)) as temporary:
            temporary.write_text("\n".join(curves) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(rerank)
