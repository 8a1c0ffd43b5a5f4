"""What the report says of devices, and that durations reach no file but those of the times."""

from __future__ import annotations

import sys
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from pipeline.layout import REPORT, Layout
from pipeline.pages import NOT_NOTED, computed_on
from pipeline.params import Params
from pipeline.settings import read_params
from pipeline.stages import REPORT_STAGE
from pipeline.tracking.mlflow import open_store
from pipeline.tracking.stage import BETWEEN, START_UP, TELLING, TOTAL
from quartet.errors import InputError
from quartet.files import TEMPORARY, sha256, write_jsonl
from quartet.report.facts import read_facts
from quartet.report.tables import readme, times
from quartet.results import Result, write_results
from stages import report
from tests.imports import ROOT
from tests.report.rendered import article
from tests.report.synthetic import facts, loss_curves, results, timings, wer_curves
from tests.stages.conftest import stage_that_reads
from tests.test_code import settings_classes

MODELS = [f"model-{number}" for number in range(4)]


def took(stage: str, variant: str, device: str, split: str = "total") -> Result:
    """A duration of a stage."""
    return Result(
        experiment="e",
        table="duration",
        model=stage,
        dataset=variant,
        split=split,
        metric="seconds",
        seed=None,
        value=1.0,
        ci_low=None,
        ci_high=None,
        n=1,
        scale="one run",
        device=device,
    )


@pytest.mark.parametrize(
    ("trainings", "said"),
    [
        (["cpu (2 threads, A)"], "cpu (2 threads, A)"),
        (["cpu (2 threads, A)", "cuda (B)", "cpu (2 threads, A)"], "cpu (2 threads, A) and cuda (B)"),
        ([NOT_NOTED, "cuda (B)"], "cuda (B) and a device that was not noted"),
        ([], "cpu (1 thread, C)"),
    ],
)
def test_devices_of_the_trainings_are_said_once_each(trainings: list[str], said: str) -> None:
    """What another stage ran on is said only where no training is noted."""
    rows = [
        took("pretrain", f"model-{number}", device, "train/seed-1") for number, device in enumerate(trainings)
    ]
    assert computed_on([took("rerank", "model-0", "cpu (1 thread, C)"), *rows], MODELS) == said


def test_a_stage_that_found_its_trainings_done_says_where_they_were() -> None:
    done = [took("pretrain", "model-0", "cuda (B)", f"train/seed-{seed}") for seed in (1, 2)]
    assert computed_on([*done, took("pretrain", "model-0", "cpu (1 thread, C)")], MODELS) == "cuda (B)"


def test_without_durations_of_trainings_their_results_say_it() -> None:
    """DVC keeps results, and not durations: a report after `dvc pull` must not name what the report's stages ran on."""
    loss = replace(took("tta", "books", "cpu"), table="training", metric="loss")
    unigram = replace(loss, model="unigram", device="another processor")
    found = [took("rerank", "tta", "cpu (2 threads, A)"), loss, unigram]
    assert computed_on(found, ["tta"]) == "cpu"
    assert computed_on([*found, took("pretrain", "tta", "cuda (B)", "train/seed-1")], ["tta"]) == "cuda (B)"


def test_no_rows_have_no_device() -> None:
    assert not computed_on([], MODELS)


