"""rerank@<model>: rescore every set of N-best lists, choose the weight on dev, and apply it to test."""

from __future__ import annotations

from pipeline.judged_lists import SPLITS, load_judged_split
from pipeline.layout import Layout
from pipeline.reranking import KeptScores, ModelReading, rerank_lists
from pipeline.run import main
from pipeline.scorers import Scorer, scorers
from pipeline.settings import load
from pipeline.tracking.stage import stage_run
from quartet.files import atomic_path, write_json
from quartet.results import INTACT, EvaluatedSystem, Result, write_results


def rerank(name: str) -> None:
    """Write the rows, the curves and the reranked lists of the model `name`."""
    params = load()
    layout = Layout(params.experiment)
    rows: list[Result] = []
    made: dict[str, list[int]] = {}
    curves = ["list,split,system,seed,metric,weight,value"]
    with stage_run(params, "rerank", name), KeptScores(layout, name) as kept:
        sets = {
            each: {split: load_judged_split(params, layout, each, split) for split in SPLITS}
            for each in params.nbest
        }
        for model, seed in scorers(params, name):
            for how, masked in readings(model):
                system = EvaluatedSystem(name, model.device, model.scale, seed, how)
                reading = ModelReading(model, masked, system, layout.rescored(name), kept)
                for list_name, splits in sets.items():
                    found, lines = rerank_lists(params, layout, reading, list_name, splits)
                    rows += found
                    curves += lines
                made.setdefault(how, []).append(seed)
        write_json(layout.systems(name), made)
        with atomic_path(layout.wer_curve(name)) as temporary:
            temporary.write_text("\n".join(curves) + "\n", encoding="utf-8")
        write_results(layout.rows("rerank", name), rows)


def readings(model: Scorer) -> list[tuple[str, bool]]:
    """The readings of a model: a masked one can also read the intact input (the papers' biLM\\M)."""
    return [("", True), *([(INTACT, False)] if model.masks else [])]


if __name__ == "__main__":
    main(rerank)
