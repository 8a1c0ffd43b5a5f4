"""A run that was stopped goes on: what is done is not done again, and no byte is another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quartet.errors import InputError
from quartet.text import encoding, resumable_work, segmentation
from quartet.text.documents import Document
from quartet.text.encoding import EncodeLines, encode_corpus
from quartet.text.resumable_work import Arrays, ResumableWork, pack_texts, unpack_texts
from quartet.text.segmentation import SegmentDrafts, segment_corpus
from quartet.text.split import HeldOutShares
from quartet.text.tokenizer import TextTokenizer, train_tokenizer
from tests.text import corpus
from tests.text.test_segmentation import contents

SHARES = HeldOutShares(0.2, 0.2)


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document a part, four parts a shard."""
    monkeypatch.setattr(resumable_work, "SHARD_ITEMS", 4)
    monkeypatch.setattr(segmentation, "BATCH_CHARACTERS", 1)
    monkeypatch.setattr(encoding, "BATCH_BYTES", 1)


class Stopped(Exception):
    """What ends a run in these tests."""


def counted(monkeypatch: pytest.MonkeyPatch, kind: type, stop_at: int | None) -> list[int]:
    """Count the parts that are worked on, and stop at one."""
    done: list[int] = []
    work: Callable[..., Any] = kind.__call__

    def call(self: Any, part: Any) -> Any:
        if len(done) == stop_at:
            raise Stopped
        done.append(len(part))
        return work(self, part)

    monkeypatch.setattr(kind, "__call__", call)
    return done


def segment(folder: Path, number: int = 30, **settings: Any) -> None:
    source = folder / "source.txt"
    source.write_text(str(number))
    segment_corpus(
        corpus.reader,
        source,
        folder / "segments",
        **{"shares": SHARES, "punkt": "trained", "training_characters": 100, "workers": 1} | settings,
    )


@pytest.fixture
def tokenizer() -> TextTokenizer:
    return train_tokenizer("wordpiece", corpus.sentences(300, seed=2), 200, lowercase=True)


@pytest.mark.parametrize(("stop_at", "kept"), [(0, 0), (3, 0), (4, 4), (11, 8), (29, 28)])
def test_segmentation_goes_on(tmp_path: Path, stop_at: int, kept: int) -> None:
    for name in ("straight", "stopped"):
        (tmp_path / name).mkdir()
    segment(tmp_path / "straight")
    straight, stopped = tmp_path / "straight", tmp_path / "stopped"
    resume = stopped / "resume"
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stopped):
        counted(patch, SegmentDrafts, stop_at)
        segment(stopped, resume=resume)
    assert len(list(resume.glob("*/*.npz"))) == kept // 4
    assert not (stopped / "segments").exists()
    seen: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        done = counted(patch, SegmentDrafts, None)
        segment(stopped, resume=resume, advance=lambda: seen.append(1))
    assert (len(done), len(seen)) == (30 - kept, 30)
    assert not resume.exists(), "nothing is kept of what is done"
    assert contents(straight) == contents(stopped)


def test_encoding_goes_on_in_the_split_where_it_stopped(tmp_path: Path, tokenizer: TextTokenizer) -> None:
    segment(tmp_path)
    encode_corpus(tmp_path / "segments", tokenizer, tmp_path / "straight", workers=1)
    resume = tmp_path / "resume"
    lines = {
        split: (tmp_path / "segments" / f"{split}.jsonl").read_bytes().count(b"\n")
        for split in ("train", "valid")
    }
    assert lines == {"train": 18, "valid": 6}
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stopped):
        counted(patch, EncodeLines, 18 + 5)
        encode_corpus(tmp_path / "segments", tokenizer, tmp_path / "encoded", workers=1, resume=resume)
    with pytest.MonkeyPatch.context() as patch:
        done = counted(patch, EncodeLines, None)
        encode_corpus(tmp_path / "segments", tokenizer, tmp_path / "encoded", workers=1, resume=resume)
    assert len(done) == 30 - 18 - 4, "training is whole, and the first shard of valid"
    assert not resume.exists()
    assert contents(tmp_path / "straight") == contents(tmp_path / "encoded")


def test_a_mistake_in_the_text_keeps_what_was_before_it(tmp_path: Path) -> None:
    class Wrong(Document):
        def make(self) -> Document:
            raise InputError("tale 9", "is damaged")

    def reader(path: Path) -> Iterator[Document]:
        for number, document in enumerate(corpus.documents(12)):
            yield document if number != 9 else Wrong(document.id, document.title, document.paragraphs)

    (tmp_path / "source").touch()
    settings: Any = {"shares": SHARES, "punkt": "trained", "training_characters": 100, "workers": 1}
    with pytest.raises(InputError, match="tale 9: is damaged"):
        segment_corpus(reader, tmp_path / "source", tmp_path / "out", **settings, resume=tmp_path / "resume")
    assert len(list((tmp_path / "resume").glob("*/*.npz"))) == 2


