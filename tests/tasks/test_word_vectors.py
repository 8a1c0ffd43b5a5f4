"""Word vectors from files: every form gives the same, and the baseline is what ten lines give."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr

from quartet.config.evaluation import VectorFormat
from quartet.errors import InputError
from quartet.tasks.sts.data import FORMATS
from quartet.tasks.sts.metrics import similarity_set
from quartet.tasks.word_vectors import LONGEST, MOST_NUMBERS, load_vectors
from tests.tasks.sts.test_metrics import measures_of

WORDS = {
    "the": [1, 0, 0],
    "cat": [0, 2, 0],
    "dog": [0, 1, 1],
    "runs": [3, 0, 1],
    "n't": [0, 0, 4],
    ",": [1, 1, 1],
}
PAIRS = '"The cat runs.",The dog runs.,4.2\nA cat doesn\'t run.,"The, dog",1.0\nthe cat,runs,0.5\nno word,at all,2.0\n'


def glove(folder: Path, name: str = "vectors.txt") -> Path:
    lines = "".join(f"{word} {' '.join(f'{value:.2f}' for value in row)}\n" for word, row in WORDS.items())
    path = folder / name
    path.write_bytes(gzip.compress(lines.encode()) if name.endswith(".gz") else lines.encode())
    return path


def keyed(folder: Path) -> Any:
    from gensim.models import KeyedVectors

    return KeyedVectors.load_word2vec_format(str(glove(folder)), no_header=True)


def test_every_form_gives_the_same_vectors(tmp_path: Path) -> None:
    vectors = keyed(tmp_path)
    vectors.save_word2vec_format(str(tmp_path / "w.txt"))
    vectors.save_word2vec_format(str(tmp_path / "w.bin"), binary=True)
    forms: list[tuple[str, VectorFormat]] = [
        ("vectors.txt", "glove"),
        (glove(tmp_path, "v.txt.gz").name, "glove"),
        ("w.txt", "word2vec"),
        ("w.bin", "word2vec-binary"),
    ]
    for name, form in forms:
        found = load_vectors(tmp_path / name, form, lowercase=True).embed(["The cat", "nothing", "dog"])
        assert found.means.tolist() == [[0.5, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
        assert (found.words, found.known) == (4, 3)


def test_words_are_cut_and_lower_cased_as_stated(tmp_path: Path) -> None:
    lower, kept = (load_vectors(glove(tmp_path), "glove", lowercase) for lowercase in (True, False))
    assert lower.words("The cat, it doesn't run.") == ["the", "cat", ",", "it", "does", "n't", "run", "."]
    assert kept.words("The cat") == ["The", "cat"]
    assert kept.embed(["The cat"]).means.tolist() == [[0.0, 2.0, 0.0]]
    assert lower.scale == "6 words, 3 dimensions, Treebank words, lower-cased"


def test_the_baseline_on_sts_benchmark_is_what_ten_lines_give(tmp_path: Path) -> None:
    (tmp_path / "dev.csv").write_text(PAIRS)
    pairs = list(FORMATS["stsb"].read(tmp_path / "dev.csv"))
    vectors = load_vectors(glove(tmp_path), "glove", lowercase=True)
    found = measures_of(similarity_set([pairs]), lambda texts: vectors.embed(texts).means, samples=50, seed=1)

    table = {line.split()[0]: np.array(line.split()[1:], float) for line in glove(tmp_path).open()}
    cosines = []
    for pair in pairs:
        means = []
        for text in (pair.first, pair.second):
            words = text.lower().replace(",", " ,").replace(".", " .").replace("n't", " n't").split()
            means.append(np.mean([table[word] for word in words if word in table] or [np.zeros(3)], axis=0))
        lengths = np.linalg.norm(means[0]) * np.linalg.norm(means[1])
        cosines.append(float(means[0] @ means[1] / lengths) if lengths else 0.0)
    expected = pearsonr(cosines, [pair.score for pair in pairs]).statistic
    assert found["pearson"].value == pytest.approx(expected, abs=1e-9)
    assert found["pearson"].n == 4


def test_words_of_glove_may_hold_blanks(tmp_path: Path) -> None:
    """glove.840B.300d, the T-TA paper's, has some twenty such words."""
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 0 2\n. . . 5 5 5\nat name@domain.com 6 6 6\ncat 0 1e-1 -3\nthe 9 9 9\n")
    found = load_vectors(path, "glove", lowercase=True)
    assert found.scale == "4 words, 3 dimensions, Treebank words, lower-cased"
    expected = np.mean([[1, 0, 2], [0, 0.1, -3]], axis=0)
    np.testing.assert_allclose(found.embed(["the cat"]).means, [expected], rtol=1e-6)
    path.write_text("the 1 0 2\ncat 0 1 -3 4\n")
    with pytest.raises(InputError, match=":2: 4 numbers, 3 were expected"):
        load_vectors(path, "glove", lowercase=True)


@pytest.mark.parametrize(
    ("content", "form", "told"),
    [
        (b"the 1 0\ncat 1\n", "glove", ":2: 1 numbers"),
        (b"the 1 0 2\ncat 1\n", "glove", ":2: 1 numbers"),
        (b"the 1 0\nc\0t 1 1\n", "glove", ":2: a NUL"),
        (b"the\n", "glove", ":1: a word, a blank and numbers"),
        (b"the 1 0\ncat 1 " + b"0" * LONGEST, "glove", ":2: a line of more than"),
        (b"the one two\n", "glove", ": cannot be read as word vectors"),
        (b"", "glove", ": holds no"),
        (b"\xff\xfe 1 2\n", "glove", ": cannot be read as word vectors"),
        (b"the 1 nan\n", "glove", ": holds .* not finite"),
        (b"the 1 0\ncat 0 1\n", "word2vec", ":1: the number of words"),
        (b"0 2\n", "word2vec", ":1: the number of words"),
        (b"1 %d\nthe 1\n" % (MOST_NUMBERS + 1), "word2vec", ":1: vectors of"),
        (b"3 2\nthe 1 0\n", "word2vec", ": holds 1 words of 2 numbers"),
        (b"1 2\nthe 1 0\ncat 0 1\n", "word2vec", ": holds 2 words of 2 numbers"),
        (b"3 2\nthe ", "word2vec-binary", ": cut short after 0 of 3"),
        (b"1 1\na \0\0\0\0\nb \0\0\0\0", "word2vec-binary", ": holds more than the 1 words"),
        (b"1 1\n" + b"a" * (LONGEST + 1), "word2vec-binary", ": word 1 does not end"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_broken_files_are_one_line(tmp_path: Path, content: bytes, form: VectorFormat, told: str) -> None:
    path = tmp_path / "broken"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"broken{told}"):
        load_vectors(path, form, lowercase=True)


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: cannot be read"):
        load_vectors(tmp_path / "nowhere", "glove", lowercase=True)
