"""Sets of scored pairs: every form of each, what is passed over, and what is refused."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from quartet.errors import InputError
from quartet.tasks.set_files import SetFormat
from quartet.tasks.sts.data import FORMATS, ScoredPair
from tests.shared_data import shared

Read = Callable[[Path], Iterator[ScoredPair]]

read_stsb, read_sick, read_semeval = (FORMATS[name].read for name in ("stsb", "sick", "semeval"))
SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\r\n"
GLUE = "index\tgenre\tsentence1\tsentence2\tscore\n"


def passed_over(form: SetFormat[Any], path: Path) -> int:
    assert form.passed_over is not None
    return form.passed_over(path)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def parquet(folder: Path, **columns: list[Any]) -> Path:
    path = folder / "test-00000-of-00001.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def test_sts_benchmark_in_its_forms(tmp_path: Path) -> None:
    expected = [ScoredPair("A cat, sat.", 'A "dog" ran.', 3.8), ScoredPair("A", "B", 0.0)]
    csv = '"A cat, sat.","A ""dog"" ran.",3.8\n\nA,B,0\n'
    assert list(read_stsb(write(tmp_path, "dev.csv", csv))) == expected
    assert list(read_stsb(write(tmp_path, "dev.csv.gz", csv))) == expected
    published = (
        'main-news\tMSRpar\t2012\t0001\t3.800\tA cat, sat.\tA "dog" ran.\nmain\tx\t2012\t2\t0\tA\tB\tCC BY\n'
    )
    assert list(read_stsb(write(tmp_path, "sts-dev.csv", published))) == expected
    tsv = f'{GLUE}0\tnews\tA cat, sat.\tA "dog" ran.\t3.800\n1\tnews\tA\tB\t0\n'
    assert list(read_stsb(write(tmp_path, "dev.tsv", tsv))) == expected
    texts = {"sentence1": ["A cat, sat.", "A"], "sentence2": ['A "dog" ran.', "B"]}
    assert list(read_stsb(parquet(tmp_path, **texts, label=[3.8, 0.0], idx=[0, 1]))) == expected
    of_one = list(read_stsb(parquet(tmp_path, **texts, score=[0.76, 0.0])))
    assert [pair.score for pair in of_one] == pytest.approx([3.8, 0.0]), "0 to 1 there, 0 to 5 here"
    mteb = parquet(tmp_path, split=["dev"] * 2, genre=["main-news", "main"], **texts, score=[3.8, 0.0])
    assert list(read_stsb(mteb)) == expected
    assert list(read_stsb(parquet(tmp_path, **texts, similarity_score=[3.8, 0.0]))) == expected


def test_sick_in_its_forms(tmp_path: Path) -> None:
    expected = [
        ScoredPair("A dog runs", "A dog is running", 4.9, label="ENTAILMENT"),
        ScoredPair("A dog runs", "No dog runs", 3.5, label="CONTRADICTION"),
    ]
    lines = "6\tA dog runs\tA dog is running\t4.9\tENTAILMENT\r\n7\tA dog runs\tNo dog runs\t3.5\tCONTRADICTION\r\n"
    assert list(read_sick(write(tmp_path, "SICK_train.txt", SICK + lines))) == expected
    hub = parquet(
        tmp_path,
        id=["6", "7"],
        sentence_A=["A dog runs", "A dog runs"],
        sentence_B=["A dog is running", "No dog runs"],
        label=[0, 2],
        relatedness_score=[4.9, 3.5],
    )
    assert list(read_sick(hub)) == expected


def test_unscored_pairs_are_passed_over_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "belief.test.tsv", "\tnobody\tjudged\n4.25\ta b\tc\n \tnor\tthis\n0\td\te\n")
    expected = [ScoredPair("a b", "c", 4.25), ScoredPair("d", "e", 0.0)]
    assert list(read_semeval(path)) == expected
    assert passed_over(FORMATS["semeval"], path) == 2


def test_the_two_files_of_semevals_own_pages_make_one_as_the_remedy_says(tmp_path: Path) -> None:
    """Since 2016 the sentences' sources stand behind them."""
    write(tmp_path, "STS.gs.X.txt", "4\n\n2.5\n")
    texts = write(
        tmp_path, "STS.input.X.txt", "a\tb\tsource\tsource\nc\td\tsource\tsource\ne\tf\tsource\tsource\n"
    )
    with pytest.raises(InputError) as refused:
        list(read_semeval(texts))
    command = refused.value.remedy.partition(": ")[2]
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert list(read_semeval(tmp_path / "X.tsv")) == [ScoredPair("a", "b", 4.0), ScoredPair("e", "f", 2.5)]
    assert passed_over(FORMATS["semeval"], tmp_path / "X.tsv") == 1


