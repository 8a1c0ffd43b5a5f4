"""A full disk and a folder that may not be written: one clear line, nothing half-written, the earlier output whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import pipeline.settings
from pipeline.run import main
from pipeline.tracking.stage import stage_run
from quartet.errors import InputError, system_error
from quartet.files import TEMPORARY, atomic_dir, write_json, write_jsonl
from quartet.models.checkpoint import save_model
from quartet.results import Result, write_results
from quartet.scoring.cache import ScoreCache
from quartet.tasks.nli.tuning import SiameseModel
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.encoding import encode_corpus
from quartet.text.segmentation import segment_corpus
from quartet.text.sources import SOURCES
from quartet.text.split import HeldOutShares
from quartet.text.tokenizer import TextTokenizer
from quartet.training.callbacks import ResumePoint
from quartet.training.tuning import TuningSettings, load_or_tune
from stages.download import download
from tests.reliability.disks import LEFT, Disk, files, largest_file
from tests.reliability.test_exit_codes import settings, told
from tests.scoring.test_language_model import random_model
from tests.small_corpus import documents
from tests.training.test_fit import train

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]

#: Who "nobody" is, where a test needs somebody without rights.
NOBODY = 65534


def rows(value: float) -> list[Result]:
    places: dict[str, Any] = {
        "experiment": "small",
        "table": "sts",
        "split": "test",
        "model": "tta",
        "metric": "r",
    }
    figures: dict[str, Any] = {"value": value, "n": 9, "ci_low": 0.0, "ci_high": 3.0, "seed": 1}
    return [
        Result(**places, **figures, dataset=f"set-{number}", device="cpu", scale="small")
        for number in range(200)
    ]


def segmented(folder: Path, count: int) -> Path:
    for seed, split in enumerate(("train", "valid", "test")):
        write_jsonl(folder / f"{split}.jsonl", (each.to_json() for each in documents(count, seed)))
    return folder


#: Writers of each kind: (the folder that they write to, one for what they read, 1 or 2 for what, tokenizer).
WRITERS: dict[str, Callable[[Path, Path, int, TextTokenizer], object]] = {}


def writer(function: Callable[[Path, Path, int, TextTokenizer], object]) -> Any:
    WRITERS[function.__name__] = function
    return function


@writer
def results(folder: Path, source: Path, number: int, tokenizer: TextTokenizer) -> None:
    write_results(folder / "rows.jsonl", rows(float(number)))


@writer
def manifest(folder: Path, source: Path, number: int, tokenizer: TextTokenizer) -> None:
    write_json(folder / "manifest.json", {str(key): "x" * 100 * number for key in range(200)})


@writer
def segments(folder: Path, source: Path, number: int, tokenizer: TextTokenizer) -> None:
    text = source / f"{number}.txt"
    text.write_text("\n\n\n".join(" ".join(each.sentences) for each in documents(100, number)))
    segment_corpus(
        SOURCES["text"], text, folder / "segments", shares=HeldOutShares(0.1, 0.1), punkt="trained", workers=1
    )


@writer
def encoding(folder: Path, source: Path, number: int, tokenizer: TextTokenizer) -> None:
    encode_corpus(segmented(source / str(number), 40 * number), tokenizer, folder / "encoded", workers=1)


@writer
def model(folder: Path, source: Path, number: int, tokenizer: TextTokenizer) -> None:
    made = random_model("tta", tokenizer)
    state = {name: tensor + number for name, tensor in made.network.state_dict().items()}
    with atomic_dir(folder / "model") as place:
        save_model(place, {"last": state, "best": state}, made.card, tokenizer)


@writer
def tuned_weights(folder: Path, source: Path, number: int, tokenizer: TextTokenizer) -> None:
    settings = TuningSettings(epochs=1, batch_size=1, learning_rate=1e-3, warmup=0.0, seed=number)
    make = partial(SiameseModel, random_model("tta", tokenizer), 3)
    load_or_tune(make, [("a letter", "a river", 0)], settings, folder / f"{number}.safetensors")


def line_of(write: Callable[[], object]) -> str:
    """What a writer's error says."""
    with pytest.raises(InputError) as stopped:
        write()
    return str(stopped.value)


@pytest.mark.parametrize("left", [0, LEFT])
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk(name: str, left: int, disk: Disk, tmp_path: Path, small_corpus: Small) -> None:
    write, output, source = WRITERS[name], disk.folder / "out", tmp_path / "source"
    source.mkdir()
    write(output, source, 1, small_corpus[0])
    before = files(output)
    with disk.full(left):
        said = line_of(lambda: write(output, source, 2, small_corpus[0]))
        assert files(output) == before, "the earlier output is whole, and nothing else is there"
    assert str(output) in said and TEMPORARY not in said, said
    assert said.endswith("No space left on device); free some space and run it again"), said
    write(output, source, 2, small_corpus[0])
    assert files(output) != before


@pytest.mark.parametrize("name", ["results", "manifest", "model", "tuned_weights"])
def test_a_file_beyond_the_limit(name: str, tmp_path: Path, small_corpus: Small) -> None:
    """The same without a disk of its own."""
    write, output, source = WRITERS[name], tmp_path / "out", tmp_path / "source"
    source.mkdir()
    write(output, source, 1, small_corpus[0])
    before = files(output)
    with largest_file(4096):
        said = line_of(lambda: write(output, source, 2, small_corpus[0]))
    assert files(output) == before
    assert "File too large); raise the limit of the size of files (ulimit -f)" in said, said


