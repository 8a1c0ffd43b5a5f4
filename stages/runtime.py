"""runtime@<model>: milliseconds a sentence against its number of words. What it measures differs from run to run."""

from __future__ import annotations

from pipeline.layout import Layout
from pipeline.params import entry, load
from pipeline.progress import bar, say
from pipeline.results import rows_of
from pipeline.run import device_name, main
from pipeline.tracking import stage_run
from pipeline.trained import trained
from quartet.errors import InputError
from quartet.results import Result, write_results
from quartet.runtime.benchmark import benchmark, variants
from quartet.text.documents import read_segmented


def runtime(name: str) -> None:
    """Write the timings of the first seed's model `name`."""
    params = load()
    layout = Layout(params.experiment)
    model_settings = entry(params.models, name, "models")
    running = running_words(layout, model_settings.corpus, max(params.runtime.words, default=0))
    if len(running) < max(params.runtime.words, default=0):
        raise InputError(
            "params.yaml: runtime.words",
            f"the test text has only {len(running)} words",
            "take out the longer sentences",
        )
    sentences = {count: " ".join(running[:count]) for count in params.runtime.words}
    rows: list[Result] = []
    with stage_run(params, "runtime", name) as run:
        model = next(iter(trained(params, name)))
        with bar(f"{name}: sentences timed", total=2 * len(sentences) * len(variants(model))) as shown:
            for timing in benchmark(model, sentences, params.runtime.repeats):
                rows += rows_of(
                    {"ms": timing.milliseconds},
                    params=params,
                    table="runtime",
                    system=timing.system,
                    dataset=f"{timing.words}-words",
                    split="test",
                    device=device_name(model.device),
                    scale=f"{model.scale}; {timing.tokens} tokens",
                    seed=model.seed,
                )
                shown.advance()
        write_results(layout.rows("runtime", name), rows)
        run.log_results(rows)
    say(f"{name}: {len(rows)} timings -> {layout.rows('runtime', name)}")


def running_words(layout: Layout, corpus: str, count: int) -> list[str]:
    """The first words of the test documents' sentences."""
    words: list[str] = []
    for document in read_segmented(layout.segments(corpus) / "test.jsonl"):
        for paragraph in document.paragraphs:
            if not paragraph.heading:
                words += [word for sentence in paragraph.sentences for word in sentence.split()]
        if len(words) >= count:
            break
    return words[:count]


if __name__ == "__main__":
    main(runtime)
