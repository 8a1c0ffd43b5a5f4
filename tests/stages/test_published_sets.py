"""Published evaluation sets: each read in its own form; one that is not there is said to be so."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from pipeline import fetch
from pipeline.layout import MANIFEST, Layout
from pipeline.settings import read_params
from pipeline.task_sets import file_name, sets_of
from quartet.errors import InputError
from quartet.files import read_json
from quartet.tasks.kinds import KINDS
from stages.tasks import tasks

PAIRS = ["A man eats.,A man is eating.,4.8\n", '"A dog, big.",A cat.,0.5\n']


def add(workspace: Path, text: str) -> Layout:
    """Put an entry at the head of ``tasks:`` of the preset tiny."""
    path = workspace / "params.yaml"
    path.write_text(path.read_text().replace("\ntasks:\n", f"\ntasks:\n{text}", 1))
    return Layout("tiny")


def only_sets_of_mine(workspace: Path) -> None:
    """Take the preset's own set of the kind sts out."""
    path = workspace / "params.yaml"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("  stsb: {kind: sts")))


def stsb(dev: str, sha256: str = "null") -> str:
    return (
        "  mine:\n    kind: sts\n    format: stsb\n    license: mine\n"
        f"    files: {{dev: {{source: {dev}, sha256: {sha256}}}}}\n"
    )


def test_the_hubs_table_and_a_gzipped_text_are_told_apart_by_their_endings(workspace: Path) -> None:
    layout = add(workspace, stsb("dev.v1.csv.gz"))
    (workspace / "dev.v1.csv.gz").write_bytes(gzip.compress("".join(PAIRS).encode()))
    only_sets_of_mine(workspace)
    tasks()
    ((name, splits),) = sets_of(KINDS["sts"], read_params(), layout)
    assert name == "mine"
    assert [(pair.first, pair.second, pair.score) for pair in splits["dev"]] == [
        ("A man eats.", "A man is eating.", 4.8),
        ("A dog, big.", "A cat.", 0.5),
    ]
    assert read_json(layout.task("sts", "mine") / MANIFEST)["items"] == {"dev": 2}
    table = pa.table({"sentence1": ["a"], "sentence2": ["b"], "score": [0.6]})
    pyarrow.parquet.write_table(table, workspace / "dev.parquet")
    path = workspace / "params.yaml"
    path.write_text(path.read_text().replace("dev.v1.csv.gz", "dev.parquet"))
    tasks()
    ((_, splits),) = sets_of(KINDS["sts"], read_params(), layout)
    assert [(pair.first, pair.second) for pair in splits["dev"]] == [("a", "b")]


def test_how_many_examples_are_passed_over_is_said(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(workspace, stsb("year.tsv").replace("stsb", "semeval"))
    (workspace / "year.tsv").write_text("4.5\ta\tb\n\tnobody\tjudged\n1\tc\td\n")
    only_sets_of_mine(workspace)
    tasks()
    said = [line for line in capsys.readouterr().err.splitlines() if "mine: " in line]
    assert ["dev 2 items" in line for line in said] == [True, False]
    assert "1 more are passed over" in said[1]


@pytest.mark.parametrize(
    ("source", "kind", "expected"),
    [
        ("a/train.sample8999.jsonl.gz", "glue", "train.jsonl.gz"),
        ("dev-v2.0.json", "squad", "train.json"),
        ("hub://o/n@r/x/y.parquet", "nli", "train.parquet"),
        ("folder", "race", "train"),
        ("pairs.tsv", "word-similarity", "train"),
    ],
)
def test_a_copy_keeps_the_endings_that_readers_go_by(source: str, kind: str, expected: str) -> None:
    assert file_name("train", source, KINDS[kind]) == expected  # type: ignore[arg-type]


def test_an_absent_set_is_named_with_the_way_to_get_it_and_read_when_it_has_come(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layout = add(workspace, stsb("dev.csv"))
    only_sets_of_mine(workspace)
    tasks()
    assert "mine: not available: dev.csv: no such file or folder; to be had from" in capsys.readouterr().err
    assert list(sets_of(KINDS["sts"], read_params(), layout)) == []
    manifest = read_json(layout.task("sts", "mine") / MANIFEST)
    assert manifest["available"] is False
    assert "stsb" in manifest["obtain"]
    (workspace / "dev.csv").write_text("".join(PAIRS))
    tasks()
    assert len(dict(sets_of(KINDS["sts"], read_params(), layout))) == 1


def test_a_set_of_gensim_that_is_absent_is_an_error(workspace: Path) -> None:
    path = workspace / "params.yaml"
    path.write_text(path.read_text().replace("test_data/lee.cor", "test_data/leo.cor"))
    with pytest.raises(InputError, match=r"has no such file"):
        tasks()


def test_a_malformed_set_is_refused_with_the_users_own_name_of_the_file(workspace: Path) -> None:
    layout = add(workspace, stsb("dev.csv"))
    (workspace / "dev.csv").write_text(PAIRS[0] + "A dog.,A cat.,often\n")
    with pytest.raises(InputError, match=r'^dev\.csv:2: .*"often" is not a number'):
        tasks()
    assert not layout.task("sts", "mine").exists()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("format: stsb", "format: stsc", r"tasks.mine.format: kind sts has no format stsc; .*'stsb'"),
        ("format: stsb\n", "\n", r"tasks.mine.format: kind sts has no format None; the known formats are"),
        ("{dev:", "{deb:", r"tasks.mine.files: of train, dev, test it takes one or more, not deb"),
        ("kind: sts\n    format: stsb", "kind: word-similarity\n    format: stsb", r"means nothing for kind"),
    ],
)
def test_entries_that_cannot_be_are_refused(workspace: Path, old: str, new: str, expected: str) -> None:
    add(workspace, stsb("dev.csv").replace(old, new))
    with pytest.raises(InputError, match=expected):
        tasks()


def test_a_file_on_the_hub_is_asked_for_by_name_revision_and_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    asked: list[tuple[object, ...]] = []
    (tmp_path / "there").write_text("x")

    def download(name: str, path: str, repo_type: str, revision: str) -> str:
        asked.append((name, path, repo_type, revision))
        if revision == "gone":
            raise OSError("no such revision\nmore")
        return str(tmp_path / "there")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    assert fetch.hub_path("hub://nyu-mll/glue@abc123/cola/train.parquet") == tmp_path / "there"
    assert asked == [("nyu-mll/glue", "cola/train.parquet", "dataset", "abc123")]
    with pytest.raises(fetch.UnavailableSource, match=r"cannot be had from the hub \(no such revision\)"):
        fetch.hub_path("hub://nyu-mll/glue@gone/cola/train.parquet")
    for address in ("hub://nyu-mll/glue/cola/train.parquet", "hub://glue@abc/x", "hub://a/b@c/"):
        with pytest.raises(InputError, match="not an address on the hub"):
            fetch.hub_path(address)
