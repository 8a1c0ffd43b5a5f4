"""GLUE's tasks: every form of each, hidden labels, QQP's broken lines, and what is refused."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from quartet.errors import InputError
from quartet.tasks.glue.data import FORMATS, TASKS, GlueExample, glue_set, read_glue
from quartet.tasks.judged_texts import BROKEN
from tests.shared_data import shared
from tests.tasks.glue.test_metrics import example
from tests.tasks.sts.test_data import passed_over

RTE = "index\tsentence1\tsentence2\tlabel\n"
QQP = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
MNLI = (
    "index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\t"
    "sentence2_parse\tsentence1\tsentence2\tlabel1\tgold_label\n"
)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def parquet(folder: Path, **columns: list[Any]) -> Path:
    path = folder / "test-00000-of-00001.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


#: A line of GLUE's own training table of each task, and what it says.
TABLES = {
    "cola": ("gj04\t0\t*\tThe \"cat sat.\n", GlueExample(0, 'The "cat sat.', None, "0")),
    "sst2": ("sentence\tlabel\nit 's \" dull \t1\n", GlueExample(0, "it 's \" dull", None, "1")),
    "mrpc": (
        '\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t7\t8\t" A\tB "\n',
        GlueExample(0, '" A', 'B "', "1"),
    ),
    "stsb": (
        "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
        "5\tg\tf\t2012\t1\tn\tn\tA\tB\t3.800\n",
        GlueExample(0, "A", "B", None, 3.8),
    ),
    "qqp": (f"{QQP}133\t1\t2\tA?\tB?\t1\n", GlueExample(0, "A?", "B?", "1")),
    "mnli": (f"{MNLI}9\t1\t1\tg\t(a)\t(b)\t(A)\t(B)\tA\tB\tneutral\tcontradiction\n",
             GlueExample(0, "A", "B", "contradiction")),
    "qnli": ("index\tquestion\tsentence\tlabel\n3\tA?\tB.\tnot_entailment\n",
             GlueExample(0, "A?", "B.", "not_entailment")),
    "rte": (f"{RTE}3\tA\tB\tentailment\n", GlueExample(0, "A", "B", "entailment")),
    "wnli": (f"{RTE}3\tA\tB\t1\n", GlueExample(0, "A", "B", "1")),
}  # fmt: skip
#: The same of a test table, without labels.
TESTS = {
    "cola": "index\tsentence\n4\tA\n",
    "sst2": "index\tsentence\n4\tA\n",
    "mrpc": "index\t#1 ID\t#2 ID\t#1 String\t#2 String\n4\t7\t8\tA\tB\n",
    "stsb": "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\n"
    "4\tg\tf\t2012\t1\tn\tn\tA\tB\n",
    "qqp": "id\tquestion1\tquestion2\n4\tA\tB\n",
    "mnli": "index\tsentence1\tsentence2\n4\tA\tB\n",
    "qnli": "index\tquestion\tsentence\n4\tA\tB\n",
    "rte": "index\tsentence1\tsentence2\n4\tA\tB\n",
    "wnli": "index\tsentence1\tsentence2\n4\tA\tB\n",
}


@pytest.mark.parametrize("name", TASKS)
def test_glues_own_tables(tmp_path: Path, name: str) -> None:
    text, expected = TABLES[name]
    for file in ("train.tsv", "train.tsv.gz"):
        assert list(FORMATS[name].read(write(tmp_path, file, text))) == [expected]
    second = "B" if len(TASKS[name].tsv) > 1 else None
    (hidden,) = read_glue(write(tmp_path, "test.tsv", TESTS[name]), name)
    assert hidden == GlueExample(4, "A", second, None)
    assert not hidden.labelled


@pytest.mark.parametrize("name", TASKS)
def test_the_hubs_tables(tmp_path: Path, name: str) -> None:
    task = TASKS[name]
    texts = {column: [f"{column} 1", f"{column} 2"] for column in task.hub}
    number = 2.5 if task.regression else 1
    found = list(read_glue(parquet(tmp_path, **texts, label=[number, number], idx=[7, 8]), name))
    assert [(one.index, one.first, one.second) for one in found] == [
        (row, f"{task.hub[0]} {row + 1}", f"{task.hub[1]} {row + 1}" if task.hub[1:] else None)
        for row in (0, 1)
    ]
    assert {(one.label, one.score) for one in found} == {
        (None, 2.5) if task.regression else (task.labels[1], None)
    }
    hidden = list(read_glue(parquet(tmp_path, **texts, label=[-1, -1], idx=[7, 8]), name))
    assert [(one.index, one.labelled) for one in hidden] == [(7, False), (8, False)]


def test_other_forms(tmp_path: Path) -> None:
    json = '{"text_a": "A", "text_b": "B", "label": "not_entailment"}\n'
    assert list(read_glue(write(tmp_path, "train.jsonl.gz", json), "qnli")) == [
        GlueExample(0, "A", "B", "not_entailment")
    ]
    json = '{"premise": "A", "hypothesis": "B", "label": "neutral"}\n'
    assert list(read_glue(write(tmp_path, "dev.jsonl", json), "mnli")) == [
        GlueExample(0, "A", "B", "neutral")
    ]
    assert list(read_glue(write(tmp_path, "dev.tsv", "neutral\tA\tB\n"), "mnli")) == [
        GlueExample(0, "A", "B", "neutral")
    ]
    assert list(read_glue(write(tmp_path, "dev.txt.gz", "A ?\tB ?\t0\n"), "qqp")) == [
        GlueExample(0, "A ?", "B ?", "0")
    ]
    assert list(read_glue(write(tmp_path, "dev.csv", '"A, a",B,5\n'), "stsb")) == [
        GlueExample(0, "A, a", "B", None, 5.0)
    ]


def test_qqps_few_broken_lines_are_passed_over_and_counted(tmp_path: Path) -> None:
    good = "".join(f"{number}\t1\t2\tA\tB\t0\n" for number in range(BROKEN - 1))
    path = write(tmp_path, "train.tsv", f"{QQP}{good}\tIs it so?\t0\n")
    assert len(list(read_glue(path, "qqp"))) == BROKEN - 1
    assert passed_over(FORMATS["qqp"], path) == 1
    path = write(tmp_path, "train.tsv", f"{QQP}{good}a\tb\na\tb\n")
    with pytest.raises(InputError, match=r"train\.tsv: 2 of 1001 lines are broken"):
        list(read_glue(path, "qqp"))
    empty = write(tmp_path, "train.tsv", f"{QQP}1\t1\t2\tA\t\t0\n")
    assert list(read_glue(empty, "qqp")) == [GlueExample(0, "A", "", "0")]


@pytest.mark.parametrize(
    ("task", "name", "text", "message"),
    [
        ("rte", "a.tsv", "", r"a\.tsv: is empty"),
        ("rte", "a.tsv", RTE, r"a\.tsv: holds no examples"),
        ("rte", "a.tsv", f"{RTE}0\ta\tb\n", r"a\.tsv:2: 3 columns, the first line has 4"),
        ("rte", "a.tsv", f"{RTE}0\ta\tb\t1\n1\ta\tb\tmaybe\n", r"a\.tsv:3: 'maybe' is no label"),
        ("rte", "a.tsv", f"{RTE}0\ta\tb\t2\n", r"a\.tsv:2: '2' is no label"),
        ("rte", "a.tsv", f"{RTE}0\ta\t \tentailment\n", r"a\.tsv:2: sentence2 is empty"),
        ("rte", "a.tsv", f"{RTE}0\ta\0\tb\tentailment\n", r"a\.tsv:2: a NUL byte"),
        ("rte", "a.tsv", "index\tsentence1\n0\ta\n", r"a\.tsv:1: no column sentence2; there are index"),
        ("cola", "a.tsv", "gj04\tyes\t\ta\n", r"a\.tsv:1: no column sentence; there are gj04, yes"),
        ("cola", "a.tsv", "gj04\t1\t\ta\ngj04\t1\ta\n", r"a\.tsv:2: 3 columns, the first line has 4"),
        ("mnli", "a.tsv", "neutral\ta\tb\nb\ta\tb\n", r"a\.tsv:2: 'b' is no label"),
        ("cola", "a.tsv", "index\tsentence\n4\ta\n4\tb\n", r"a\.tsv:3: the index 4 is there already"),
        ("cola", "a.tsv", "index\tsentence\n-1\ta\n", r"a\.tsv:2: '-1' is no index"),
        ("stsb", "a.csv", "a,b,5.5\n", r"a\.csv:1: the score 5\.5 is not within 0 and 5"),
        ("qnli", "a.jsonl", '{"text_a": "a", "label": 1}\n', r"a\.jsonl:1: no column text_b; there are text_a, label"),
        ("qnli", "a.jsonl", '{"text_a": "a", "text_b": "b"}\n', r"a\.jsonl:1: no column label"),
        ("qnli", "a.jsonl", '{"text_a": 1, "text_b": "b", "label": 1}\n', r"a\.jsonl:1: text_a is int"),
        ("qnli", "a.jsonl", '{"text_a": "a", "text_b": "b", "label": null}\n', r"a\.jsonl:1: None is no label"),
    ],
)  # fmt: skip
def test_what_is_malformed_is_named(tmp_path: Path, task: str, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_glue(write(tmp_path, name, text), task))


def test_the_remedies_for_json_work(tmp_path: Path) -> None:
    rows = [{"text_a": "a", "text_b": "b", "idx": 3}, {"text_a": "c", "text_b": "d", "idx": 4}]
    whole = write(tmp_path, "a.json", json.dumps(rows))
    with pytest.raises(InputError) as refused:
        list(read_glue(whole, "qnli"))
    assert refused.value.remedy.startswith("write one object a line")
    with pytest.raises(InputError) as refused:
        list(read_glue(write(tmp_path, "a.json", "\n".join(map(json.dumps, rows))), "qnli"))
    assert "-1" in refused.value.remedy
    hidden = write(tmp_path, "a.json", "\n".join(json.dumps(row | {"label": -1}) for row in rows))
    assert [(one.index, one.labelled) for one in read_glue(hidden, "qnli")] == [(3, False), (4, False)]


def test_labels_in_part_and_broken_files_are_refused(tmp_path: Path) -> None:
    texts = {"sentence": ["a", "b"]}
    with pytest.raises(InputError, match="row 2: has no label, unlike the rows before it"):
        list(read_glue(parquet(tmp_path, **texts, label=[1, -1], idx=[0, 1]), "cola"))
    with pytest.raises(InputError, match="row 2: has a label, unlike the rows before it"):
        list(read_glue(parquet(tmp_path, **texts, label=[-1, 0], idx=[0, 1]), "cola"))
    cut = tmp_path / "a.tsv.gz"
    cut.write_bytes(gzip.compress((RTE + "0\ta\tb\tentailment\n" * 100).encode())[:-9])
    with pytest.raises(InputError, match="not a whole gzip file"):
        list(read_glue(cut, "rte"))
    latin = tmp_path / "b.tsv"
    latin.write_bytes(RTE.encode() + b"0\tcaf\xe9\tb\tentailment\n")
    with pytest.raises(InputError, match=r"b\.tsv:2: byte 0xe9 is not utf-8"):
        list(read_glue(latin, "rte"))


#: The counts that the folder's README gives.
COUNTS = {
    "cola": {"CoLA/train.tsv": 8551, "CoLA/dev.tsv": 1043},
    "sst2": {"SST-2/train.tsv": 67_349, "SST-2/dev.tsv": 872},
    "rte": {"RTE/train.tsv": 2490, "RTE/dev.tsv": 277},
    "wnli": {"WNLI/train.tsv": 635, "WNLI/dev.tsv": 71},
    "mrpc": {"MRPC/train.tsv": 3668, "MRPC/dev.tsv": 408, "MRPC/msr_paraphrase_test.txt": 1725},
    "qnli": {"QNLI/dev.tsv": 5463, "QNLI/train.sample8999.jsonl.gz": 8999, "QNLI/train.sample1000.jsonl": 1000},
    "qqp": {
        "QQP/train.sample8999.jsonl.gz": 8999,
        "QQP/train.sample1000.jsonl": 1000,
        "QQP/quora_wang2017_dev.txt.gz": 10_000,
        "QQP/quora_wang2017_test.txt.gz": 10_000,
    },
    "mnli": {
        "MNLI/dev_matched.jsonl.gz": 9815,
        "MNLI/dev_mismatched.sample1000.tsv": 1000,
        "MNLI/train.sample8999.jsonl.gz": 8999,
        "MNLI/train.sample1000.jsonl": 1000,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_the_published_counts(name: str) -> None:
    folder = shared("glue")
    assert {file: len(list(read_glue(folder / file, name))) for file in COUNTS[name]} == COUNTS[name]
    if FORMATS[name].passed_over is not None:
        assert not any(passed_over(FORMATS[name], folder / file) for file in COUNTS[name])


def test_the_published_labels() -> None:
    matched = Counter(one.label for one in read_glue(shared("glue/MNLI/dev_matched.jsonl.gz"), "mnli"))
    assert matched == {"entailment": 3479, "neutral": 3123, "contradiction": 3213}
    quora = Counter(one.label for one in read_glue(shared("glue/QQP/quora_wang2017_test.txt.gz"), "qqp"))
    assert quora == {"1": 5000, "0": 5000}
    stsb = [one.score for one in read_glue(shared("sts/stsb/dev.csv"), "stsb")]
    assert len(stsb) == 1500 and min(map(float, filter(None, stsb))) > 0


def test_a_set_needs_labels_to_train_and_to_choose_by() -> None:
    known, hidden = [example("a", "b", "1")] * 20, [example("a", "b", None)] * 3
    found = glue_set("rte", {"train": known, "dev": known[:5], "test": hidden}, 0)
    assert (len(found.train), found.available, found.dev, list(found.others)) == (
        20,
        20,
        "dev",
        ["dev", "test"],
    )
    for splits in ({"train": hidden, "dev": known}, {"train": known}, {"train": known, "dev": hidden}):
        with pytest.raises(InputError, match=r"tasks\.rte: no labelled split"):
            glue_set("rte", splits, 0, "params.yaml: tasks.rte")
    mnli = glue_set("mnli", {"train": known, "dev_mismatched": known, "dev_matched": known}, 0)
    assert mnli.dev == "dev_matched"


def test_a_limit_draws_the_same_examples_and_repeats_are_counted() -> None:
    train = [example(f"text {number}", None, "1") for number in range(50)]
    dev = [example("text 3", None, "0"), example("text 99", None, "0")]
    found = glue_set("cola", {"train": train, "dev": dev}, 10)
    assert (len(found.train), found.available) == (10, 50)
    assert found == glue_set("cola", {"train": train, "dev": dev}, 10)
    assert [train.index(one) for one in found.train] == sorted(train.index(one) for one in found.train)
    assert found.train != train[:10], "drawn, not cut off"
    whole = glue_set("cola", {"train": train, "dev": dev}, 0)
    assert whole.repeated("dev") == 1
