"""ARPA files and binaries of others as models, against an evaluation word by word."""

from __future__ import annotations

import bz2
import gzip
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import quartet
from quartet.errors import InputError
from quartet.ngram.score import NgramLM
from tests.nbest.lists import nbest
from tests.ngram.reference import FIXTURES, Arpa

PLAIN = (FIXTURES / "fallback.arpa").read_text(encoding="utf-8")
ONE = b"\\data\\\nngram 1=2\n\n\\1-grams:\n-1\t<unk>\n-0.5\ta\n\n\\end\\\n"
SEVEN = ONE.replace(b"ngram 1=2\n", b"".join(b"ngram %d=2\n" % order for order in range(1, 8)))


def check(path: Path, texts: dict[str, list[str]]) -> NgramLM:
    """The model of a file gives each text the values of these words, one by one."""
    model = quartet.load(path)
    assert isinstance(model, NgramLM)
    arpa = Arpa(FIXTURES / "fallback.arpa")
    for text, words in texts.items():
        (values,) = model.token_logprobs([text])
        np.testing.assert_allclose(values, np.array(arpa.sentence(words)) * math.log(10), atol=2e-5)
    return model


def test_an_arpa_file_is_a_model(tmp_path: Path) -> None:
    (tmp_path / "lm.arpa").write_text(PLAIN)
    texts = {"a b c": ["a", "b", "c"], "": [], "a, b zzz": ["a,", "b", "zzz"], " c  a ": ["c", "a"]}
    model = check(tmp_path / "lm.arpa", texts)
    assert model.name == "lm.arpa"
    assert model.scale.startswith("5-gram of words, file ")
    assert model.read("a, b").unknown.tolist() == [True, False], "marks belong to words"
    found = quartet.rescore(model, [nbest("u", "a b", ("a zzz", -1.0), ("a b", -1.5))], weight=0.5)
    assert found[0]["best"] == "a b"


@pytest.mark.parametrize("name", ["lm.arpa.gz", "lm"])
def test_gzipped_and_with_a_blank_line_first_and_another_case_of_unk(name: str, tmp_path: Path) -> None:
    data = ("\n" + PLAIN.replace("<unk>", "<UNK>")).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    check(tmp_path / name, {"a b zzz": ["a", "b", "zzz"]})


def test_a_word_is_looked_up_in_the_case_that_the_file_has(tmp_path: Path) -> None:
    path = tmp_path / "upper.arpa"
    upper = [line if "ngram" in line or "gram" in line else line.upper() for line in PLAIN.split("\n")]
    marks = {"<S>": "<s>", "</S>": "</s>", "<UNK>": "<unk>", "\\DATA\\": "\\data\\", "\\END\\": "\\end\\"}
    text = "\n".join(upper)
    for mark, own in marks.items():
        text = text.replace(mark, own)
    path.write_text(text)
    check(path, {"a B c": ["a", "b", "c"], "Zzz a": ["zzz", "a"]})
    (tmp_path / "lower.arpa").write_text(PLAIN)
    check(tmp_path / "lower.arpa", {"A B c": ["a", "b", "c"]})


def test_of_two_other_cases_that_a_file_has_it_is_the_lower_one(tmp_path: Path) -> None:
    own = {"d": "ab", "e": "AB"}
    lines = [
        re.sub(r"(?<![\w\\])[de](?!\w)", lambda found: own[found[0]], line) for line in PLAIN.split("\n")
    ]
    (tmp_path / "both.arpa").write_text("\n".join(lines))
    model = quartet.load(tmp_path / "both.arpa")
    assert isinstance(model, NgramLM)
    lower, mixed, upper = model.score(["ab", "Ab", "AB"])
    assert lower == mixed != upper


@pytest.mark.skipif(shutil.which("build_binary") is None, reason="KenLM's program is not installed")
def test_a_binary_is_a_model_too(tmp_path: Path) -> None:
    (tmp_path / "lm.arpa").write_text(PLAIN)
    subprocess.run(["build_binary", "lm.arpa", "lm.bin"], cwd=tmp_path, check=True, capture_output=True)
    check(tmp_path / "lm.bin", {"a b zzz": ["a", "b", "zzz"]})


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("lm.arpa.bz2", bz2.compress(PLAIN.encode()), "is packed with bzip2, .*; unpack it: bunzip2"),
        ("model.bin", b"\0\1\2" * 9, "is neither an ARPA file nor a binary"),
        ("notes.txt", b"the cat\n", "is neither an ARPA file nor a binary"),
        ("empty", b"", "is neither an ARPA file nor a binary"),
        (
            "lm.bin",
            b"mmap lm http://kheafield.com/code format version 5\n\0" + bytes(90),
            "KenLM cannot read",
        ),
        ("one.arpa", ONE, "order 1, and KenLM here reads 2 to 6; estimate one of these"),
        ("seven.arpa", SEVEN, "order 7, and KenLM"),
        (
            "closed.arpa",
            PLAIN.replace("-1.20412\t<unk>\t0\n", "").replace("1=9", "1=8").encode(),
            "has no <unk>",
        ),
    ],
)
def test_other_files_are_refused(name: str, data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=said):
        quartet.load(tmp_path / name)


@pytest.mark.parametrize("before", ["\ufeff", "### made by a toolkit\n### of 1999\n\n"])
@pytest.mark.parametrize("packed", [True, False])
def test_what_stands_before_an_arpa_file_is_cut_off_by_the_remedy(
    before: str, packed: bool, tmp_path: Path
) -> None:
    data = f"{before}{PLAIN}".encode()
    (tmp_path / "lm").write_bytes(gzip.compress(data) if packed else data)
    with pytest.raises(InputError, match="other text before") as refused:
        quartet.load(tmp_path / "lm")
    command = refused.value.remedy.removeprefix("cut it off: ").replace("NEW", "new.arpa")
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
    assert (tmp_path / "new.arpa").read_text().strip() == PLAIN.strip()
    check(tmp_path / "new.arpa", {"a b zzz": ["a", "b", "zzz"]})


def test_a_file_that_is_not_there_is_no_name_on_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("lm.arpa", "lm.arpa.gz", "exp/lm.bin"):
        with pytest.raises(InputError, match="no such file"):
            quartet.load(name)


def test_without_kenlm_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lm.arpa").write_text(PLAIN)
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(InputError, match="kenlm: n-gram models need it"):
        quartet.load(tmp_path / "lm.arpa")
