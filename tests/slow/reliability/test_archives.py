"""Archives and packed files: bounded memory whatever they unpack to, and no file where the archive would like one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pipeline.fetch import fetch
from quartet.config.text import Source
from quartet.errors import InputError
from quartet.tasks.blimp import data as blimp
from tests.imports import ROOT
from tests.reliability.malformed.case import as_jsonl
from tests.reliability.malformed.rows import valid

#: Bytes that the bomb unpacks to (it has a thousandth), and that reading it may take beside what Python itself does.
UNPACKED, ALLOWED = 300 << 20, 900 << 20

#: Reads the bomb under each name in the working folder; prints what was said, and the most memory that was in use.
READ_ALL = """
import resource
from pathlib import Path
from quartet.errors import InputError
from quartet.tasks.kinds import KINDS
from quartet.tasks.word_vectors import load_vectors
from quartet.nbest.formats import NBestFiles, read
from quartet.ngram.arpa import read_sizes
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name, open_ in {
    "lists.json.gz": lambda path: read("mlm-scoring", NBestFiles(path)),
    "lists.txt.gz": lambda path: read("moses", NBestFiles(path)),
    "dev.jsonl.gz": lambda path: list(KINDS["nli"].formats["snli"].read(path)),
    "dev.json.gz": lambda path: list(KINDS["squad"].formats["squad1"].read(path)),
    "dev.tsv.gz": lambda path: list(KINDS["glue"].formats["rte"].read(path)),
    "vectors.txt.gz": lambda path: load_vectors(path, "glove", True),
    "model.arpa.gz": read_sizes,
}.items():
    try:
        open_(Path(name))
        print("READ", name)
    except InputError as error:
        print(error)
print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""


def test_a_bomb_of_gzip_takes_bounded_memory(tmp_path: Path) -> None:
    import gzip

    with gzip.open(tmp_path / "bomb", "wb", 1) as file:
        for _ in range(UNPACKED >> 20):
            file.write(b" " * (1 << 20))
    assert (tmp_path / "bomb").stat().st_size < UNPACKED / 200
    for name in ("lists.json", "lists.txt", "dev.jsonl", "dev.json", "dev.tsv", "vectors.txt", "model.arpa"):
        (tmp_path / f"{name}.gz").hardlink_to(tmp_path / "bomb")
    found = subprocess.run(
        [sys.executable, "-c", READ_ALL],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    *lines, used = found.stdout.splitlines()
    assert len(lines) == 7
    assert not [line for line in lines if line.startswith("READ")]
    assert int(used) < ALLOWED, f"{int(used) >> 20} MiB"


def test_names_in_an_archive_are_no_places_to_write_to(tmp_path: Path) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    pair = json.loads(valid("blimp/blimp"))
    with zipfile.ZipFile(inside / "pairs.zip", "w") as archive:
        for number, name in enumerate(
            ["../../escaped.jsonl", "/tmp/escaped-quartet.jsonl", "C:\\escaped.jsonl"]
        ):
            archive.writestr(zipfile.ZipInfo(name), as_jsonl({**pair, "pairID": str(number)}))
    assert len(list(blimp.read_blimp(inside / "pairs.zip"))) == 2, "a path that begins with dots is left out"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["pairs.zip"]
    assert not Path("/tmp/escaped-quartet.jsonl").exists()


def test_members_that_unpack_to_too_much_are_refused_before_they_are_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blimp, "LARGEST", 1 << 20)
    with zipfile.ZipFile(tmp_path / "pairs.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"{number}.jsonl", b"\n" * (1 << 19))
    with pytest.raises(InputError, match=r"pairs\.zip: unpacks to more than"):
        list(blimp.read_blimp(tmp_path / "pairs.zip"))


def test_a_member_gives_no_more_than_it_says(tmp_path: Path) -> None:
    path = tmp_path / "pairs.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.jsonl", valid("blimp/blimp") * 1000)
    data = bytearray(path.read_bytes())
    central = data.index(b"PK\x01\x02")
    data[central + 24 : central + 28] = (100).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"pairs\.zip"):
        list(blimp.read_blimp(path))


@pytest.mark.parametrize("what", ["a link to nowhere", "a link in a circle", "a pipe"])
def test_a_folder_with_what_is_no_file_is_not_copied(what: str, tmp_path: Path) -> None:
    folder, out = tmp_path / "books", tmp_path / "out"
    folder.mkdir()
    out.mkdir()
    (folder / "a.txt").write_text("hello\n")
    if what == "a pipe":
        os.mkfifo(folder / "pipe")
    else:
        (folder / "link").symlink_to("nowhere" if what == "a link to nowhere" else "link")
    with pytest.raises(InputError, match="books: cannot be copied") as caught:
        fetch(Source(source="books", sha256=None), tmp_path, out, "kept")
    assert "\n" not in str(caught.value)
