"""sts@<model>: semantic similarity without training, from contextual vectors and from the embedding layer's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pipeline.layout import Layout
from pipeline.params import load
from pipeline.progress import say, track
from pipeline.results import rows_of
from pipeline.run import main
from pipeline.task_sets import sets_of
from pipeline.tracking import stage_run
from pipeline.trained import trained
from quartet.evaluation.datasets import SimilaritySet
from quartet.evaluation.sts import similarity_measures
from quartet.results import Result, write_results
from quartet.scoring.language_model import LanguageModel, Layer


def sts(name: str) -> None:
    """Write the rows of the model `name` on every set."""
    params = load()
    layout = Layout(params.experiment)
    rows: list[Result] = []
    with stage_run(params, "sts", name) as run:
        sets = list(sets_of("documents-similarity", params, layout))
        for model in trained(params, name):
            for dataset, pairs in sets:
                assert isinstance(pairs, SimilaritySet)
                for system, vectors in readings(model, list(pairs.texts)).items():
                    measures = similarity_measures(pairs, given(vectors), params.bootstrap, model.seed)
                    rows += rows_of(
                        measures,
                        params=params,
                        table="sts",
                        system=system,
                        dataset=dataset,
                        split="test",
                        device=model.device,
                        scale=model.scale,
                        seed=model.seed,
                    )
                    say(f"{system} on {dataset}: Pearson {measures['pearson'].value:.3f}")
        write_results(layout.rows("sts", name), rows)
        run.log_results(rows)


def readings(model: LanguageModel, texts: list[str]) -> dict[str, np.ndarray]:
    """Vectors of the texts by each way of reading: the last layer's and the embedding layer's mean.

    A masked model is read both by mask-and-predict and with its input intact, as in the T-TA paper's Table 3.
    """
    ways: list[tuple[str, Layer, bool]] = [(f"{model.name}/context", "context", True)]
    if model.masks:
        ways.append((f"{model.name}-intact/context", "context", False))
    ways.append((f"{model.name}/embed", "embed", False))
    return {
        system: np.concatenate([model.embed([text], layer, masked) for text in track(texts, system)])
        for system, layer, masked in ways
    }


def given(vectors: np.ndarray) -> Callable[[list[str]], np.ndarray]:
    """Vectors that are computed already, in the form in which the measure asks for them."""
    return lambda texts: vectors


if __name__ == "__main__":
    main(sts)
