"""vectors@<name>: semantic similarity by the mean of word vectors from a file, GloVe's or Word2Vec's."""

from __future__ import annotations

from pathlib import Path

from pipeline.evaluation import evaluation
from pipeline.fetch import fetch_one, fetched_path
from pipeline.params import entry
from pipeline.run import main
from pipeline.task_sets import published_sets, sets_of
from quartet.errors import InputError
from quartet.results import EvaluatedSystem, Measure
from quartet.tasks.sts.data import DOCUMENTS, KIND
from quartet.tasks.sts.evaluation import judge, judged_sets, texts_of
from quartet.tasks.word_vectors import load_vectors


def vectors(name: str) -> None:
    """Write the rows of the word vectors `name` on every set, with the share of words that have one."""
    with evaluation("vectors", name, table="sts", outcomes=True) as run:
        params, layout = run.params, run.layout
        settings = entry(params.vectors, name, "vectors")
        fetch_one(settings, Path(params.data.root), layout.vectors(name))
        table = load_vectors(fetched_path(layout.vectors(name)), settings.format, settings.lowercase)
        sets = judged_sets(sets_of(DOCUMENTS, params, layout), published_sets(KIND, params, layout))
        texts = texts_of(sets)
        found = table.embed(texts)
        if not found.known:
            raise InputError(
                settings.source, "has no vector for any word of the sets", "check format and lowercase"
            )
        system = EvaluatedSystem(name, "cpu", table.scale)
        judge(run, system, sets, texts, found.means)
        for one in sets:
            own = table.embed(one.pairs.texts)
            run.add({"coverage": Measure(own.known / own.words, own.words)}, system, one.dataset, one.split)
        run.say(f"{name}: {found.known:,} of {found.words:,} words have a vector")


if __name__ == "__main__":
    main(vectors)
