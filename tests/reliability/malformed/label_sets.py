"""Sets of labelled sentences and pairs: the nine of GLUE, and SNLI, MultiNLI, ANLI and HANS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quartet.evaluation.sets.glue import TASKS, GlueTask
from tests.reliability.malformed.case import Case, as_jsonl, damaged_text, without
from tests.reliability.malformed.similarity_sets import Texts, common, parquet, published, table

NLI = {"sentence1": "A man sings.", "sentence2": "A man is quiet.", "gold_label": "contradiction"}


def cases() -> Iterator[Case]:
    for name, task in TASKS.items():
        for what, (file, data, says) in _of_task(task).items():
            yield Case(f"glue/{name}", what, {file: data}, published("glue", name, file), says)
    shared = common("dev.tsv")
    for what, (file, data, says) in {**_rte(), **shared}.items():
        yield Case("glue/forms", what, {file: data}, published("glue", "rte", file), says)
    for what, (file, data, says) in {**BROKEN_QUESTIONS}.items():
        yield Case("glue/qqp", what, {file: data}, published("glue", "qqp", file), says)
    for what, (file, data, says) in {**NLI_SETS, **shared}.items():
        yield Case("nli/snli", what, {file: data}, published("nli", "snli", file), says)
    hans = as_jsonl({"premise": "a", "hypothesis": "b", "label": "neutral"})
    yield Case(
        "nli/hans",
        "three labels",
        {"test.jsonl": hans},
        published("nli", "hans", "test.jsonl"),
        "'neutral' is no label",
    )


def valid_row(task: GlueTask) -> dict[str, str]:
    """A row of GLUE's own table."""
    texts = dict.fromkeys(task.tsv, "A man sings.")
    return {task.index: "0", **texts, task.gold: task.labels[0] if task.labels else "4.5"}


def as_table(*rows: dict[str, str]) -> bytes:
    """Rows below the line of their columns."""
    return table(*("\t".join(row.values()) for row in rows), header="\t".join(rows[0]))


def _of_task(task: GlueTask) -> Texts:
    """What is wrong with a file of any task, in its own columns."""
    row = valid_row(task)
    first = task.tsv[0]
    hub: dict[str, Any] = {**dict.fromkeys(task.hub, "A man sings."), "label": 0, "idx": 0}
    wrong = "maybe"
    found: Texts = {
        "no text's column": ("dev.tsv", as_table(without(row, first)), rf"no column .*{first[:3]}"),
        "an unknown label": (
            "dev.tsv",
            as_table({**row, task.gold: wrong}),
            "'maybe' is no label|\"maybe\" is not a",
        ),
        "an empty label": (
            "dev.tsv",
            as_table({**row, task.gold: ""}),
            "'' is no label|\"\" is not a number",
        ),
        "empty": ("dev.tsv", b"", "dev.tsv: holds no examples"),
        "a header alone": ("dev.tsv", as_table(row).split(b"\n")[0] + b"\n", "dev.tsv: holds no examples"),
        "an index twice": (
            "test.tsv",
            as_table(*[without(row, task.gold)] * 2),
            "the index 0 is there already",
        ),
        "no index": (
            "test.tsv",
            as_table(without(without(row, task.gold), task.index)),
            "None is no index",
        ),
        "a label that is missing": ("dev.jsonl", as_jsonl(without(hub, "label")), "no column label"),
        "a text that is null": (
            "dev.jsonl",
            as_jsonl({**hub, task.hub[0]: None}),
            "NoneType, a text was expected",
        ),
        "a number beyond the labels": (
            "dev.jsonl",
            as_jsonl({**hub, "label": 9}),
            "9 is no label|score 9 is not within",
        ),
        "labels in part": (
            "dev.jsonl",
            as_jsonl(hub, {**hub, "label": -1}),
            "dev.jsonl:2: has no label, unlike",
        ),
    }
    if not task.broken:
        found["an empty text"] = ("dev.tsv", as_table({**row, first: " "}), "is empty")
        found["a cell too few"] = (
            "dev.tsv",
            as_table(row) + b"a\tb\n",
            "dev.tsv:3: 2 columns, the first line has",
        )
    return found