@pytest.mark.parametrize("name", WRITERS)
def test_a_read_only_folder(name: str, disk: Disk, tmp_path: Path, small_corpus: Small) -> None:
    write, output, source = WRITERS[name], disk.folder / "out", tmp_path / "source"
    source.mkdir()
    write(output, source, 1, small_corpus[0])
    before = files(output)
    with disk.read_only():
        said = line_of(lambda: write(output, source, 2, small_corpus[0]))
        assert files(output) == before
    assert said.endswith("Read-only file system); write somewhere else, or make it writable"), said
    assert str(output) in said and TEMPORARY not in said


def test_a_folder_without_rights(tmp_path: Path) -> None:
    """As another user where this one is root, whom rights do not stop."""
    folder = tmp_path / "out"
    write_json(folder / "a.json", 1)
    folder.chmod(0o555)
    for parent in (tmp_path, *tmp_path.parents[:3]):
        parent.chmod(parent.stat().st_mode | 0o755) if os.geteuid() == 0 else None
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    try:
        said = line_of(lambda: write_json(folder / "a.json", 2))
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
    assert said == f"{folder / 'a.json'}: cannot be written (Permission denied); " + (
        "check the rights of the file and its folder"
    )
    assert files(folder) == {"a.json": b"1\n"}


def test_a_training_goes_on_from_the_resume_point_before_the_disk_was_full(
    disk: Disk, tmp_path: Path, small_corpus: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes: dict[str, Any] = {"steps": 12, "checkpoint_every": 4, "validate_every": 12}
    whole = train(small_corpus, "segatron-xl", tmp_path / "whole.ckpt", **changes)
    resume = disk.folder / "resume.ckpt"
    original = ResumePoint._save

    def save(self: ResumePoint, trainer: Any) -> None:
        if trainer.global_step != 8:
            return original(self, trainer)
        with disk.full():
            return original(self, trainer)

    with monkeypatch.context() as patch:
        patch.setattr(ResumePoint, "_save", save)
        said = line_of(lambda: train(small_corpus, "segatron-xl", resume, **changes))
    assert said.startswith(f"{resume}: cannot be written (No space left on device)"), said
    assert sorted(os.listdir(disk.folder)) in (["filler", "resume.ckpt"], ["resume.ckpt"])
    assert torch.load(resume, weights_only=True)["global_step"] == 4
    (disk.folder / "filler").unlink(missing_ok=True)
    resumed = train(small_corpus, "segatron-xl", resume, **changes)
    assert (resumed.steps, resumed.curve) == (8, whole.curve)


def test_a_cache_of_scores_keeps_what_it_has(disk: Disk) -> None:
    path = disk.folder / "scores.db"
    first = {bytes([number]): np.arange(100.0) for number in range(5)}
    with ScoreCache(path) as cache:
        cache.put(first)
    with ScoreCache(path) as cache:
        cache.get([b"7"])
        with disk.full():
            said = line_of(lambda: cache.put({b"%d" % number: np.arange(1000.0) for number in range(500)}))
    assert "scores.db: cannot be used as a cache of scores (" in said and "space" in said, said
    with disk.full(0):
        assert "space" in line_of(lambda: ScoreCache(path))
    with ScoreCache(path) as cache:
        assert set(cache.get([*first, b"7"])) == set(first)


def test_mlflow_on_a_full_disk(
    disk: Disk, workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is logged before it was full stays, and the stage runs again when there is space."""
    from pipeline.settings import read_params

    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{disk.folder / 'mlflow.db'}")
    params = read_params()
    with stage_run(params, "report"):
        pass

    def stage() -> None:
        """A stage during which the disk fills."""
        with stage_run(params, "report") as run, disk.full(0):
            for number in range(20_000):
                run.metric(f"metric-{number}", 1.0)

    line = told(lambda: main(stage, []), capsys)
    assert "MLflow at sqlite:///" in line and "free some space and run it again" in line, line
    (disk.folder / "filler").unlink(missing_ok=True)
    with stage_run(params, "report") as run:
        run.metric("after", 1.0)


def test_a_stage_ends_with_2(
    disk: Disk, workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The artifacts are on the full disk, then on one that is read-only."""
    shutil.rmtree(workspace / "artifacts")
    (workspace / "artifacts").symlink_to(disk.folder)
    (workspace / "book.txt").write_text("A sentence of a book. " * 2000)
    source: dict[str, Any] = {"kind": "text", "language": "english", "license": "none"}
    source |= {"source": "book.txt", "sha256": None, "split": {"valid": 0.1, "test": 0.1}, "limit": 0}
    settings(workspace, (("corpora", "wikipedia-sample"), source))
    written = pipeline.settings.read()  # while there is space
    monkeypatch.setattr(pipeline.settings, "read", lambda: written)
    with disk.full():
        line = told(lambda: main(download, ["wikipedia-sample"]), capsys)
        assert "No space left on device" in line and "free some space" in line, line
        assert not list(disk.folder.rglob(f"{TEMPORARY}*"))
    with disk.read_only():
        line = told(lambda: main(download, ["wikipedia-sample"]), capsys)
        assert "Read-only file system" in line, line
    main(download, ["wikipedia-sample"])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            RuntimeError("I/O error: No space left on device (os error 28)"),
            "here: No space left on device; free",
        ),
        (
            RuntimeError("(sqlite3.OperationalError) database or disk is full"),
            "here: No space left on device;",
        ),
        (OSError(30, "Read-only file system"), "here: Read-only file system; write somewhere else"),
        (RuntimeError("another"), None),
        (OSError(2, "No such file or directory"), None),
    ],
)
def test_errors_of_the_system_are_known_whoever_raises_them(error: Exception, said: str | None) -> None:
    found = system_error(error, "here")
    assert str(found).startswith(said) if said else found is None
