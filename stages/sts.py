"""sts@<model>: semantic similarity without training for it, by every way of making a text's vector."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pipeline.layout import Layout
from pipeline.run import main
from pipeline.scorers import scorers
from pipeline.settings import load
from pipeline.similarity import judged_sets, similarity_rows, texts_of
from pipeline.tracking.progress import bar
from pipeline.tracking.stage import stage_run
from quartet.errors import InputError
from quartet.export.scorer import ExportedLM
from quartet.ngram.score import NgramLM
from quartet.results import INTACT, EvaluatedSystem, Result, system_name, write_results
from quartet.scoring.language_model import LanguageModel
from quartet.scoring.network_reader import Layer
from quartet.scoring.pretrained_lm import PretrainedLM

#: The name of each reading in the results.
READINGS: dict[Layer, str] = {
    "context": "context",
    "embed": "embed",
    "table": "table",
    "first": "cls",
    "last": "eos",
}


def sts(name: str) -> None:
    """Write the rows of the model `name` on every set."""
    params = load()
    layout = Layout(params.experiment)
    rows: list[Result] = []
    with stage_run(params, "sts", name):
        sets = judged_sets(params, layout)
        texts = texts_of(sets)
        for model, _ in scorers(params, name):
            if isinstance(model, NgramLM):
                raise InputError(f"params.yaml: evaluate.sts: {name}", "an n-gram model has no vectors")
            seed = None if name in params.pretrained else model.seed  # trained with none of the experiment's
            for reading, vectors in readings(model, name, texts):
                system = EvaluatedSystem(name, model.device, model.scale, seed, reading)
                rows += similarity_rows(params, sets, texts, vectors, system)
        write_results(layout.rows("sts", name), rows)


def readings(
    model: LanguageModel | ExportedLM | PretrainedLM, name: str, texts: list[str]
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (name of the reading, vectors of the texts), one at a time.

    The context of a masked model is read both by mask-and-predict and with its input intact, as in the T-TA paper's
    Table 3. Every text is read as one sentence, by models with segment positions too.
    """
    ways = [(READINGS[layer], layer, True) for layer in model.layers]
    if model.masks:
        ways.insert(1, (f"{INTACT}/{READINGS['context']}", "context", False))
    for reading, layer, masked in ways:
        with bar(system_name(name, reading)) as shown:
            vectors = model.embed(texts, layer, masked, shown.set)
        yield reading, vectors


if __name__ == "__main__":
    main(sts)
