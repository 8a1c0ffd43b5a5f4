"""Which stages a real `dvc repro` runs after an edit: dvc.yaml as it is, with scripts that only write something."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from pipeline.stages import ON_SETS
from quartet.config.loading import read_yaml
from tests.edit_matrix import EDITS, WORDS, Pipeline, ran
from tests.quick_dvc import ALWAYS, UP_TO_DATE

#: What follows wherever lists were reranked anew.
AFTER_RERANKING = {"combine", "compare", "report"}
#: What times the model `tta`.
TIMED = {"runtime-inputs@tta", "runtime"}
#: Whatever reads the model `tta`.
READS_TTA = {f"{stage}@tta" for stage in ("perplexity", "rerank", "attention", *ON_SETS)}


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
    assert pipeline.dvc("status").strip() == UP_TO_DATE
    assert pipeline.repro() == ALWAYS


def test_a_new_model_runs_alone_whatever_its_name(pipeline: Pipeline) -> None:
    entry = pipeline.params[pipeline.params.index("  tta:\n") : pipeline.params.index("  segatron-xl:")]
    pipeline.edit(lambda text: text.replace(entry, entry + entry.replace("  tta:\n", "  bert-:\n", 1)))
    of_all = {"compare-losses"}  # each model beside the others
    assert pipeline.repro() == {"settings", "pretrain@bert-", "perplexity@bert-", "report"} | of_all


def test_what_removed_entries_had_made_is_in_no_folder_that_a_stage_reads(pipeline: Pipeline) -> None:
    """Everything but what it takes: DVC finds in the folders what a clone finds that never had the entries."""
    kept = {
        name: (pipeline.artifacts / name).read_text()
        for name in ("models/tta/made", "rows/glue/tta.jsonl", "curves/wer/ngram-3.csv")
    }
    pipeline.edit(without_most)
    said = pipeline.dvc("repro")
    left = {path.relative_to(pipeline.artifacts).as_posix() for path in pipeline.made()}
    assert not {name for name in left if "ngram-3" in name or "segatron-xl" in name}
    assert not {name for name in left if name.startswith(("rows/glue/", "glue/", "predictions/squad/"))}
    assert "rm -r artifacts/tiny/removed" in said
    apart = pipeline.artifacts / "removed" / "rows" / "glue" / "tta.jsonl"
    assert apart.read_text() == kept["rows/glue/tta.jsonl"]
    assert pipeline.dvc("status").strip() == UP_TO_DATE
    clone = pipeline.cloned()
    assert clone.dvc("status").strip() == UP_TO_DATE
    assert clone.repro() == ALWAYS
    pipeline.edit(lambda text: text)
    assert not {"pretrain@tta", "pretrain@segatron-xl", "ngram@ngram-3", "glue@tta"} & pipeline.repro()
    for name, content in kept.items():
        assert (pipeline.artifacts / name).read_text() == content, name


def without_most(text: str) -> str:
    """No n-gram, one model, one list of evaluations emptied after another."""
    entry = text[text.index("  segatron-xl:") : text.index("pretrained:")]
    ngrams = text[text.index("ngrams:") : text.index("translators:")]
    text = text.replace(entry, "\n").replace(ngrams, "ngrams: {}\n")
    for stage in ("glue", "squad", "attention"):
        text = text.replace(f"  {stage}: [tta]", f"  {stage}: []")
    return text.replace("  rerank: [ngram-3, tta]", "  rerank: [tta]")


@pytest.mark.parametrize(
    "off", [("rerank", "wordsim", "glue", "squad", "blimp"), ("sts", "finetune", "nli", "race", "attention")]
)
def test_evaluations_that_are_switched_off_and_on_again_are_not_run_again(
    pipeline: Pipeline, off: tuple[str, ...]
) -> None:
    """Nor are those that stay on."""
    made = {
        path: path.read_text() for stage in off for path in (pipeline.artifacts / "rows" / stage).iterdir()
    }
    assert len(made) == len(off) + ("rerank" in off)

    def without(text: str) -> str:
        for stage in off:
            text, count = re.subn(rf"(\n  {stage}: )\[.*tta\]", r"\1[]", text)
            assert count == 1, stage
        return text

    pipeline.edit(without)
    assert pipeline.repro() == {"settings", "compare", "report"} | (
        AFTER_RERANKING if "rerank" in off else set()
    )
    assert not any(path.exists() for path in made)
    pipeline.edit(lambda text: text)
    assert pipeline.repro() <= {"settings", "report"} | AFTER_RERANKING
    assert {path: path.read_text() for path in made} == made
    assert pipeline.dvc("status").strip() == UP_TO_DATE


def test_a_changed_list_re_runs_what_reads_lists(pipeline: Pipeline) -> None:
    (pipeline.folder / "data" / "nbest" / "sample-speech" / "test.json").write_text('{"u": 1}')
    reranked = {"rerank@tta", "rerank@ngram-3"} | AFTER_RERANKING
    assert pipeline.repro() == {"nbest@sample-speech", "baselines"} | reranked | ALWAYS


def test_no_list_no_task_and_nothing_to_evaluate_is_fine(pipeline: Pipeline) -> None:
    def emptied(text: str) -> str:
        lists = text[text.index("nbest:") : text.index("evaluate:")]
        text = text.replace(lists, "nbest: {}\ntasks: {}\n").replace("models: [tta]", "models: []")
        text = text.replace("  rerank: [ngram-3, tta]", "  rerank: []")
        text = text.replace("sets: [snli]", "sets: []")
        for stage in ON_SETS:
            text = text.replace(f"  {stage}: [tta]", f"  {stage}: []")
        return text

    pipeline.edit(emptied)
    from pipeline.settings import read_params

    read_params(pipeline.folder / "params.yaml")
    assert pipeline.repro() == {"settings", "tasks", "baselines", "runtime"} | AFTER_RERANKING


DOWNLOAD, SEGMENT = "download@wikipedia-sample", "segment@wikipedia-sample"
ENCODE = "encode@wikipedia-sample-wordpiece-1k"
#: What reads test documents, and what follows from it: no tokenizer, and no training but that of the n-gram model.
READS_TEST = {
    *("perplexity@tta", "perplexity@segatron-xl", "compare-losses", "ngram@ngram-3", "rerank@ngram-3"),
    *("attention@tta", "baselines"),
    *TIMED,
    *AFTER_RERANKING,
}
#: What follows from other text to train on.
ALL_BUT_SETS = {
    *("segment@wikipedia-sample", "tokenizer@wordpiece-1k", "encode@wikipedia-sample-wordpiece-1k"),
    *("pretrain@tta", "pretrain@segatron-xl", "perplexity@segatron-xl", "compare-losses", "ngram@ngram-3"),
    *("rerank@ngram-3", "baselines"),
    *TIMED,
    *READS_TTA,
    *AFTER_RERANKING,
}
#: Whatever trains or reads the model `tta`, and what compares the models.
ON_TTA = {"pretrain@tta", "compare-losses"} | TIMED | READS_TTA | AFTER_RERANKING
RERANKED = {"rerank@tta", "rerank@ngram-3"} | AFTER_RERANKING

#: What is edited -> the stages that run.
RUNS: dict[str, set[str]] = {
    **{name: {"code"} for name in WORDS},
    "a reader of corpora": {"code", SEGMENT, "report"} | TIMED,
    "a test document": {"settings", DOWNLOAD, SEGMENT, ENCODE} | READS_TEST,
    "a training document": {"settings", DOWNLOAD} | ALL_BUT_SETS,
    "an objective": {"code", "pretrain@segatron-xl", "perplexity@segatron-xl", "rerank@ngram-3"} | ON_TTA,
    "a format of N-best lists": {"code", "settings", "nbest@sample-speech", "baselines"} | RERANKED,
    "the reranking": {"code", "baselines"} | RERANKED,
    "a measure of SQuAD": {"code", "squad@tta", "baselines", "compare", "report"},
    "a section of the report": {"code", "report"},
    "the style of the page": {"code", "report"},
    "what MLflow is told": {"code"},
    "a command that no stage uses": {"code"},
    "the script of a stage": {"code", "sts@tta", "compare", "report"},
    "a check of params.yaml": {"code", "settings"},
    "a default of one model's training": {"code", "settings"} | ON_TTA,
    "a default of an evaluation": {"code", "settings", "finetune@tta", "compare", "report"},
    "a number of one model": {"settings"} | ON_TTA,
    "a number of an evaluation": {"settings"} | RERANKED,
    "where lists come from, in words": {"settings", "report"},
    "the licence of a corpus": {"settings", "report"},
    "how lists are read": {"settings", "nbest@sample-speech", "baselines"} | RERANKED,
    "how lists are judged": {"settings", "baselines"} | RERANKED,
    "a number of a fine-tuning": {"settings", "squad@tta", "compare", "report"},
    "systems weighed together": {"settings"} | AFTER_RERANKING,
    "input lengths": {"settings", "perplexity@tta", "perplexity@segatron-xl", "compare-losses", "report"},
    "a second seed": {"settings", "pretrain@segatron-xl", "perplexity@segatron-xl", "rerank@ngram-3"}
    | ON_TTA,
    "a file of word vectors": {"settings", "vectors@glove", "compare", "report"},
    "a second set of lists": {"settings", "nbest@second", "baselines"} | RERANKED,
    "one model less": {"settings", "compare-losses", "report"},
    "one n-gram less": {"settings"} | AFTER_RERANKING,
    "one set less": {"settings", "tasks", "wordsim@tta", "baselines", "compare", "report"},
    "another name for a model": {
        "settings",
        "pretrain@segatron",
        "perplexity@segatron",
        "compare-losses",
        "report",
    },
    "the licence of a set": {"settings", "tasks"},
    "a comment in params.yaml": {"settings"},
    "the number of processes": {"settings"},
}


#: Edits that run one and the same stage alone are made together: whatever else ran would be seen.
ALONE = [[name for name in EDITS if RUNS[name] == {stage}] for stage in ("code", "settings")]
TOGETHER = ALONE + [[name] for name in EDITS if len(RUNS[name]) > 1]


@pytest.mark.parametrize("names", TOGETHER, ids=", ".join)
def test_an_edit_runs_what_depends_on_it(pipeline: Pipeline, names: list[str]) -> None:
    for name in names:
        EDITS[name](pipeline)
    planned = pipeline.planned()
    ran = pipeline.repro()
    assert ran == RUNS[names[0]] | ALWAYS
    assert planned["runs"] <= ran
    if (pipeline.folder / "kept.json").exists():  # scripts whose outputs are in part the same as before
        assert ran <= planned["runs"] | planned["may run"] | ALWAYS
    else:
        assert ran == planned["runs"] | planned["may run"] | ALWAYS
    assert not planned["cached"]


def test_a_second_seed_times_nothing_again(pipeline: Pipeline) -> None:
    """The first seed's models are timed: `runtime-inputs` writes what it wrote before."""
    same = "'the first seed' if name.startswith('runtime-inputs') else uuid.uuid4().hex"
    pipeline.edit_file("fake.py", lambda text: text.replace("uuid.uuid4().hex", same))
    EDITS["a number of one model"](pipeline)
    assert pipeline.repro() >= TIMED
    EDITS["a second seed"](pipeline)
    assert pipeline.repro() & TIMED == {"runtime-inputs@tta"}