def test_what_a_stage_noted_of_its_record_becomes_rows(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    params, layout = read_params(), Layout("tiny")
    monkeypatch.setattr(report, "instances", lambda params: [("pretrain", "tta"), ("sts", "tta")])
    for stage, noted in (
        ("pretrain", {"name": "train/seed-1", "seconds": 9.5, "device": "cuda (B)", "steps": 60}),
        ("sts", {"name": "total", "seconds": 2.5}),
    ):
        write_results(layout.rows(stage, "tta"), [took("tta", "books", "cpu")])
        rows = [{**noted, "measures": {"tokens-per-second": 1000.0}}] if "steps" in noted else [noted]
        content = sha256(layout.rows(stage, "tta"))
        write_jsonl(layout.timing(stage, "tta"), [{**row, "content": content} for row in rows])
    trained = replace(took("pretrain", "tta", "cuda (B)", "train/seed-1"), experiment="tiny", value=9.5)
    assert report.durations(params, layout) == [
        trained,
        replace(trained, metric="tokens-per-second", value=1000.0, n=60),
        replace(took("sts", "tta", NOT_NOTED), experiment="tiny", value=2.5),
    ]


def test_curves_are_those_of_each_model_and_of_each_list(workspace: Path) -> None:
    params, layout = read_params(), Layout("tiny")
    for name in params.models:
        write_text(layout.curve(name), "seed,step,loss\n1,15,6.5\n1,30,5.25\n")
    head = "list,split,system,weight,value\n"
    for name in params.evaluate["rerank"]:
        write_text(layout.wer_curve(name), f"{head}speech,dev,{name},0.0,30.5\nspeech,test,{name},0.5,20.0\n")
    training, weights = report.curves(params, layout)
    assert training == {name: [(15.0, 6.5), (30.0, 5.25)] for name in params.models}
    assert weights == {
        ("speech", split, name): [point]
        for name in params.evaluate["rerank"]
        for split, point in (("dev", (0.0, 30.5)), ("test", (0.5, 20.0)))
    }
    layout.curve("tta").unlink()
    with pytest.raises(InputError, match=r"tta\.csv: no such file"):
        report.curves(params, layout)


def write_text(path: Path, text: str) -> None:
    """Write a file into a folder that may be new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def made_up(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Params, Layout, list[Result]]:
    """Everything that the report reads, without a run."""
    monkeypatch.setattr(
        report,
        "gather",
        lambda params, layout, device, processors=(): replace(
            facts(), device=device, processors=tuple(processors)
        ),
    )
    monkeypatch.setattr(report, "curves", lambda params, layout: (loss_curves(), wer_curves()))
    monkeypatch.setattr(report, "read_article", lambda path: article())
    monkeypatch.setattr(report, "timings", lambda layout: timings())
    monkeypatch.setattr(report, "durations", lambda params, layout: [])
    return read_params(), Layout("tiny"), results()


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_a_mistake_leaves_the_old_report(
    made_up: tuple[Params, Layout, list[Result]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the next good run leaves nothing of the one that failed, nor of one that was killed."""
    params, layout, found = made_up
    report.write_whole(params, layout, found)
    old = files(layout.report)

    def fails(*_: object) -> None:
        raise InputError("curves", "broken")

    for broken in ("curves", "document", "durations", "write_times"):
        with monkeypatch.context() as patch:
            patch.setattr(report, broken, fails)
            with pytest.raises(InputError, match="broken"):
                report.write_whole(params, layout, found[:-20])
        assert files(layout.report) == old, broken
    (layout.report / f"{TEMPORARY}killed").mkdir()
    report.write_whole(params, layout, found[:-20])
    new = files(layout.report)
    assert new["results.jsonl"].count(b"\n") == old["results.jsonl"].count(b"\n") - 20
    assert {path.name for path in layout.report.iterdir()} == {*REPORT, "times"}


def test_mlflow_keeps_every_file_of_the_report(
    made_up: tuple[Params, Layout, list[Result]], tmp_path: Path
) -> None:
    """The pages of the times have the names of the report's own."""
    params, layout, found = made_up
    report.write_whole(params, layout, found)
    assert (layout.times / "README.md").is_file()
    store = open_store("a-report-and-its-times")
    run_id = store.create("report", {})
    assert REPORT_STAGE.files is not None
    for path, folder in REPORT_STAGE.files(layout, "").items():
        store.artifact(run_id, path, folder)
    (tmp_path / "kept").mkdir()
    assert files(Path(store.client.download_artifacts(run_id, "", str(tmp_path / "kept")))) == files(
        layout.report
    )


def test_a_run_with_other_durations_changes_the_files_of_the_times_alone(
    made_up: tuple[Params, Layout, list[Result]], monkeypatch: pytest.MonkeyPatch
) -> None:
    params, layout, found = made_up

    def written(slower: float, device: str) -> dict[Path, bytes]:
        timed = [
            replace(row, value=slower * row.value, ci_low=None, ci_high=None, device=device)
            for row in timings()
        ]
        lasted = [
            replace(took("pretrain", name, device, split), value=slower * place)
            for place, name in enumerate(("tta", "unilm"), 1)
            for split in ("train/seed-1", "total")
        ]
        monkeypatch.setattr(report, "timings", lambda layout: timed)
        monkeypatch.setattr(report, "durations", lambda params, layout: lasted)
        report.write_whole(params, layout, found)
        return {path: path.read_bytes() for path in layout.report.rglob("*") if path.is_file()}

    first, second = written(1.5, "cpu (2 threads, A; K)"), written(1.7, "cpu (1 thread, B, jemalloc; K)")
    assert set(first) == set(second) and len(first) > 20
    changed = {path.relative_to(layout.report).as_posix() for path in first if first[path] != second[path]}
    assert changed == {"times/timings.jsonl", "times/README.md", "times/index.html"}
    page = second[layout.times / "README.md"].decode()
    assert "trained on cpu (1 thread, B, jemalloc; K)" in page and "| `unilm` | seed-1 |" in page
    assert second[layout.times / "index.html"].count(b"<svg") == 3


def test_the_report_names_the_kinds_that_computed_it(
    made_up: tuple[Params, Layout, list[Result]], monkeypatch: pytest.MonkeyPatch
) -> None:
    params, layout, found = made_up
    devices = [
        "cpu (A)",
        "cpu (1 thread, A; amd-avx2)",
        "cpu (2 threads, A; amd-avx2)",
        "cpu (1 thread, B; other)",
    ]
    lasted = [took("sts", f"tta-{place}", device, "total") for place, device in enumerate(devices)]
    monkeypatch.setattr(report, "durations", lambda params, layout: lasted)
    report.write_whole(params, layout, found)
    assert read_facts(layout.report / "facts.json").processors == ("amd-avx2", "other")
    assert "amd-avx2 and other" in (layout.report / "README.md").read_text()


def test_the_page_of_times_says_where_the_time_went() -> None:
    parts = {
        ("sts", "tta"): (1.0, 3.0, 2.0),
        ("sts", "bilm"): (2.0, 3.5, None),
        ("glue", "a"): (0.5, 1.0, 1.5),
    }
    rows = [
        replace(took(stage, variant, "cpu", split), value=value)
        for (stage, variant), values in parts.items()
        for split, value in zip((TOTAL, START_UP, BETWEEN), values, strict=True)
        if value is not None
    ]
    rows.append(replace(took("glue", "a", "cpu", TELLING), value=0.5))
    lines = readme(times([*timings(), *rows], facts())).splitlines()
    start = lines.index("| stage | instances | own work | start-up | MLflow | DVC |")
    assert lines[start + 2 : start + 5] == [
        "| `sts` | 2 | 3.0 | 6.5 | – | 2.0 |",
        "| `glue` | 1 | 0.5 | 1.0 | 0.5 | 1.5 |",
        "| all | 3 | 3.5 | 7.5 | 0.5 | 3.5 |",
    ]


#: Everything that the report asks of a manifest.
MANIFEST = {
    **dict.fromkeys(("segmenter", "kind", "reason", "obtain"), "words"),
    **dict.fromkeys(("vocab_size", "corpus_words", "parameters", "steps"), 1),
    **dict.fromkeys(
        ("dev", "test"), dict.fromkeys(("lists", "longest_list", "lists_without_scores", "refused"), 1)
    ),
    "splits": {},
    "available": False,
}


def counted(params: Params, thing: Any, field: str) -> bool:
    """Whether the digest that the report depends on is another one, with another value of a field of the settings."""
    before, value = params.reported, getattr(thing, field)
    changed = {**value, "another": next(iter(value.values()), None)} if isinstance(value, dict) else "changed"
    object.__setattr__(thing, field, changed)
    try:
        return params.reported != before
    finally:
        object.__setattr__(thing, field, value)


@pytest.mark.filterwarnings("ignore:Pydantic serializer")  # of the values that are no settings
def test_the_report_reads_no_setting_that_its_digest_leaves_out(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It depends on one digest of the settings: what it reads beside would leave a stale report."""
    params = read_params(ROOT / "presets" / "sample.yaml")
    read: dict[tuple[int, str], Any] = {}
    for kind in settings_classes(Params, {}):
        keys = {each.name for each in fields(kind)}

        def noted(self: Any, name: str, keys: set[str] = keys) -> Any:
            if name in keys and stage_that_reads(sys._getframe(1)) == "report":
                read[id(self), name] = self
            return object.__getattribute__(self, name)

        monkeypatch.setattr(kind, "__getattribute__", noted, raising=False)
    monkeypatch.setattr("pipeline.report.read_json", lambda path: MANIFEST)
    for name in ("pages", "read_article", "document", "sha256"):
        monkeypatch.setattr(report, name, MagicMock())
    for name in ("read_csv", "timings", "read_timings"):
        monkeypatch.setattr(report, name, lambda *_: [])
    monkeypatch.setattr(report, "figures", MagicMock(**{"draw.return_value": {}}))
    for write in (report.write_report, report.write_times):
        write(params, Layout(params.experiment), results(), workspace)
    monkeypatch.undo()
    assert {"experiment", "models", "tasks", "evaluate"} <= {name for _, name in read}
    containers = {name for (_, name), thing in read.items() if is_dataclass(getattr(thing, name))}
    left_out = {
        f"{type(thing).__name__}.{name}"
        for (_, name), thing in read.items()
        if name not in containers and not counted(params, thing, name)
    }
    assert not left_out
    assert not counted(params, params, "workers"), "the test can fail"
