"""Evaluation sets and N-best lists are fetched, checked and read before anything depends on them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from pipeline import stages
from pipeline.fetch import fetch
from pipeline.layout import MANIFEST, Layout
from pipeline.settings import read_params
from pipeline.task_sets import sets_of
from quartet.config.text import Source
from quartet.errors import InputError
from quartet.files import read_json
from quartet.nbest.formats import jsonl
from quartet.tasks.kinds import KINDS
from quartet.tasks.sts.data import SimilaritySet
from quartet.tasks.wordsim.data import WordPairs
from stages.nbest import nbest
from stages.settings import settings
from stages.tasks import counted, tasks
from tests.imports import ROOT
from tests.settings import change_settings

LISTS = {
    "u1": {"ref": "a cat", "hyp_1": {"score": -1.0, "text": "a cat"}, "hyp_2": {"score": -2.0, "text": "cat"}}
}


def change(workspace: Path, old: str, new: str) -> None:
    """Edit params.yaml."""
    path = workspace / "params.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))


@pytest.fixture
def layout(workspace: Path) -> Layout:
    """The preset tiny with a short set of lists."""
    folder = workspace / "data" / "nbest" / "sample-speech"
    folder.mkdir(parents=True)
    for split in ("dev", "test"):
        (folder / f"{split}.json").write_text(json.dumps(LISTS))
    return Layout("tiny")


def test_gensims_sets_are_what_they_were(layout: Layout) -> None:
    params = read_params()
    tasks()
    ((name, lee),) = sets_of(KINDS["documents-similarity"], params, layout)
    assert isinstance(lee, SimilaritySet)
    assert (name, len(lee.texts), len(lee.gold)) == ("lee", 50, 1225)
    pairs = dict(sets_of(KINDS["word-similarity"], params, layout))
    assert {name: len(each.gold) for name, each in pairs.items() if isinstance(each, WordPairs)} == {
        "wordsim353": 353,
        "simlex999": 999,
    }
    ((_, polarity),) = sets_of(KINDS["classification"], params, layout)
    assert isinstance(polarity, list)
    assert len(polarity) == 200
    assert np.isclose(lee.gold.min(), 0.2)
    manifest = read_json(layout.task("documents-similarity", "lee") / MANIFEST)
    assert manifest["items"] == 1225
    assert manifest["files"]["texts"]["source"].endswith("lee.cor")


def test_a_set_with_the_wrong_content_is_refused(layout: Layout, workspace: Path) -> None:
    change(workspace, "sha256: a878", "sha256: b878")
    with pytest.raises(InputError, match=r"lee\.cor: the wrong content: sha256 b878"):
        tasks()
    assert not layout.task("documents-similarity", "lee").exists()


def test_a_set_without_a_file_that_its_kind_wants_is_refused(layout: Layout, workspace: Path) -> None:
    change(workspace, "      pairs:", "      pears:")
    with pytest.raises(InputError, match=r"tasks.wordsim353.files: word-similarity wants pairs, not pears"):
        tasks()


def test_a_malformed_set_is_refused_before_it_is_kept(layout: Layout, workspace: Path) -> None:
    (workspace / "mine.tsv").write_text("cat\tdog\t3\ncat dog 3\n")
    source = (workspace / "params.yaml").read_text().split("pairs: {source: ")[1].split("}")[0]
    change(workspace, source, "mine.tsv, sha256: null")
    with pytest.raises(InputError, match=r"^mine\.tsv:2: two words and a score"):
        tasks()
    assert not layout.task("word-similarity", "wordsim353").exists()


def test_what_is_there_with_its_checksum_is_not_fetched_again_and_the_rest_is(
    layout: Layout, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "mine.tsv").write_text("cat\tdog\t3\n")
    text = (workspace / "params.yaml").read_text()
    pairs = text.split("pairs: {source: ")[1].split("}")[0]
    change(workspace, pairs, "mine.tsv, sha256: null")
    tasks()
    fetched: list[str] = []

    def noted(source: Source, *where: object) -> dict[str, object]:
        fetched.append(source.source)
        return fetch(source, *where)  # type: ignore[arg-type]

    monkeypatch.setattr("stages.tasks.fetch", noted)
    tasks()
    assert {"mine.tsv"} == {source for source in fetched if not source.startswith("data/examples")}
    (layout.task("documents-similarity", "lee") / "texts").write_text("of somebody else")
    fetched.clear()
    tasks()
    again = {Path(source).name for source in fetched if not source.startswith("data/examples")}
    assert again == {"mine.tsv", "lee.cor"}
    assert read_json(layout.all_tasks / MANIFEST)["lee"]["items"] == 1225


def test_a_file_that_cannot_be_had_any_more_costs_no_other_file(
    layout: Layout, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A role without a checksum keeps its copy; of a published set what there is stays, whatever is missing."""
    folder = workspace / "data" / "examples"
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        shutil.copyfile(ROOT / "data" / "examples" / f"rte.{split}.tsv", folder / f"rte.{split}.tsv")
    tasks()
    whole = read_json(layout.task("glue", "rte") / MANIFEST)
    (folder / "rte.train.tsv").unlink()
    tasks()
    assert "the copy that was fetched before is used" in capsys.readouterr().err
    assert read_json(layout.task("glue", "rte") / MANIFEST) == whole
    change(workspace, "rte.dev.tsv", "rte.elsewhere.tsv")
    tasks()
    manifest = read_json(layout.task("glue", "rte") / MANIFEST)
    assert manifest["available"] is False and set(manifest["files"]) == {"train", "test"}
    change(workspace, "rte.elsewhere.tsv", "rte.dev.tsv")
    (layout.task("glue", "rte") / MANIFEST).write_text('{"files": [')
    shutil.copyfile(ROOT / "data" / "examples" / "rte.train.tsv", folder / "rte.train.tsv")
    tasks()
    assert read_json(layout.task("glue", "rte") / MANIFEST) == whole