def test_a_mistake_anywhere_in_the_settings_ends_the_run_before_anything_else(pipeline: Pipeline) -> None:
    pipeline.edit(lambda text: text.replace("limit: 20", "limit: 21").replace("folds: 2", "fold: 2"))
    said = pipeline.dvc("repro", "segment", fails=True)
    assert ran(said) == {"settings"}
    assert "settings: params.yaml: finetune.fold: unknown key; the nearest known key is 'folds'" in said


def test_a_report_that_fails_leaves_the_old_one(pipeline: Pipeline) -> None:
    place = pipeline.folder / "reports" / "tiny"
    old = {path: path.read_text() for path in place.rglob("*") if path.is_file()}
    pipeline.edit_file(
        "fake.py", lambda text: f"import sys\nif sys.argv[1] == 'report':\n    sys.exit(2)\n{text}"
    )
    pipeline.edit(lambda text: text.replace("origin: ", "origin: here, "))
    assert "failed to reproduce 'report'" in pipeline.dvc("repro", fails=True)
    assert {path: path.read_text() for path in place.rglob("*") if path.is_file()} == old != {}


def test_an_edit_while_stages_run_reaches_none_of_them(pipeline: Pipeline) -> None:
    (pipeline.folder / "kept.json").unlink()  # the splits change too, so a training runs
    pipeline.edit(lambda text: text.replace("limit: 20", "limit: 21"))
    pipeline.note_outs()
    waiting, go = pipeline.folder / "waiting", pipeline.folder / "go"
    pipeline.edit_file("fake.py", lambda text: WAIT + text)
    process = pipeline.start("repro")
    while not waiting.exists():
        assert process.poll() is None
        time.sleep(0.1)
    edited = pipeline.params.replace("limit: 20", "limit: 21").replace("steps: 30", "steps: 31", 1)
    (pipeline.folder / "params.yaml").write_text(edited)
    go.touch()
    first = ran(process.said())
    assert process.poll() == 0
    assert {"settings", "segment@wikipedia-sample", "pretrain@tta", "report"} <= first
    assert steps_of(pipeline) == (30, 30)
    assert {"settings", "pretrain@tta"} <= pipeline.repro()
    assert steps_of(pipeline) == (31, 31)


#: Before a stage `segment`: until the file `go` is there.
WAIT = """
import pathlib as p, sys as s, time as t
if s.argv[1] == "segment":
    p.Path("waiting").touch()
    while not p.Path("go").exists():
        t.sleep(0.1)
"""


def steps_of(pipeline: Pipeline) -> tuple[int, int]:
    """The steps of the model tta: in the settings, and in what DVC has noted of its training."""
    settings = json.loads((pipeline.folder / "artifacts" / "settings.json").read_text())
    noted = read_yaml(pipeline.folder / "dvc.lock")["stages"]["pretrain@tta"]["params"]
    return tuple(
        one["training"]["steps"]
        for one in (settings["models"]["tta"], noted["artifacts/settings.json"]["models.tta"])
    )
