"""runtime: milliseconds of a sentence against its number of words, and of a list.

They differ from run to run, so they are no output of DVC's, whose dvc.lock they would change: the stage's output is
the record of what was timed, and the rows are kept beside the other durations, under the record's hash.
"""

from __future__ import annotations

from typing import Any

from pipeline.layout import Layout
from pipeline.params import Params, entry
from pipeline.run import choose_device, device_name, main
from pipeline.settings import load
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import stage_run
from pipeline.trained_models import trained_models
from quartet.config.model import WEIGHTS
from quartet.errors import InputError
from quartet.files import sha256, write_json
from quartet.results import EvaluatedSystem, Measure, Result, write_results
from quartet.runtime.benchmark import LIST_WORDS, TimedTexts, Timing, benchmark, cut_texts, growth, over_lae
from quartet.runtime.systems import TimedSystem, on_device, systems_of
from quartet.scoring.language_model import LanguageModel
from quartet.text.documents import read_segmented

#: The split that a row names: the text is of the test split, and what is timed on the GPU stands apart.
SPLITS = {"cpu": "test", "cuda": "test-cuda"}


def runtime() -> None:
    """Time the first seed's models on the CPU and, where the settings allow it and there is one, on the GPU."""
    params = load()
    layout = Layout(params.experiment)
    rows: list[Result] = []
    with stage_run(params, "runtime"):
        if params.runtime.models:
            models = [next(iter(trained_models(params, name))) for name in params.runtime.models]
            inputs = texts_of(params, layout)
            for device in dict.fromkeys(["cpu", choose_device(params.device)]):
                systems = systems_on(device, models, params.runtime.bert)
                rounds = (params.runtime.repeats + 1) * len(inputs)
                with bar(f"rounds of {len(systems)} systems on {device}", total=rounds) as shown:
                    timings = list(benchmark(systems, inputs, params.runtime.repeats, shown.advance))
                rows += measured(params, timings, device)
        write_json(layout.timed, timed(params, layout, rows))
        write_results(layout.run_times(sha256(layout.timed)), rows)
        say(f"{len(rows)} rows of {', '.join(params.runtime.models)}")


def timed(params: Params, layout: Layout, rows: list[Result]) -> dict[str, Any]:
    """What was timed, without a figure that differs from run to run."""
    first = params.seeds[0]
    return {
        "models": {
            name: sha256(layout.model(name, params, first) / WEIGHTS["last"])
            for name in params.runtime.models
        },
        "repeats": params.runtime.repeats,
        "tokens": {
            f"{row.split}/{row.dataset}/{row.system}": int(row.value)
            for row in rows
            if row.metric == "tokens"
        },
    }


def systems_on(device: str, models: list[LanguageModel], bert: bool) -> list[TimedSystem]:
    """What is timed on a device.

    Raises:
        InputError: a BERT is asked for, and no model says of what size.
    """
    moved = [on_device(model, device) for model in models]
    systems = [system for model in moved for system in systems_of(model)]
    if bert:
        from quartet.runtime.hf_bert import bert_like

        sizes = next((model for model in moved if model.masks), None)
        if sizes is None:
            raise InputError(
                "params.yaml: runtime.bert",
                "no masked model is timed, whose sizes it would have",
                "name one in runtime.models",
            )
        systems += bert_like(sizes, device)
    return systems


def texts_of(params: Params, layout: Layout) -> list[TimedTexts]:
    """The sentences and the list, cut from the test documents of the first model's corpus."""
    wanted = max([*params.runtime.words, LIST_WORDS * params.runtime.hypotheses])
    running: list[str] = []
    corpus = entry(params.models, params.runtime.models[0], "models").corpus
    for document in read_segmented(layout.segments(corpus) / "test.jsonl"):
        for paragraph in document.paragraphs:
            if not paragraph.heading:
                running += [word for sentence in paragraph.sentences for word in sentence.split()]
        if len(running) >= wanted:
            break
    return cut_texts(running, params.runtime.words, params.runtime.hypotheses)


def measured(params: Params, timings: list[Timing], device: str) -> list[Result]:
    """The rows of one device: times, spreads, tokens, ratios and exponents."""
    of_name = {timing.name: timing for timing in timings}
    found: dict[tuple[str, str], dict[str, Measure]] = {}
    for timing in timings:
        place = timing.name, timing.texts.name
        found[place] = {"ms": timing.milliseconds, "ms-iqr": timing.spread}
        found[place]["tokens"] = Measure(float(timing.tokens), len(timing.texts.texts))
    for (name, texts, base), ratio in over_lae(timings, params.bootstrap, params.seeds[0]).items():
        found[name, texts][f"over-{base}"] = ratio
    for (name, span), exponent in growth(timings).items():
        found[name, span] = {"exponent": exponent}
    rows: list[Result] = []
    for (name, dataset), measures in found.items():
        timed, use = of_name[name].system, of_name[name].use
        system = EvaluatedSystem(timed.of, device_name(device), timed.scale, timed.seed, timed.reading(use))
        rows += system.rows(
            measures,
            experiment=params.experiment,
            table="runtime",
            dataset=dataset,
            split=SPLITS[device],
        )
    return rows


if __name__ == "__main__":
    main(runtime)