def test_a_set_of_gensim_that_is_gone_ends_the_stage_after_the_others(
    layout: Layout, workspace: Path
) -> None:
    (workspace / "mine.tsv").write_text("cat\tdog\t3\n")
    source = (workspace / "params.yaml").read_text().split("pairs: {source: ")[1].split("}")[0]
    change(workspace, source, "yours.tsv, sha256: null")
    with pytest.raises(InputError, match=r"^yours\.tsv: no such file"):
        tasks()
    assert (layout.task("word-similarity", "simlex999") / MANIFEST).is_file()


def test_lists_are_kept_in_one_form_whatever_they_came_in(layout: Layout) -> None:
    nbest("sample-speech")
    folder = layout.nbest("sample-speech")
    (one,) = jsonl.read(folder / "dev.jsonl")
    assert [hypothesis.text for hypothesis in one.hypotheses] == ["a cat", "cat"]
    manifest = read_json(folder / MANIFEST)
    assert manifest["test"]["hypotheses"] == 2
    assert list(manifest["test"]["files"]) == ["data/nbest/sample-speech/test.json"]
    assert (manifest["test"]["entries"], manifest["test"]["refused"]) == (1, 0)
    assert (folder / "refused.jsonl").read_text() == ""


def test_only_so_many_hypotheses_are_kept_as_are_asked_for(layout: Layout, workspace: Path) -> None:
    change(workspace, "    hypotheses: 5", "    hypotheses: 1")
    nbest("sample-speech")
    folder = layout.nbest("sample-speech")
    (one,) = jsonl.read(folder / "dev.jsonl")
    assert [hypothesis.text for hypothesis in one.hypotheses] == ["a cat"]
    manifest = read_json(folder / MANIFEST)
    kept = {key: manifest["dev"][key] for key in ("hypotheses", "hypotheses_left_out", "longest_list")}
    assert kept == {"hypotheses": 1, "hypotheses_left_out": 1, "longest_list": 1}
    change(workspace, "    hypotheses: 1", "    hypotheses: 0")
    with pytest.raises(InputError, match=r"nbest\.sample-speech\.hypotheses"):
        nbest("sample-speech")
    change(workspace, "    hypotheses: 0", "    hypotheses: null")
    nbest("sample-speech")
    assert read_json(folder / MANIFEST)["dev"]["hypotheses_left_out"] == 0


