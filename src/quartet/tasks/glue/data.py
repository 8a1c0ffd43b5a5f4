"""The nine tasks of GLUE (Wang et al. 2019), whose fine-tuned figures are the Segatron paper's Tables 3 and 4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from quartet.errors import InputError
from quartet.tasks.judged_texts import (
    FIRST,
    GOLD,
    SECOND,
    ColumnMap,
    Columns,
    judged_texts,
    passed_over,
)
from quartet.tasks.set_files import DIGITS, SetFormat, SetKind

#: Likeness in STS-B.
LOWEST, HIGHEST = 0.0, 5.0
#: How files of JSON lines may call the two texts.
TEXTS = ("text_a", "text_b")

SPLITS = ("train", "dev", "test")
BINARY = ("0", "1")
#: What several tasks call their texts.
ONE, TWO, QUESTIONS = ("sentence",), ("sentence1", "sentence2"), ("question1", "question2")
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
        bare: columns of tables without a line of names.
        broken: lines with another number of columns are passed over, if there are few, and texts may be empty.
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

    @property
    def files(self) -> ColumnMap:
        """How its files are written: in those without labels GLUE's own tables lack the column, the hub has -1."""

        def columns(texts: tuple[str, ...], gold: str, number: str) -> Columns:
            label, score = ("", gold) if self.regression else (gold, "")
            return Columns(texts, label, score, number=number)

        return ColumnMap(
            hub=tuple(columns(texts, "label", "idx") for texts in (self.hub, TEXTS[: len(self.hub)])),
            table=tuple(columns(self.tsv, gold, self.index) for gold in (self.gold, "")),
            bare=(self.bare,) if self.bare else (),
            csv=((FIRST, SECOND, GOLD),) if self.regression else (),
            labels=self.labels,
            scores=(LOWEST, HIGHEST),
            hidden=(-1, "-1"),
            loose=self.broken,
        )


#: By format. MRPC's and QQP's label 1 is what F1 counts: the two texts say the same.
TASKS: dict[str, GlueTask] = {
    "cola": GlueTask("CoLA", BINARY, ONE, ONE, "label", ("matthews",), bare=("", GOLD, "", FIRST)),
    "sst2": GlueTask("SST-2", BINARY, ONE, ONE, "label", ("accuracy",)),
    "mrpc": GlueTask("MRPC", BINARY, TWO, ("#1 String", "#2 String"), "Quality", ("accuracy", "f1")),
    "stsb": GlueTask("STS-B", (), TWO, TWO, "score", ("pearson", "spearman")),
    "qqp": GlueTask(
        "QQP",
        BINARY,
        QUESTIONS,
        QUESTIONS,
        "is_duplicate",
        ("accuracy", "f1"),
        "id",
        (FIRST, SECOND, GOLD),
        True,
    ),
    "mnli": GlueTask(
        "MNLI",
        ("entailment", "neutral", "contradiction"),
        ("premise", "hypothesis"),
        TWO,
        "gold_label",
        ("accuracy",),
        bare=(GOLD, FIRST, SECOND),
    ),
    "qnli": GlueTask(
        "QNLI", ENTAILED, ("question", "sentence"), ("question", "sentence"), "label", ("accuracy",)
    ),
    "rte": GlueTask("RTE", ENTAILED, TWO, TWO, "label", ("accuracy",)),
    "wnli": GlueTask("WNLI", BINARY, TWO, TWO, "label", ("accuracy",)),
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


def read_glue(path: Path, format: str) -> Iterator[GlueExample]:
    """Yield the examples of a split, all with labels or all without.

    Args:
        format: a name in `TASKS`.

    Raises:
        InputError: the file is malformed, empty, or labelled in part; or a number occurs again where it matters.
    """
    task = TASKS[format]
    labelled: bool | None = None
    seen: set[int] = set()
    for number, one in enumerate(one for one in judged_texts(path, task.files) if one is not None):
        known = one.label is not None or one.score is not None
        labelled = known if labelled is None else labelled
        if labelled != known:
            raise InputError(one.place, f"has {'a' if known else 'no'} label, unlike the rows before it")
        if not labelled:
            number = _number(one.number, one.place)
            if number in seen:
                raise InputError(one.place, f"the index {number} is there already")
            seen.add(number)
        second = one.texts[1] if one.texts[1:] else None
        yield GlueExample(number, one.texts[0], second, one.label, one.score)
    if labelled is None:
        raise InputError(path, "holds no examples")


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
        passed_over(TASKS[name].files),
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

    @property
    def training(self) -> str:
        """How many examples are trained on, in words: ``2,490 examples``, ``500 of 2,490 examples``."""
        limited = f" of {self.available:,}" if len(self.train) < self.available else ""
        return f"{len(self.train):,}{limited} examples"

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


KIND = SetKind("glue", FORMATS)
