"""The nine tasks of GLUE (Wang et al. 2019), whose fine-tuned figures are the Segatron paper's Tables 3 and 4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from quartet.errors import InputError
from quartet.tasks.set_files import (
    DIGITS,
    FileRow,
    SetFormat,
    cells,
    check_once,
    csv_cells,
    json_rows,
    label_of,
    parquet_rows,
    score_of,
    text_of,
)

#: Likeness in STS-B.
LOWEST, HIGHEST = 0.0, 5.0
#: What the hub writes where GLUE keeps the labels to itself.
HIDDEN = -1
#: QQP's files hold some broken lines, which everybody passes over: at most one in so many.
BROKEN = 1000
#: How files of JSON lines may call the two texts.
TEXTS = ("text_a", "text_b")

SPLITS = ("train", "dev", "test")
BINARY = ("0", "1")
ENTAILED = ("entailment", "not_entailment")


@dataclass(frozen=True)
class GlueTask:
    """A task and how its files are written.

    Attributes:
        name: the leaderboard's.
        labels: as GLUE's files and the leaderboard write them, in the order of the hub's numbers; () where a score is
            to be predicted.
        hub, tsv: the columns of the text or of the two texts, on the hub and in GLUE's own files.
        gold, index: GLUE's columns of the label (or score) and, in files without labels, of the example's number.
        bare: columns of files without a line of names: first, second, gold, and "" for what is not read.
        broken: lines with another number of columns are passed over, if there are few.
        metrics: what it is judged by, in GLUE's order.
    """

    name: str
    labels: tuple[str, ...]
    hub: tuple[str, ...]
    tsv: tuple[str, ...]
    gold: str
    metrics: tuple[str, ...]
    index: str = "index"
    bare: tuple[str, ...] = ()
    broken: bool = False

    @property
    def regression(self) -> bool:
        return not self.labels


#: By format. MRPC's and QQP's label 1 is what F1 counts: the two texts say the same.
TASKS: dict[str, GlueTask] = {
    "cola": GlueTask(
        "CoLA",
        BINARY,
        ("sentence",),
        ("sentence",),
        "label",
        ("matthews",),
        bare=("", "gold", "", "first"),
    ),
    "sst2": GlueTask("SST-2", BINARY, ("sentence",), ("sentence",), "label", ("accuracy",)),
    "mrpc": GlueTask(
        "MRPC",
        BINARY,
        ("sentence1", "sentence2"),
        ("#1 String", "#2 String"),
        "Quality",
        ("accuracy", "f1"),
    ),
    "stsb": GlueTask(
        "STS-B",
        (),
        ("sentence1", "sentence2"),
        ("sentence1", "sentence2"),
        "score",
        ("pearson", "spearman"),
    ),
    "qqp": GlueTask(
        "QQP",
        BINARY,
        ("question1", "question2"),
        ("question1", "question2"),
        "is_duplicate",
        ("accuracy", "f1"),
        index="id",
        bare=("first", "second", "gold"),
        broken=True,
    ),
    "mnli": GlueTask(
        "MNLI",
        ("entailment", "neutral", "contradiction"),
        ("premise", "hypothesis"),
        ("sentence1", "sentence2"),
        "gold_label",
        ("accuracy",),
        bare=("gold", "first", "second"),
    ),
    "qnli": GlueTask(
        "QNLI", ENTAILED, ("question", "sentence"), ("question", "sentence"), "label", ("accuracy",)
    ),
    "rte": GlueTask(
        "RTE", ENTAILED, ("sentence1", "sentence2"), ("sentence1", "sentence2"), "label", ("accuracy",)
    ),
    "wnli": GlueTask(
        "WNLI", BINARY, ("sentence1", "sentence2"), ("sentence1", "sentence2"), "label", ("accuracy",)
    ),
}


@dataclass(frozen=True)
class GlueExample:
    """A text, or two, with what people said of it.

    Attributes:
        index: the file's own number in files without labels (predictions are handed in by it), else counted from 0.
        second: None where the task is about single sentences.
        label: one of the task's labels; None where it is hidden, and in STS-B.
        score: STS-B's, 0 to 5; None where it is hidden, and in all other tasks.
    """

    index: int
    first: str
    second: str | None
    label: str | None
    score: float | None = None

    @property
    def labelled(self) -> bool:
        return self.label is not None or self.score is not None


@dataclass(frozen=True)
class _RawExample:
    """An example as its file has it: the cells of its texts, of its label and of its number."""

    place: str
    texts: dict[str, Any]
    gold: object
    index: object


def read_glue(path: Path, format: str) -> Iterator[GlueExample]:
    """Yield the examples of a split.

    The forms: GLUE's own tables (``.tsv``, and MRPC's original ``msr_paraphrase_*.txt``), without quoting; tables of a
    label and two texts without a line of names (MNLI), or of two questions and a label (QQP); ``.jsonl`` with the
    columns of the hub or with text_a and text_b; STS-B's ``.csv``; and ``.parquet`` as nyu-mll/glue has it. All of a
    file has labels, or nothing of it has. Only QQP has questions without a word.

    Args:
        format: a name in `TASKS`.

    Raises:
        InputError: the file is malformed, empty, or labelled in part; or a number occurs again where it matters.
    """
    task = TASKS[format]
    hidden: bool | None = None
    seen: set[int] = set()
    for number, raw in enumerate(raw for raw in _rows(path, task) if raw is not None):
        unlabelled = raw.gold is None
        if hidden is None:
            hidden = unlabelled
        elif hidden != unlabelled:
            raise InputError(raw.place, f"has {'no' if unlabelled else 'a'} label, unlike the rows before it")
        if unlabelled:
            number = _number(raw.index, raw.place)
            if number in seen:
                raise InputError(raw.place, f"the index {number} is there already")
            seen.add(number)
        texts = [_text(raw, column, task.broken) for column in raw.texts]
        label = None if unlabelled or task.regression else label_of(raw.gold, task.labels, raw.place)
        score = score_of(raw.gold, LOWEST, HIGHEST, raw.place) if task.regression and not unlabelled else None
        yield GlueExample(number, texts[0], texts[1] if len(texts) > 1 else None, label, score)
    if hidden is None:
        raise InputError(path, "holds no examples")


def passed_over(path: Path, format: str) -> int:
    """The broken lines of a file, which :func:`read_glue` leaves out as everybody does (QQP has some)."""
    return sum(raw is None for raw in _rows(path, TASKS[format]))


def _rows(path: Path, task: GlueTask) -> Iterator[_RawExample | None]:
    """The examples as they stand in the file, None for a broken line."""
    if path.suffix == ".parquet":
        yield from _hub_rows(parquet_rows(path, ("label",)), task)
    elif ".jsonl" in path.suffixes or ".json" in path.suffixes:
        yield from _hub_rows(json_rows(path, ("label",)), task)
    elif ".csv" in path.suffixes and task.regression:
        for place, (first, second, score) in csv_cells(path, 3):
            yield _RawExample(place, {"first": first, "second": second}, score, None)
    else:
        yield from _table_rows(path, task)


def _hub_rows(rows: Iterator[tuple[str, FileRow]], task: GlueTask) -> Iterator[_RawExample]:
    for place, row in rows:
        columns = task.hub if task.hub[0] in row else TEXTS[: len(task.hub)]
        missing = [column for column in columns if column not in row]
        if missing:
            there = ", ".join(row) or "none"
            raise InputError(place, f"no columns {', '.join(task.hub)}; there are {there:.200}")
        gold = row["label"]
        yield _RawExample(
            place,
            {column: row[column] for column in columns},
            None if gold in (HIDDEN, str(HIDDEN)) else "" if gold is None else gold,
            row.get("idx"),
        )


def _table_rows(path: Path, task: GlueTask) -> Iterator[_RawExample | None]:
    header: list[str] = []
    total = broken = 0
    for place, row in cells(path):
        if not header:
            header, is_example = _header(row, task, place)
            if not is_example:
                continue
        total += 1
        if len(row) == len(header):
            named = dict(zip(header, row, strict=True))
            columns = task.tsv if task.tsv[0] in named else ("first", "second")[: len(task.tsv)]
            gold = named.get(task.gold, named.get("gold"))
            yield _RawExample(
                place, {column: named[column] for column in columns}, gold, named.get(task.index)
            )
        elif task.broken:
            broken += 1
            yield None
        else:
            raise InputError(place, f"{len(row)} columns, the first line has {len(header)}")
    if broken * BROKEN > total:
        raise InputError(path, f"{broken} of {total} lines are broken (they have another number of columns)")


def _header(first: list[str], task: GlueTask, place: str) -> tuple[list[str], bool]:
    """The columns of a table by its first line, and whether that line is an example already."""
    header = [name.strip() for name in first]
    missing = [column for column in task.tsv if column not in header]
    if not missing:
        check_once(header, (*task.tsv, task.gold, task.index), place)
        return header, False
    gold = task.bare.index("gold") if task.bare else 0
    if len(first) == len(task.bare) and first[gold].strip() in task.labels:
        return list(task.bare), True
    raise InputError(place, f"no column {', '.join(missing)}; there are {', '.join(header):.200}")


def _text(raw: _RawExample, column: str, empty: bool) -> str:
    value = raw.texts[column]
    if empty and isinstance(value, str) and not value.strip():
        return ""
    return text_of(raw.texts, column, raw.place)


def _number(value: object, place: str) -> int:
    if (
        isinstance(value, str)
        and value.strip().isascii()
        and value.strip().isdigit()
        and len(value) <= DIGITS
    ):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise InputError(place, f"{value!r:.80} is no index", "what has no labels needs a column of its numbers")


def _format(name: str, splits: tuple[str, ...] = SPLITS, more: str = "") -> SetFormat[GlueExample]:
    return SetFormat(
        partial(read_glue, format=name),
        splits,
        f"nyu-mll/glue ({name}) on the Hugging Face hub, or gluebenchmark.com/tasks ({TASKS[name].name}){more}",
    )


FORMATS: dict[str, SetFormat[GlueExample]] = {
    **{name: _format(name) for name in TASKS if name != "mnli"},
    "mnli": _format(
        "mnli",
        ("train", "dev_matched", "dev_mismatched", "test_matched", "test_mismatched", "diagnostic"),
        "; diagnostic is the set AX",
    ),
}


#: Splits on which choices are made, in the order in which one is taken.
DEV = ("dev", "dev_matched")


@dataclass(frozen=True)
class GlueSet:
    """A task's examples.

    Attributes:
        format: a name in :data:`quartet.tasks.glue.data.TASKS`.
        train: what is trained on.
        others: what is predicted, by split; a split of `DEV` with labels is among them.
        available: how many training examples there were before `limit`.
    """

    format: str
    train: list[GlueExample]
    others: dict[str, list[GlueExample]]
    available: int

    @property
    def dev(self) -> str:
        """The split on which choices are made."""
        return next(split for split in DEV if split in self.others)

    def repeated(self, split: str) -> int:
        """How many examples of a split have the very texts of a training example."""
        known = {(example.first, example.second) for example in self.train}
        return sum((example.first, example.second) in known for example in self.others[split])


def glue_set(
    format: str, splits: Mapping[str, Sequence[GlueExample]], limit: int, place: str = "glue"
) -> GlueSet:
    """Check the splits of a task, and draw `limit` training examples (0: all; always the same ones, in their order).

    Raises:
        InputError: there is no split train or dev with labels; it names `place`.
    """
    for wanted in (("train",), DEV):
        if not any(split in splits and splits[split][0].labelled for split in wanted):
            raise InputError(place, f"no labelled split {' or '.join(wanted)}, which fine-tuning needs")
    train = list(splits["train"])
    available = len(train)
    if 0 < limit < available:
        drawn = np.sort(np.random.default_rng(0).permutation(available)[:limit])
        train = [train[index] for index in drawn]
    others = {split: list(examples) for split, examples in splits.items() if split != "train"}
    for split in DEV:
        if split in others and not others[split][0].labelled:
            raise InputError(place, f"the split {split} has no labels")
    return GlueSet(format, train, others, available)
