"""blimp@<model>: how often the good sentence of a minimal pair has the higher score."""

from __future__ import annotations

from pipeline.layout import Layout
from pipeline.run import main
from pipeline.scorers import Scorer, scorers
from pipeline.settings import load
from pipeline.task_sets import sets_of
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import stage_run
from quartet.results import Result, rows_of, system_name, write_results
from quartet.scoring.engine import score_all
from quartet.statistics.intervals import Floats
from quartet.tasks.blimp.data import MinimalPair
from quartet.tasks.blimp.metrics import blimp_measures, choices, gather_pairs


def blimp(name: str) -> None:
    """Write the rows of the model `name`, which may also be an n-gram model or one of Hugging Face, on every set."""
    params = load()
    layout = Layout(params.experiment)
    rows: list[Result] = []
    with stage_run(params, "blimp", name):
        sets = {
            dataset: gather_pairs(files, params.blimp.limit)
            for dataset, files in sets_of("blimp", params, layout)
        }
        for model, seed in scorers(params, name):
            for dataset, pairs in sets.items():
                good, bad = scored(model, pairs, f"{name} on {dataset}")
                for reading, mean in (("", False), ("mean", True)):
                    found = blimp_measures(pairs, choices(good, bad, mean), params.bootstrap, seed)
                    for part, measures in found.items():
                        if mean and part and not part.startswith("field/"):
                            continue  # of the variant, only the whole and the fields
                        rows += rows_of(
                            measures,
                            experiment=params.experiment,
                            table="blimp",
                            model=name,
                            reading=reading,
                            dataset=f"{dataset}/{part}" if part else dataset,
                            split="test",
                            device=model.device,
                            scale=model.scale,
                            seed=seed,
                        )
                    accuracy = 100 * found[""]["accuracy"].value
                    say(f"{system_name(name, reading)} on {dataset}: accuracy {accuracy:.1f} %")
        write_results(layout.rows("blimp", name), rows)


def scored(model: Scorer, pairs: list[MinimalPair], label: str) -> tuple[list[Floats], list[Floats]]:
    """Token log-probabilities of the good and of the bad sentences, each distinct sentence scored once."""
    with bar(f"{label}: sentences") as shown:
        texts = [*(pair.good for pair in pairs), *(pair.bad for pair in pairs)]
        values = score_all(model, texts, progress=shown.set)
    return values[: len(pairs)], values[len(pairs) :]


if __name__ == "__main__":
    main(blimp)