def several_files(workspace: Path, skip: bool) -> None:
    """Kaldi's files in a folder, with a malformed cost on dev, in the place of the sample's."""
    folder = workspace / "lists" / "kaldi"
    folder.mkdir(parents=True)
    for split, cost in (("dev", "nan"), ("test", "3")):
        (folder / f"{split}.text").write_text("u-1 a cat\nu-2 cat\nv-1 b\n")
        (folder / f"{split}.ac").write_text(f"u-1 10\nu-2 30\nv-1 {cost}\n")
        (folder / f"{split}.lm").write_text("u-1 1\nu-2 2\nv-1 4\n")
        (folder / f"{split}.trn").write_text("a cat (u)\nb (v)\nc (w)\n")
    text = (workspace / "params.yaml").read_text()
    start = text.index("    format: mlm-scoring")
    end = text.index("    metric: wer", start)
    files = [
        f"    {split}: {{hypotheses: {split}.text, references: {split}.trn, "
        f"scores: [{{file: {split}.ac, weight: 0.1}}, {{file: {split}.lm}}]}}\n"
        for split in ("dev", "test")
    ]
    head = f"    format: kaldi\n    folder: lists/kaldi\n    skip_malformed: {str(skip).lower()}\n"
    (workspace / "params.yaml").write_text(text[:start] + head + "".join(files) + text[end:])


def test_lists_of_several_files_and_what_was_refused_of_them(layout: Layout, workspace: Path) -> None:
    several_files(workspace, skip=True)
    nbest("sample-speech")
    folder = layout.nbest("sample-speech")
    one, _ = jsonl.read(folder / "dev.jsonl")
    assert (one.reference, one.first_pass) == ("a cat", [-2.0, -5.0])
    manifest = read_json(folder / MANIFEST)
    assert [manifest[split]["entries"] for split in ("dev", "test")] == [2, 2]
    assert [manifest[split]["refused"] for split in ("dev", "test")] == [1, 0]
    assert [manifest["test"][key] for key in ("references_unused", "missing")] == [0, 1]
    lost = jsonl.read(folder / "test.jsonl")[-1]
    assert (lost.utterance, lost.reference, [each.text for each in lost.hypotheses]) == ("w", "c", [""])
    missing = [json.loads(line) for line in (folder / "missing.jsonl").read_text().splitlines()]
    assert missing == [{"split": split, "utterance": "w"} for split in ("dev", "test")]
    assert set(manifest["dev"]["files"]) == {
        f"lists/kaldi/dev.{kind}" for kind in ("text", "ac", "lm", "trn")
    }
    (row,) = [json.loads(line) for line in (folder / "refused.jsonl").read_text().splitlines()]
    assert row["split"] == "dev"
    assert row["place"] == "lists/kaldi/dev.ac:3"
    assert "nan" in row["reason"]


def test_a_malformed_entry_ends_the_stage_where_none_may_be_skipped(layout: Layout, workspace: Path) -> None:
    several_files(workspace, skip=False)
    with pytest.raises(InputError, match=r"lists/kaldi/dev\.ac:3: a finite number"):
        nbest("sample-speech")
    assert not layout.nbest("sample-speech").exists()


