"""rerank@<model>: rescore every set of N-best lists, choose the weight on dev, and apply it to test."""

from __future__ import annotations

from pipeline.layout import Layout
from pipeline.lists import SPLITS, Judged, Ranker, judged, rows_of_outcome
from pipeline.params import Params, load
from pipeline.progress import bar, say
from pipeline.run import main
from pipeline.scorers import Scorer, scorers
from pipeline.tracking import stage_run
from quartet.files import atomic_path, write_json
from quartet.nbest.rerank import Candidates, Curve, tune_and_apply, weight_grid
from quartet.nbest.rescored import write_rescored
from quartet.nbest.scores import score_lists, score_texts
from quartet.results import Result, write_results
from quartet.scoring.engine import score_all


def rerank(name: str) -> None:
    """Write the rows, the curves and the reranked lists of the model `name`."""
    params = load()
    layout = Layout(params.experiment)
    rows: list[Result] = []
    made: dict[str, list[int]] = {}
    curves = ["list,split,system,seed,metric,weight,value"]
    with stage_run(params, "rerank", name) as run:
        sets = {
            each: {split: judged(params, layout, each, split) for split in SPLITS} for each in params.nbest
        }
        for model, seed in scorers(params, name):
            for system, masked in readings(model, name):
                ranker = Ranker(system, model.device, model.scale, seed)
                for list_name, splits in sets.items():
                    found, lines = rerank_lists(
                        params, layout, model, name, ranker, masked, list_name, splits
                    )
                    rows += found
                    curves += lines
                made.setdefault(system, []).append(seed)
        write_json(layout.systems(name), made)
        with atomic_path(layout.wer_curve(name)) as temporary:
            temporary.write_text("\n".join(curves) + "\n", encoding="utf-8")
        write_results(layout.rows("rerank", name), rows)
        run.log_results(rows)
        run.log_artifact(layout.wer_curve(name))


def readings(model: Scorer, name: str) -> list[tuple[str, bool]]:
    """The systems that the model `name` makes: a masked one can also read the intact input (the papers' biLM\\M)."""
    return [(name, True), *([(f"{name}-intact", False)] if model.masks else [])]


def rerank_lists(
    params: Params,
    layout: Layout,
    model: Scorer,
    name: str,
    ranker: Ranker,
    masked: bool,
    list_name: str,
    splits: dict[str, Judged],
) -> tuple[list[Result], list[str]]:
    """One system on one set of lists: its rows, and the lines of its curves; the reranked lists are written."""
    scored = {
        split: scored_lists(params, model, masked, each, f"{ranker.system} {split}")
        for split, each in splits.items()
    }
    weights = params.rerank.weights
    grid = weight_grid(weights.start, weights.stop, weights.step)
    outcome = tune_and_apply(scored["dev"], scored["test"], grid)
    for split, candidates in scored.items():
        path = layout.reranked(layout.rescored(name), ranker.seed or 0, ranker.system, list_name, split)
        write_rescored(path, candidates, outcome.weight)
    rows = rows_of_outcome(params, list_name, ranker, outcome, scored["dev"], scored["test"])
    metric = params.nbest[list_name].metric
    say(f"{ranker.system} on {list_name}: weight {outcome.weight:g}, {metric} {outcome.reranked.value:.2f}")
    lines = [
        line
        for split, curve in (("dev", outcome.dev), ("test", outcome.test))
        for line in curve_lines(f"{list_name},{split},{ranker.system},{ranker.seed},{metric}", curve)
    ]
    return rows, lines


def scored_lists(params: Params, model: Scorer, masked: bool, split: Judged, label: str) -> Candidates:
    """Score every distinct hypothesis of one split once, with a progress bar."""
    with bar(f"{label}: hypotheses") as shown:
        scorer = score_texts(
            lambda texts: score_all(model, texts, masked, progress=shown.set), params.rerank.score
        )
        return Candidates(split.lists, score_lists(split.lists, scorer), split.table)


def curve_lines(prefix: str, curve: Curve) -> list[str]:
    """CSV lines of a curve."""
    return [
        f"{prefix},{weight:g},{value:.6f}" for weight, value in zip(curve.weights, curve.values, strict=True)
    ]


if __name__ == "__main__":
    main(rerank)