def _rte() -> Texts:
    """What is wrong with a file of one task stands for all."""
    row = valid_row(TASKS["rte"])
    return {
        "a column twice": (
            "dev.tsv",
            table("0\ta\tb\tc\tentailment", header="index\tsentence1\tsentence2\tsentence2\tlabel"),
            "the column sentence2 twice",
        ),
        "a NUL": ("dev.tsv", as_table({**row, "sentence1": "a\0b"}), "dev.tsv:2: a NUL byte"),
        "a label that is a fraction": (
            "dev.parquet",
            parquet(sentence1=["a"], sentence2=["b"], label=[0.5], idx=[0]),
            "row 1: 0.5 is no label",
        ),
        "an index of 5,000 digits": (
            "test.tsv",
            table(f"{'9' * 5000}\ta\tb", header="index\tsentence1\tsentence2"),
            "no index",
        ),
        "a label of 5,000 digits": ("dev.tsv", as_table({**row, "label": "9" * 5000}), "no label"),
        "a label that is true": (
            "dev.jsonl",
            as_jsonl({"sentence1": "a", "sentence2": "b", "label": True}),
            "True is no label",
        ),
        "a label twice": (
            "dev.jsonl",
            b'{"sentence1": "a", "sentence2": "b", "label": 0, "label": 1}\n',
            'the key "label" twice',
        ),
        "half a surrogate pair": (
            "dev.jsonl",
            as_jsonl({"sentence1": "\udc00", "sentence2": "b", "label": 0}),
            "half a surrogate pair",
        ),
        "text that is no UTF-8 in Parquet": (
            "dev.parquet",
            parquet(sentence1=["caf\xe9"], sentence2=["b"], label=[0]).replace(b"\xc3\xa9", b"\xe9\xe9"),
            "dev.parquet",
        ),
        **{what: (file, data, says) for what, file, data, says in damaged_text("dev.tsv", as_table(row))},
    }


#: QQP's files hold broken lines, but few.
BROKEN_QUESTIONS: Texts = {
    "every second line is broken": (
        "dev.tsv",
        table(*["0\tq1\tq2\t1", "0\tq1"] * 3, header="id\tquestion1\tquestion2\tis_duplicate"),
        "3 of 6 lines are broken",
    ),
}

NLI_SETS: Texts = {
    "empty": ("dev.txt", b"", "dev.txt: is empty"),
    "a header alone": (
        "dev.txt",
        table(header="gold_label\tsentence1\tsentence2\tpairID"),
        "holds no pair with a label",
    ),
    "no labels": ("dev.jsonl", as_jsonl({**NLI, "gold_label": "-"}), "holds no pair with a label"),
    "other columns": ("dev.jsonl", as_jsonl({"a": 1}), "no columns"),
    "no hypothesis": (
        "dev.jsonl",
        as_jsonl(NLI, without(NLI, "sentence2")),
        "dev.jsonl:2: no column sentence2",
    ),
    "an unknown label": ("dev.jsonl", as_jsonl({**NLI, "gold_label": "maybe"}), "'maybe' is no label"),
    "a label that is null": ("dev.jsonl", as_jsonl({**NLI, "gold_label": None}), "None is no label"),
    "a label that is a list": ("dev.jsonl", as_jsonl({**NLI, "gold_label": ["neutral"]}), "is no label"),
    "a premise that is a list": ("dev.jsonl", as_jsonl({**NLI, "sentence1": ["a"]}), "sentence1 is list"),
    "an empty premise": ("dev.jsonl", as_jsonl({**NLI, "sentence1": ""}), "sentence1 is empty"),
    "two columns": ("dev.tsv", table("a\tb"), "no columns"),
    "a cell too many": (
        "dev.tsv",
        table("neutral\ta\tb\tc", header="gold_label\tsentence1\tsentence2"),
        "4 columns, the first line has 3",
    ),
    "a NUL": (
        "dev.tsv",
        table("neutral\ta\0\tb", header="gold_label\tsentence1\tsentence2"),
        "dev.tsv:2: a NUL byte",
    ),
}
