"""Segmentation by several processes, and by another one: the same bytes, and the same line for a mistake."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.text.encoding import encode_corpus
from quartet.text.plain import draft_text
from quartet.text.segmentation import segment_corpus
from quartet.text.tokenizer import train_tokenizer
from tests.imports import ROOT
from tests.text import corpus
from tests.text.test_segmentation import SHARES, contents, many_parts, source  # noqa: F401 - fixtures

#: Of three splits their text, their tokens and a manifest of these; and one manifest of each folder.
FILES = 3 * 3 + 2


@pytest.mark.usefixtures("many_parts")
def test_processes_change_no_byte(tmp_path: Path) -> None:
    tales = tmp_path / "tales.txt"
    tales.write_text("\n\n\n".join("\n\n".join(p.text for p in d.paragraphs) for d in corpus.documents(12)))
    tokenizer = train_tokenizer("wordpiece", corpus.sentences(300, seed=2), 200, lowercase=True)
    found = []
    for workers in (1, 2):
        out, seen = tmp_path / str(workers), Counter[str]()
        segment_corpus(
            draft_text,
            tales,
            out / "segmented",
            shares=SHARES,
            punkt="trained",
            limit=11,
            workers=workers,
            advance=partial(seen.update, ["document"]),
        )
        assert seen["document"] == 11
        encode_corpus(out / "segmented", tokenizer, out / "encoded", workers=workers)
        found.append(contents(out))
    assert found[0] == found[1]
    assert len(found[0]) == FILES


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_mistake_in_a_document_is_named_from_any_process(tmp_path: Path, workers: int) -> None:
    for number, document in enumerate(corpus.documents(8)):
        (tmp_path / f"{number}.txt").write_text("\n\n".join(p.text for p in document.paragraphs))
    (tmp_path / "5.txt").write_bytes(b"One.\n\nTwo \xff.\n")
    with pytest.raises(InputError, match=r"5\.txt:1: not UTF-8 \(invalid start byte\); convert it to UTF-8"):
        segment_corpus(
            draft_text,
            tmp_path,
            tmp_path / "out",
            shares=SHARES,
            punkt="trained",
            training_characters=100,
            workers=workers,
        )
    assert not (tmp_path / "out").exists()


SCRIPT = """
import sys
from pathlib import Path
from quartet.text.documents import SentencesOf
from quartet.text.encoding import encode_corpus
from quartet.text.segmentation import segment_corpus
from quartet.text.split import HeldOutShares
from quartet.text.tokenizer import train_tokenizer
from tests.imports import ROOT
from tests.text import corpus
source, out = Path(sys.argv[1]), Path(sys.argv[2])
segment_corpus(corpus.reader, source, out / "segmented", shares=HeldOutShares(0.2, 0.2), punkt="trained")
tokenizer = train_tokenizer("wordpiece", SentencesOf(out / "segmented" / "train.jsonl"), 200, lowercase=True)
tokenizer.save(out / "tokenizer.json")
encode_corpus(out / "segmented", tokenizer, out / "encoded")
"""


def test_every_byte_is_the_same_in_another_process(source: Path, tmp_path: Path) -> None:  # noqa: F811
    found = []
    for seed in ("1", "2"):
        out = tmp_path / seed
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        subprocess.run([sys.executable, "-c", SCRIPT, str(source), str(out)], check=True, env=environment)
        found.append({p.relative_to(out): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()})
    assert len(found[0]) == FILES + 1, "and the tokenizer"
    assert found[0] == found[1]