@pytest.mark.parametrize(
    "change", [{"limit": 29}, {"number": 29}, {"training_characters": 3000}], ids=["limit", "source", "Punkt"]
)
def test_other_settings_or_another_source_start_anew(tmp_path: Path, change: dict[str, Any]) -> None:
    resume = tmp_path / "resume"
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stopped):
        counted(patch, SegmentDrafts, 20)
        segment(tmp_path, resume=resume)
    with pytest.MonkeyPatch.context() as patch:
        done = counted(patch, SegmentDrafts, None)
        segment(tmp_path, resume=resume, **change)
    assert len(done) >= 29
    assert not resume.exists(), "what the first left is removed too"


def test_other_code_starts_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resume = tmp_path / "resume"
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stopped):
        counted(patch, SegmentDrafts, 20)
        segment(tmp_path, resume=resume)
    monkeypatch.setattr(resumable_work, "code_and_libraries", lambda: "another")
    done = counted(monkeypatch, SegmentDrafts, None)
    segment(tmp_path, resume=resume)
    assert len(done) == 30


def pack(result: list[bytes]) -> Arrays:
    joined, lengths = pack_texts(result)
    return {"joined": joined, "lengths": lengths}


def unpack(arrays: Arrays) -> list[bytes]:
    return unpack_texts(arrays["joined"], arrays["lengths"])


def texts(item: int) -> list[bytes]:
    return [b"x" * number for number in range(item % 4)]


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "absent"])
def test_a_damaged_shard_and_those_after_it_are_done_again(tmp_path: Path, damage: str) -> None:
    kept = ResumableWork(tmp_path / "resume", pack, unpack)
    straight = list(kept.in_order(texts, range(20), workers=1))
    assert straight == [texts(item) for item in range(20)]
    shards = sorted((tmp_path / "resume").iterdir())
    assert len(shards) == 5
    data = shards[2].read_bytes()
    if damage == "absent":
        shards[2].unlink()
    else:
        middle = data.index(b"xx")
        changed = data[:middle] + b"y" + data[middle + 1 :]
        shards[2].write_bytes({"cut": data[:-30], "changed": changed, "empty": b""}[damage])
    done = []

    def work(item: int) -> list[bytes]:
        done.append(item)
        return texts(item)

    assert list(kept.in_order(work, range(20), workers=1)) == straight
    assert done == list(range(8, 20))
    assert list(kept.in_order(work, range(20), workers=1)) == straight
    assert done == list(range(8, 20)), "now all of them are whole"


def test_few_parts_leave_no_file(tmp_path: Path) -> None:
    assert (
        len(list(ResumableWork(tmp_path / "resume", pack, unpack).in_order(texts, range(3), workers=1))) == 3
    )
    assert not (tmp_path / "resume").exists()


def test_texts_are_what_they_were() -> None:
    for given in ([], [b""], [b"", b"a\0b", "é".encode(), b""]):
        assert unpack_texts(*pack_texts(given)) == given
    assert pack_texts([b"ab"])[1].dtype == np.int64


SCRIPT = """
import os, signal, sys
from pathlib import Path
from quartet.text import resumable_work, segmentation
from quartet.text.segmentation import SegmentDrafts, segment_corpus
from quartet.text.split import HeldOutShares
from tests.text import corpus
resumable_work.SHARD_ITEMS, segmentation.BATCH_CHARACTERS = 4, 1
folder = Path(sys.argv[1])
done = []
work = SegmentDrafts.__call__
def call(self, part):
    if len(done) == 10:
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(part)
    return work(self, part)
SegmentDrafts.__call__ = call
segment_corpus(corpus.reader, folder / "source.txt", folder / "segments", shares=HeldOutShares(0.2, 0.2),
    punkt="trained", training_characters=100, workers=1, resume=folder / "resume")
"""


def test_a_killed_program_s_shards_are_there(tmp_path: Path) -> None:
    (tmp_path / "source.txt").write_text("30")
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")])
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], check=False, env=os.environ | {"PYTHONPATH": path}
    )
    assert ended.returncode == -signal.SIGKILL
    with pytest.MonkeyPatch.context() as patch:
        done = counted(patch, SegmentDrafts, None)
        segment(tmp_path, resume=tmp_path / "resume")
    assert len(done) == 30 - 8
    other = tmp_path / "other"
    other.mkdir()
    segment(other)
    assert contents(other / "segments") == contents(tmp_path / "segments")