def test_malformed_lists_are_named_and_nothing_is_kept(layout: Layout, workspace: Path) -> None:
    broken = {"u1": {"ref": "a", "hyp_1": {"score": "high", "text": "a"}}}
    (workspace / "data" / "nbest" / "sample-speech" / "test.json").write_text(json.dumps(broken))
    with pytest.raises(InputError, match=r"test\.json: utterance \"u1\""):
        nbest("sample-speech")
    assert not layout.nbest("sample-speech").exists()


def test_the_catalogue_names_what_there_is_even_where_there_is_nothing(
    layout: Layout, workspace: Path
) -> None:
    settings()
    tasks()
    assert read_json(layout.catalogue(layout.all_nbest)) == ["sample-speech"]
    assert read_json(layout.catalogue(layout.tasks("word-similarity"))) == ["simlex999", "wordsim353"]
    text = (workspace / "params.yaml").read_text()
    lists = text[text.index("nbest:") : text.index("evaluate:")]
    text = text.replace(lists, "nbest: {}\ntasks: {}\n")
    for stage in stages.EVALUATIONS:
        text = re.sub(rf"\n  {stage}: \[.*\]", f"\n  {stage}: []", text)
    (workspace / "params.yaml").write_text(text)
    settings()
    tasks()
    for folder in (layout.all_nbest, *(layout.tasks(kind) for kind in KINDS)):
        assert read_json(layout.catalogue(folder)) == []
    assert set(stages.KINDS) == set(KINDS)


def test_a_precision_that_needs_a_gpu_ends_the_first_stage(layout: Layout, workspace: Path) -> None:
    name = next(iter(read_params().models))
    change_settings(workspace / "params.yaml", {f"models.{name}.training.precision": "fp16", "device": "cpu"})
    with pytest.raises(InputError, match=rf"models\.{name}\.training\.precision"):
        settings()


def test_what_nobody_put_among_the_sets_is_set_apart(layout: Layout) -> None:
    settings()
    tasks()
    strays = [layout.all_tasks / "stray.txt", layout.tasks("glue") / ".hidden"]
    for stray in strays:
        stray.write_text("x")
    settings()
    assert not any(stray.exists() for stray in strays)
    assert (layout.task("documents-similarity", "lee") / MANIFEST).is_file()
    assert (layout.all_tasks / MANIFEST).is_file() and layout.catalogue(layout.tasks("blimp")).is_file()


def test_the_catalogue_of_what_is_timed_does_not_change_with_the_order_of_the_settings(
    layout: Layout, workspace: Path
) -> None:
    catalogue = layout.catalogue(layout.all_runtime_inputs)
    models = list(read_params().models)[:2]
    written = []
    for order in (models, models[::-1]):
        change_settings(workspace / "params.yaml", {"runtime.models": order})
        settings()
        written.append(catalogue.read_bytes())
    assert len(models) == 2 and sorted(read_json(catalogue)) == sorted(models)
    assert written[0] == written[1]


def test_what_was_set_apart_does_not_take_the_place_of_what_is_there(layout: Layout) -> None:
    settings()
    lists, kept = layout.nbest("sample-speech"), layout.removed / "nbest" / "sample-speech"
    for folder, text in ((lists, "new"), (kept, "old")):
        folder.mkdir(parents=True)
        (folder / "test.jsonl").write_text(text)
    settings()
    assert (lists / "test.jsonl").read_text() == "new" and kept.is_dir()
    shutil.rmtree(lists)
    settings()
    assert (lists / "test.jsonl").read_text() == "old" and not kept.exists()


def test_settings_that_change_while_they_are_read_do_not_count_as_read(
    layout: Layout, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "stages.settings.check_files", lambda *given: change(workspace, "seeds: [", "seeds: [9, ")
    )
    with pytest.raises(InputError, match=r"params\.yaml: changed while the stage read it"):
        settings()


def test_items_are_counted_by_role_where_there_are_several() -> None:
    assert counted(1234) == "1,234"
    assert counted({"train": 12345, "dev": 7}) == "train 12,345, dev 7"
