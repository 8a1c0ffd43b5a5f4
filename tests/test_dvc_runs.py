"""Which stages a real `dvc repro` runs after an edit: dvc.yaml as it is, with scripts that only write something."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.edit_matrix import Pipeline

#: What follows wherever lists were reranked anew.
AFTER_RERANKING = {"combine", "compare", "report"}
#: Evaluations on the preset's examples of published sets.
ON_SETS = ("sts", "glue", "nli", "squad", "race", "blimp")
#: Whatever reads the model `tta`.
READS_TTA = {
    f"{stage}@tta" for stage in ("perplexity", "rerank", "wordsim", "finetune", "attention", *ON_SETS)
}
TUNED = {f"{stage}@tta" for stage in ("finetune", "glue", "nli", "squad", "race")}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """The preset tiny, run once."""
    made = Pipeline(tmp_path_factory.mktemp("runs"))
    ran = made.repro()
    assert {
        "code",
        "settings",
        "download@wikipedia-sample",
        "encode@wikipedia-sample-wordpiece-1k",
        "pretrain@tta",
        "report",
    } <= ran
    return made


@pytest.fixture
def pipeline(done: Pipeline, tmp_path: Path) -> Pipeline:
    """A copy in which everything is up to date."""
    return done.copied(tmp_path / "run")


def test_nothing_is_left_to_do(pipeline: Pipeline) -> None:
    assert pipeline.dvc("status").strip() == "Data and pipelines are up to date."
    assert pipeline.repro() == set()


def test_an_edit_of_one_model_re_runs_what_hangs_on_it(pipeline: Pipeline) -> None:
    pipeline.edit(lambda text: text.replace("steps: 30", "steps: 31", 1))
    evaluations = {
        f"{stage}@tta" for stage in ("perplexity", "rerank", "wordsim", "finetune", "attention", *ON_SETS)
    }
    assert (
        pipeline.repro()
        == {"settings", "pretrain@tta", "compare-losses", "runtime"} | evaluations | AFTER_RERANKING
    )


def test_a_new_model_runs_alone_whatever_its_name(pipeline: Pipeline) -> None:
    entry = pipeline.params[pipeline.params.index("  tta:\n") : pipeline.params.index("  segatron-xl:")]
    pipeline.edit(lambda text: text.replace(entry, entry + entry.replace("  tta:\n", "  bert-:\n", 1)))
    of_all = {"compare-losses", "runtime"}  # each model beside the others
    assert pipeline.repro() == {"settings", "pretrain@bert-", "perplexity@bert-", "report"} | of_all


def test_a_deleted_model_leaves_the_report(pipeline: Pipeline) -> None:
    entry = pipeline.params[pipeline.params.index("  segatron-xl:") : pipeline.params.index("pretrained:")]
    pipeline.edit(lambda text: text.replace(entry, "\n"))
    assert pipeline.repro() == {"settings", "compare-losses", "report"}


def test_an_edit_of_an_evaluation_trains_nothing(pipeline: Pipeline) -> None:
    pipeline.edit(lambda text: text.replace("step: 0.25", "step: 0.5"))
    assert pipeline.repro() == {"settings", "rerank@tta", "rerank@ngram-3"} | AFTER_RERANKING


def test_a_changed_list_re_runs_what_reads_lists(pipeline: Pipeline) -> None:
    (pipeline.folder / "data" / "nbest" / "sample-speech" / "test.json").write_text('{"u": 1}')
    reranked = {"rerank@tta", "rerank@ngram-3"} | AFTER_RERANKING
    assert pipeline.repro() == {"nbest@sample-speech", "baselines"} | reranked


def test_no_list_no_task_and_nothing_to_evaluate_is_fine(pipeline: Pipeline) -> None:
    def emptied(text: str) -> str:
        lists = text[text.index("nbest:") : text.index("evaluate:")]
        text = text.replace(lists, "nbest: {}\ntasks: {}\n").replace("models: [tta]", "models: []")
        text = text.replace("  rerank: [ngram-3, tta]", "  rerank: []")
        text = text.replace("sets: [snli]", "sets: []")
        for stage in ("wordsim", "finetune", *ON_SETS):
            text = text.replace(f"  {stage}: [tta]", f"  {stage}: []")
        return text

    pipeline.edit(emptied)
    from pipeline.params import load

    load(pipeline.folder / "params.yaml")
    assert pipeline.repro() == {"settings", "catalogue", "baselines", "runtime"} | AFTER_RERANKING
