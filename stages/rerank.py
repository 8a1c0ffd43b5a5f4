"""rerank@<model>: rescore every set of N-best lists, choose the weight on dev, and apply it to test."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pipeline.layout import Layout
from pipeline.params import Params, load
from pipeline.progress import bar, say
from pipeline.results import rows_of
from pipeline.run import main
from pipeline.tracking import stage_run
from pipeline.trained import trained
from quartet.files import atomic_path
from quartet.nbest.formats import jsonl
from quartet.nbest.normalise import Normalisation
from quartet.nbest.rerank import Candidates, Curve, tune_and_apply, weight_grid
from quartet.nbest.rescored import write_rescored
from quartet.nbest.scores import score_lists
from quartet.nbest.significance import paired_bootstrap, wer_measure
from quartet.results import Measure, Result, write_results
from quartet.scoring.language_model import LanguageModel

#: Texts that are scored between two movements of the progress bar.
CHUNK = 512


def rerank(name: str) -> None:
    """Write the rows, the curves and the reranked test lists of the model `name`."""
    params = load()
    layout = Layout(params.experiment)
    rows: list[Result] = []
    curves = ["list,split,system,seed,weight,wer"]
    with stage_run(params, "rerank", name) as run:
        for model in trained(params, name):
            for system, masked in readings(model):
                for list_name in params.nbest:
                    found, lines = rerank_lists(params, layout, model, system, masked, list_name)
                    rows += found
                    curves += lines
        with atomic_path(layout.wer_curve(name)) as temporary:
            temporary.write_text("\n".join(curves) + "\n", encoding="utf-8")
        write_results(layout.rows("rerank", name), rows)
        run.log_results(rows)
        run.log_artifact(layout.wer_curve(name))


def readings(model: LanguageModel) -> list[tuple[str, bool]]:
    """The systems that a model makes: a masked model can also read the intact input (the papers' biLM\\M)."""
    intact = [(f"{model.name}-intact", False)] if model.masks else []
    return [(model.name, True), *intact]


def rerank_lists(
    params: Params, layout: Layout, model: LanguageModel, system: str, masked: bool, list_name: str
) -> tuple[list[Result], list[str]]:
    """One system on one set of lists: its rows, and the lines of its curves."""
    settings = params.nbest[list_name]
    normalise = Normalisation(settings.normalise.lowercase, settings.normalise.strip_punctuation)
    dev, test = (
        score_split(params, layout, model, system, masked, list_name, split, normalise)
        for split in ("dev", "test")
    )
    weights = params.rerank.weights
    outcome = tune_and_apply(dev, test, weight_grid(weights.start, weights.stop, weights.step))
    write_rescored(layout.reranked(model.name, model.seed, system, list_name), test, outcome.weight)
    rows = []
    for split, candidates in (("dev", dev), ("test", test)):
        chosen = candidates.select(outcome.weight)
        measures = {"wer": wer_measure(chosen, params.bootstrap, model.seed).percent}
        if split == "test":  # on dev, where the weight was chosen, a difference would flatter
            comparison = paired_bootstrap(
                chosen, candidates.first_pass_selection, params.bootstrap, model.seed
            )
            n = comparison.difference.n
            measures["wer-difference"] = comparison.difference.percent
            measures["p-value"] = Measure(comparison.p_value, n)
            measures["weight"] = Measure(outcome.weight, n)
        rows += rows_of(
            measures,
            params=params,
            table="rerank",
            system=system,
            dataset=list_name,
            split=split,
            device=model.device,
            scale=model.scale,
            seed=model.seed,
        )
    say(f"{system} on {list_name}: weight {outcome.weight:g}, WER {100 * outcome.reranked.wer:.2f} %")
    lines = [
        line
        for split, curve in (("dev", outcome.dev), ("test", outcome.test))
        for line in curve_lines(f"{list_name},{split},{system},{model.seed}", curve)
    ]
    return rows, lines


def score_split(
    params: Params,
    layout: Layout,
    model: LanguageModel,
    system: str,
    masked: bool,
    list_name: str,
    split: str,
    normalise: Normalisation,
) -> Candidates:
    """Score every distinct hypothesis of one split once."""
    lists = normalise.lists(jsonl.read(layout.nbest(list_name) / f"{split}.jsonl"))
    return Candidates(
        lists, score_lists(lists, scorer(model, masked, params.rerank.score, f"{system} {split}"))
    )


def scorer(
    model: LanguageModel, masked: bool, score: str, label: str
) -> Callable[[list[str]], Sequence[float]]:
    """Texts to the sum or the mean of their tokens' log-probabilities, with a progress bar."""

    def score_texts(texts: list[str]) -> list[float]:
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        values = np.zeros(len(texts))
        with bar(f"{label}: hypotheses", total=len(texts)) as shown:
            for at in range(0, len(order), CHUNK):
                part = order[at : at + CHUNK]
                for index, logprobs in zip(
                    part, model.token_logprobs([texts[i] for i in part], masked), strict=True
                ):
                    values[index] = logprobs.sum() / (max(1, len(logprobs)) if score == "mean" else 1)
                shown.advance(len(part))
        return [float(value) for value in values]

    return score_texts


def curve_lines(prefix: str, curve: Curve) -> list[str]:
    """CSV lines of a curve, WER in percent."""
    return [
        f"{prefix},{weight:g},{100 * wer:.6f}" for weight, wer in zip(curve.weights, curve.wer, strict=True)
    ]


if __name__ == "__main__":
    main(rerank)
