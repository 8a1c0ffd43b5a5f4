"""wordsim@<model>: word similarity of the token table."""

from __future__ import annotations

from pipeline.layout import Layout
from pipeline.run import main
from pipeline.settings import load
from pipeline.task_sets import sets_of
from pipeline.tracking.progress import say
from pipeline.tracking.stage import stage_run
from pipeline.trained_models import trained_models
from quartet.results import Result, rows_of, write_results
from quartet.tasks.wordsim.data import WordPairs
from quartet.tasks.wordsim.metrics import word_similarity


def wordsim(name: str) -> None:
    """Write the rows of the model `name` on every set."""
    params = load()
    layout = Layout(params.experiment)
    rows: list[Result] = []
    with stage_run(params, "wordsim", name):
        sets = list(sets_of("word-similarity", params, layout))
        for model in trained_models(params, name):
            for dataset, pairs in sets:
                assert isinstance(pairs, WordPairs)
                measures = word_similarity(
                    pairs,
                    model.tokenizer.encode,
                    model.embedding_table,
                    model.tokenizer.unk_id,
                    params.bootstrap,
                    model.seed,
                )
                rows += rows_of(
                    measures,
                    experiment=params.experiment,
                    table="wordsim",
                    model=name,
                    dataset=dataset,
                    split="test",
                    device=model.device,
                    scale=model.scale,
                    seed=model.seed,
                )
                say(f"{name} on {dataset}: Spearman {measures['spearman'].value:.3f}")
        write_results(layout.rows("wordsim", name), rows)


if __name__ == "__main__":
    main(wordsim)
