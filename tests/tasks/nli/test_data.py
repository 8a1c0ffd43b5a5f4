"""Sets of entailment: every form of each, pairs without a label, and what is refused."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.tasks.nli.data import FORMATS, LABELS, NliPair
from tests.shared_data import shared
from tests.tasks.sts.test_data import parquet, passed_over, write

read_nli = FORMATS["snli"].read
EXPECTED = [NliPair('A "dog" runs', "It moves", "entailment"), NliPair("A cat", "A dog", "contradiction")]
#: The first columns of the official tables; SNLI and MultiNLI go on with other names and the judges' labels.
TABLE = "gold_label\tsentence1_binary_parse\tsentence1\tsentence2\tpairID\tlabel1\tlabel2\n"


def jsonl(*rows: str) -> str:
    return "".join(f"{{{row}}}\n" for row in rows)


def test_lines_of_json_in_their_forms(tmp_path: Path) -> None:
    official = jsonl(
        '"gold_label": "entailment", "sentence1": "A \\"dog\\" runs", "sentence2": "It moves", "pairID": "1"',
        '"gold_label": "-", "sentence1": "x", "sentence2": "y", "pairID": "2"',
        '"gold_label": "contradiction", "sentence1": "A cat ", "sentence2": "A dog", "pairID": "3"',
    )
    for names in (
        ("premise", "hypothesis", "label"),
        ("text_a", "text_b", "label"),
        ("context", "hypothesis", "label"),
    ):
        text = official
        for old, new in zip(("sentence1", "sentence2", "gold_label"), names, strict=True):
            text = text.replace(old, new)
        assert list(read_nli(write(tmp_path, "dev.jsonl.gz", text))) == EXPECTED
    path = write(tmp_path, "snli_1.0_dev.jsonl", official)
    assert list(read_nli(path)) == EXPECTED
    assert passed_over(FORMATS["snli"], path) == 1, "what the judges did not agree on is counted"
    anli = write(tmp_path, "anli.jsonl", jsonl('"context": "a", "hypothesis": "b", "label": "c"'))
    assert [pair.label for pair in read_nli(anli)] == ["contradiction"], "ANLI's own files have letters"


def test_official_tables_and_those_without_names(tmp_path: Path) -> None:
    rows = (
        'entailment\t( A )\tA "dog" runs\tIt moves\t1\tentailment\t\n'
        "-\t( x )\tx\ty\t2\tneutral\tentailment\n"
        "contradiction\t( A )\tA cat\tA dog\t3\n"
    )
    path = write(tmp_path, "multinli_1.0_train.txt", TABLE + rows)
    assert (list(read_nli(path)), passed_over(FORMATS["snli"], path)) == (EXPECTED, 1)
    last = 'A "dog" runs\tIt moves\t0\nA cat\tA dog\t2\n'
    assert list(read_nli(write(tmp_path, "test.txt.gz", last))) == EXPECTED
    named = 'A "dog" runs\tIt moves\tentailment\nA cat\tA dog\tcontradiction\n'
    assert list(read_nli(write(tmp_path, "test.tsv", named))) == EXPECTED
    first = 'entailment\tA "dog" runs\tIt moves\ncontradiction\tA cat\tA dog\n'
    assert list(read_nli(write(tmp_path, "test.tsv", first))) == EXPECTED


def test_the_hub_writes_numbers_and_minus_one(tmp_path: Path) -> None:
    texts = {"premise": ['A "dog" runs', "x", "A cat"], "hypothesis": ["It moves", "y", "A dog"]}
    path = parquet(tmp_path, **texts, label=[0, -1, 2])
    assert (list(read_nli(path)), passed_over(FORMATS["snli"], path)) == (EXPECTED, 1)


def test_hans_has_two_labels(tmp_path: Path) -> None:
    path = write(tmp_path, "hans.txt", "a\tb\t1\nc\td\t0\n")
    assert [pair.label for pair in FORMATS["hans"].read(path)] == ["non-entailment", "entailment"]
    own = "gold_label\tsentence1\tsentence2\theuristic\nnon-entailment\ta\tb\tlexical_overlap\n"
    assert [pair.label for pair in FORMATS["hans"].read(write(tmp_path, "h.txt", own))] == ["non-entailment"]
    with pytest.raises(InputError, match=r"hans\.txt:1: '2' is no label; labels are entailment, non-ent"):
        list(FORMATS["hans"].read(write(tmp_path, "hans.txt", "a\tb\t2\n")))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.jsonl",
            '{"premise": "a", "hypothesis": "b"}\n',
            r"a\.jsonl:1: no column label; there are premise, hypothesis",
        ),
        (
            "a.jsonl",
            jsonl('"premise": "a", "hypothesis": "b", "label": 0', '"premise": "a", "label": 0'),
            r"a\.jsonl:2: no column hypothesis",
        ),
        ("a.jsonl", jsonl('"premise": "a", "hypothesis": "b", "label": "yes"'), r":1: 'yes' is no label"),
        ("a.jsonl", jsonl('"premise": "a", "hypothesis": "b", "label": 3'), r":1: 3 is no label"),
        ("a.jsonl", jsonl('"premise": "a", "hypothesis": "b", "label": true'), r":1: True is no label"),
        ("a.jsonl", jsonl('"premise": "a", "hypothesis": "b", "label": [0]'), r":1: \[0\] is no label"),
        ("a.jsonl", jsonl('"premise": "", "hypothesis": "b", "label": 0'), r":1: premise is empty"),
        ("a.jsonl", jsonl('"premise": 1, "hypothesis": "b", "label": 0'), r":1: premise is int"),
        ("a.jsonl", "{broken\n", r"a\.jsonl:1: not a line of JSON"),
        ("a.jsonl", jsonl('"premise": "a", "hypothesis": "b", "label": "-"'), r"holds no pair with a label"),
        ("a.txt", "", r"a\.txt: is empty"),
        ("a.txt", "a\tb\t0\na\tb\n", r"a\.txt:2: 2 columns, the first line has 3"),
        ("a.txt", "a\tb\t0\na\tb\t0\textra\n", r"a\.txt:2: 4 columns, the first line has 3"),
        ("a.txt", "a\tb\n", r"a\.txt:1: no column sentence1"),
        ("a.txt", TABLE + "neutral\tp\ta\n", r"a\.txt:2: 3 columns, the first line has 7"),
        ("a.txt", "neutral\ta\tb\nperhaps\ta\tb\n", r"a\.txt:2: 'perhaps' is no label"),
        ("a.txt", "a\tb\0\t0\n", r"a\.txt:1: a NUL byte"),
    ],
)
def test_what_is_malformed_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_nli(write(tmp_path, name, text)))


def test_broken_files_are_refused(tmp_path: Path) -> None:
    cut = tmp_path / "a.txt.gz"
    cut.write_bytes(gzip.compress(b"a\tb\t0\n" * 100)[:-9])
    with pytest.raises(InputError, match="not a whole gzip file"):
        list(read_nli(cut))
    (tmp_path / "a.txt").write_bytes(b"caf\xe9\tb\t0\n")
    with pytest.raises(InputError, match=r"a\.txt:1: byte 0xe9 is not utf-8"):
        list(read_nli(tmp_path / "a.txt"))


@pytest.mark.parametrize(
    ("form", "path", "counts"),
    [
        ("snli", "nli/snli/dev.jsonl.gz", (3329, 3235, 3278)),
        ("snli", "nli/snli/test.tok.txt.gz", (3368, 3219, 3237)),
        ("snli", "nli/snli/train.sample8999.jsonl.gz", (2981, 2994, 3024)),
        ("snli", "nli/snli/train.sample1000.jsonl", (346, 328, 326)),
        ("mnli", "glue/MNLI/dev_matched.jsonl.gz", (3479, 3123, 3213)),
        ("mnli", "glue/MNLI/dev_mismatched.sample1000.tsv", (346, 319, 335)),
        ("mnli", "glue/MNLI/train.sample8999.jsonl.gz", (3061, 2980, 2958)),
        ("anli", "nli/anli/test.jsonl.gz", (1070, 1068, 1062)),
    ],
)
def test_the_published_counts(form: str, path: str, counts: tuple[int, int, int]) -> None:
    found = Counter(pair.label for pair in FORMATS[form].read(shared(path)))
    assert tuple(found[label] for label in LABELS) == counts
    assert found.total() == sum(counts)


def test_the_published_count_of_hans() -> None:
    pairs = FORMATS["hans"].read(shared("nli/hans/hans_eval.txt.gz"))
    assert Counter(pair.label for pair in pairs) == {"entailment": 15000, "non-entailment": 15000}