def test_a_year_of_semeval_from_the_hub(tmp_path: Path) -> None:
    expected = [ScoredPair("a b", "c", 4.25)]
    line = '{"sentence1": "a b", "sentence2": "c", "score": 4.25}\n'
    assert list(read_semeval(write(tmp_path, "test.jsonl.gz", line))) == expected
    hub = parquet(tmp_path, split=["test"], sentence1=["a b"], sentence2=["c"], score=[4.25])
    assert [pair.score for pair in read_semeval(hub)] == [4.25]


@pytest.mark.parametrize(
    ("read", "name", "text", "message"),
    [
        (read_stsb, "a.csv", "a,b\n", r"a\.csv:1: 2 columns, 3 were expected"),
        (read_stsb, "a.csv", "g\tf\ty\t1\t5\ta\tb\nc\td\n", r"a\.csv:2: 2 columns, 7 were expected"),
        (read_stsb, "a.csv", 'x,y,1\n"a,b,1\n', r"a\.csv:2: not a row of comma-separated values"),
        (read_stsb, "a.csv", "a,b,5.1\n", r"a\.csv:1: the score 5\.1 is not within 0 and 5"),
        (read_stsb, "a.csv", "a,b,nan\n", r"a\.csv:1: nan is not a finite number"),
        (read_stsb, "a.csv", "a,,1\n", r"a\.csv:1: the second sentence is empty"),
        (read_stsb, "a.tsv", f"{GLUE}0\tn\ta\tb\t-1\n", r"a\.tsv:2: .*-1 mark a split without published"),
        (read_stsb, "a.tsv", "index\tsentence1\tsentence2\n0\ta\tb\n", r"a\.tsv:1: no column score"),
        (read_sick, "a.txt", SICK + "1\ta\tb\t0.5\tNEUTRAL\n", r"a\.txt:2: the score 0\.5 is not within 1"),
        (read_sick, "a.txt", SICK + "1\ta\tb\t2\tNO\n", r"a\.txt:2: 'NO' is no label; labels are ENTAIL"),
        (read_sick, "a.txt", SICK + 2 * "1\ta\tb\t2\tNEUTRAL\n", r"a\.txt:3: the pair 1 is there already"),
        (read_semeval, "a.tsv", "1\ta\tb\textra\n", r"a\.tsv:1: 4 columns, 3 were expected"),
        (read_semeval, "a.tsv", "high\ta\tb\n", r'a\.tsv:1: "high" is not a number'),
        (read_semeval, "a.tsv", "1\ta\0\tb\n", r"a\.tsv:1: a NUL byte"),
        (read_semeval, "a.tsv", "\ta\tb\n", r"a\.tsv: holds no pair with a score"),
        (read_semeval, "a.jsonl", '{"sentence1": "a", "score": 1}\n', r"a\.jsonl:1: no column sentence2"),
    ],
)
def test_what_is_malformed_is_named(tmp_path: Path, read: Read, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read(write(tmp_path, name, text)))


def test_other_columns_and_broken_files_are_refused(tmp_path: Path) -> None:
    bare = parquet(tmp_path, sentence1=["a"], sentence2=["b"])
    with pytest.raises(
        InputError,
        match=r"parquet: row 1: no column label or similarity_score or score; there are sentence1, sentence2",
    ):
        list(read_stsb(bare))
    with pytest.raises(InputError, match="the score 3 is not within 0 and 1") as refused:
        list(read_stsb(parquet(tmp_path, sentence1=["a"], sentence2=["b"], score=[3.0])))
    assert "label" in refused.value.remedy
    cut = tmp_path / "a.csv.gz"
    cut.write_bytes(gzip.compress(b"a,b,1\n" * 100)[:-9])
    with pytest.raises(InputError, match="not a whole gzip file"):
        list(read_stsb(cut))


def test_the_published_counts() -> None:
    folder = shared("sts")
    counts = {
        split: len(list(read_stsb(folder / "stsb" / f"{split}.csv"))) for split in ("train", "dev", "test")
    }
    assert counts == {"train": 5749, "dev": 1500, "test": 1379}
    sick = {
        name: list(read_sick(folder / "sick" / f"SICK_{name}.txt"))
        for name in ("train", "trial", "test_annotated")
    }
    assert [len(pairs) for pairs in sick.values()] == [4500, 500, 4927]
    assert sum(pair.label == "CONTRADICTION" for pair in sick["test_annotated"]) == 720


@pytest.mark.parametrize(
    ("year", "scored", "passed"),
    [(12, 3108, 0), (13, 1500, 0), (14, 3750, 0), (15, 3000, 5500), (16, 1186, 7997)],
)
def test_the_published_counts_of_semeval(year: int, scored: int, passed: int) -> None:
    files = sorted(shared(f"sts/sts{year}").glob("*.test.tsv"))
    pairs = [pair for file in files for pair in read_semeval(file)]
    assert (len(pairs), sum(passed_over(FORMATS["semeval"], file) for file in files)) == (scored, passed)
