"""vectors@<name>: semantic similarity by the mean of word vectors from a file, GloVe's or Word2Vec's."""

from __future__ import annotations

from pathlib import Path

from pipeline.fetch import fetch_one, fetched_path
from pipeline.layout import Layout
from pipeline.params import entry
from pipeline.run import main
from pipeline.settings import load
from pipeline.similarity import judged_rows, judged_sets, similarity_rows, texts_of
from pipeline.tracking.progress import say
from pipeline.tracking.stage import stage_run
from quartet.errors import InputError
from quartet.results import EvaluatedSystem, Measure, Result, write_results
from quartet.tasks.word_vectors import load_vectors


def vectors(name: str) -> None:
    """Write the rows of the word vectors `name` on every set, with the share of words that have one."""
    params = load()
    layout = Layout(params.experiment)
    settings = entry(params.vectors, name, "vectors")
    with stage_run(params, "vectors", name):
        fetch_one(settings, Path(params.data.root), layout.vectors(name))
        table = load_vectors(fetched_path(layout.vectors(name)), settings.format, settings.lowercase)
        sets = judged_sets(params, layout)
        texts = texts_of(sets)
        found = table.embed(texts)
        if not found.known:
            raise InputError(
                settings.source, "has no vector for any word of the sets", "check format and lowercase"
            )
        system = EvaluatedSystem(name, "cpu", table.scale)
        rows: list[Result] = similarity_rows(params, sets, texts, found.means, system)
        for one in sets:
            own = table.embed(one.pairs.texts)
            coverage = {"coverage": Measure(own.known / own.words, own.words)}
            rows += judged_rows(params, one.dataset, one.split, coverage, system)
        say(f"{name}: {found.known:,} of {found.words:,} words have a vector")
        write_results(layout.rows("vectors", name), rows)


if __name__ == "__main__":
    main(vectors)
