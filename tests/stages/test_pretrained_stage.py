"""Models that come trained: an export, a training's folder and one of Hugging Face, opened and evaluated."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from pipeline.early_checks import check_files
from pipeline.layout import MANIFEST, Layout
from pipeline.params import Params
from pipeline.scorers import scorers
from pipeline.settings import read_params
from pipeline.sources import content
from quartet.errors import InputError
from quartet.export.scorer import ExportedLM
from quartet.files import read_json
from quartet.nbest.formats import jsonl
from quartet.results import read_results
from quartet.scorers import open_scorer
from quartet.scoring.language_model import LanguageModel
from quartet.scoring.pretrained_lm import PretrainedLM
from quartet.shipped_model import IN_CLONE
from quartet.tasks.sts.evaluation import judged_splits
from stages import rerank, sts
from stages.pretrained import pretrained
from tests.bert import save_bert, transformers
from tests.nbest.lists import random_lists
from tests.scoring.test_language_model import Small, random_model, save
from tests.tasks.sts.test_evaluation import pairs

KINDS = {"export": ExportedLM, "trained": LanguageModel, "bert": PretrainedLM}
Made = Callable[[str], Params]


@pytest.fixture
def made(workspace: Path, small_corpus: Small) -> Made:
    """The preset tiny with the entry `books` of a kind, whose source is the folder `given`."""

    def settings(kind: str) -> Params:
        folder = workspace / "given"
        if kind == "export":
            shutil.copytree(IN_CLONE, folder)
        else:
            folder.mkdir()
            if kind == "bert":
                transformers()
                save_bert(folder)
            else:
                save(random_model("tta", small_corpus[0]), folder)
        (folder / "notes.txt").write_text("no part of the model")
        text = (workspace / "params.yaml").read_text()
        for old, new in (
            ("pretrained: {}", "pretrained:\n  books: {source: given}"),
            ("  rerank: [ngram-3, tta]", "  rerank: [books]"),
            ("  sts: [tta]", "  sts: [books]"),
        ):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (workspace / "params.yaml").write_text(text)
        return read_params()

    return settings


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_taken_whole_and_opened(made: Made, kind: str) -> None:
    params = made(kind)
    pretrained("books")
    folder = Layout("tiny").pretrained("books")
    assert not (folder / "notes.txt").exists()
    manifest = read_json(folder / MANIFEST)
    assert (manifest["source"], manifest["kind"]) == (
        "given",
        {"export": "export, onnx-int8", "trained": "trained here", "bert": "masked"}[kind],
    )
    ((model, seed),) = scorers(params, "books")
    assert isinstance(model, KINDS[kind]) and seed == params.seeds[0]
    texts = ["the cat sat", "a mat"]
    assert model.score(texts) == open_scorer("given").score(texts)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exported_graph_has_the_settings_threads_and_the_processor(
    made: Made, workspace: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    made("export")
    path = workspace / "params.yaml"
    path.write_text(path.read_text().replace("threads: 1", f"threads: {threads}"))
    pretrained("books")
    before = torch.get_num_threads()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)  # device: auto then means the GPU
    try:
        ((model, _),) = scorers(read_params(), "books")
    finally:
        torch.set_num_threads(before)
    assert isinstance(model, ExportedLM) and model.device == "cpu"
    assert model.session.get_session_options().intra_op_num_threads == threads


def test_its_rows_bear_the_entrys_name_and_say_what_it_is(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = made("export")
    layout = Layout("tiny")
    pretrained("books")
    sets = judged_splits("stsb", "stsb", {"dev": pairs(1)})
    monkeypatch.setattr(sts, "judged_sets", lambda *_: sets)
    sts.sts("books")
    rows = read_results(layout.rows("sts", "books"))
    assert {row.system for row in rows} == {"books/context", "books/cls", "books/eos"}
    assert {row.seed for row in rows} == {None}, "it was trained with none of this experiment's seeds"
    for index, split in enumerate(("dev", "test")):
        jsonl.write(layout.nbest("sample-speech") / f"{split}.jsonl", random_lists(8, 20 + index))
    rerank.rerank("books")
    rows += (reranked := read_results(layout.rows("rerank", "books")))
    assert {row.system for row in reranked} == {"books"}
    scale = "13.89 M parameters, 5,000 steps, books (18.16 M words), exported as onnx-int8"
    assert {(row.scale, row.device) for row in rows} == {(scale, "cpu")}
    assert params.evaluate["rerank"] == ["books"]


@pytest.mark.parametrize(
    ("kind", "file"), [("export", "export.json"), ("trained", "config.json"), ("bert", "config.json")]
)
def test_a_folder_that_changed_is_taken_again(made: Made, kind: str, file: str) -> None:
    params = made(kind)
    before = content(params, {}, {})
    Path("given/notes.txt").write_text("still no part of it")
    assert content(params, {}, {}) == before
    path = Path("given") / file
    path.write_text(path.read_text() + "\n")
    assert content(params, {}, {})["pretrained"] != before["pretrained"]
    for damaged in ("", "[]", '{"sha256'):
        Layout("tiny").pretrained("books").mkdir(parents=True, exist_ok=True)
        (Layout("tiny").pretrained("books") / MANIFEST).write_text(damaged)
        check_files(params, "params.yaml")


@pytest.mark.parametrize(
    ("kind", "file", "said"),
    [
        ("export", "model.onnx", r"model\.onnx: no such file; export or copy the model again"),
        ("trained", "best.safetensors", r"best\.safetensors: no such file; copy the whole folder"),
        ("bert", "model.safetensors", "not a model of Hugging Face"),
    ],
)
def test_half_a_folder_is_refused_and_nothing_is_left(made: Made, kind: str, file: str, said: str) -> None:
    made(kind)
    (Path("given") / file).unlink()
    with pytest.raises(InputError, match=said):
        pretrained("books")
    assert not Layout("tiny").pretrained("books").exists()
