"""nli@<model>: siamese fine-tuning on entailment, its accuracy, and the likeness of meaning that it teaches."""

from __future__ import annotations

import dataclasses

from pipeline.layout import Layout
from pipeline.nli_rows import accuracy_rows, likeness_rows, likeness_sets, nli_sets
from pipeline.run import main
from pipeline.settings import load
from pipeline.similarity import texts_of
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import stage_run
from pipeline.trained_models import trained_models
from quartet.errors import InputError
from quartet.files import keep_only
from quartet.results import EvaluatedSystem, Result, write_results
from quartet.tasks.nli.data import LABELS
from quartet.training import siamese
from quartet.training.siamese import embed, tune_siamese, untrained_model
from quartet.training.tuned_weights import tuning_name
from quartet.training.tuning import TuningSettings

#: Settings that decide no weight of a tuning; its pairs are named by themselves.
IDLE = ("sets", "limit", "random_control")


def nli(name: str) -> None:
    """Write the rows of the model `name`: before tuning, tuned, and as a control tuned from random weights.

    The tuned weights stay in the resume folder, so that a changed evaluation does not tune again.
    """
    params = load()
    layout = Layout(params.experiment)
    if not params.nli.sets:
        raise InputError(
            "params.yaml: nli.sets", "names no set to tune on", "name entries of tasks of kind: nli"
        )
    decisive = {key: value for key, value in dataclasses.asdict(params.nli).items() if key not in IDLE}
    rows: list[Result] = []
    kept = []
    with stage_run(params, "nli", name):
        sets = nli_sets(params, layout)
        likeness = likeness_sets(params, layout)
        texts = texts_of(likeness)
        pairs = [(pair.premise, pair.hypothesis, LABELS.index(pair.label)) for pair in sets.train]
        if not pairs:
            say("no set of nli.sets is available: nothing to tune on")
        for model in trained_models(params, name) if pairs else ():
            settings = TuningSettings.of(params.nli, model.seed)
            before = EvaluatedSystem(name, model.device, model.scale, model.seed, "untuned")
            rows += likeness_rows(params, likeness, texts, embed(model, texts), before)
            starts = {"": model}
            if params.nli.random_control:
                starts["random"] = untrained_model(model, settings)
            for start, one in starts.items():
                key = tuning_name(siamese.__name__, decisive, sets.train, one.fingerprint, model.seed)
                weights = layout.resume(f"nli/{name}", model.seed) / f"{key}.safetensors"
                kept.append(weights)
                with bar(f"{name} {start}: steps of tuning") as shown:
                    found = tune_siamese(
                        one, pairs, len(LABELS), settings, params.nli.max_length, weights, shown.set
                    )
                system = EvaluatedSystem(
                    name,
                    model.device,
                    f"{one.scale}, tuned on {sets.scale} (epochs: {params.nli.epochs})",
                    model.seed,
                    start,
                )
                rows += accuracy_rows(params, sets, found, system)
                encoder = dataclasses.replace(system, reading=f"{start}-nli" if start else "nli")
                rows += likeness_rows(params, likeness, texts, found.embed(texts), encoder)
        write_results(layout.rows("nli", name), rows)
    keep_only(kept)


if __name__ == "__main__":
    main(nli)
