"""Pairs of sentences judged for entailment: SNLI, MultiNLI, ANLI and HANS.

The Segatron paper's Table 5 is measured with encoders that were tuned on the first two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from quartet.errors import InputError
from quartet.tasks.set_files import (
    FileRow,
    SetFormat,
    cells,
    check_once,
    json_rows,
    label_of,
    parquet_rows,
    text_of,
)

#: The three judgements, in the order of their numbers on the hub.
LABELS = ("entailment", "neutral", "contradiction")
#: HANS tells only whether the hypothesis follows.
TWO_LABELS = ("entailment", "non-entailment")

#: What SNLI and MultiNLI write, as text and on the hub, where the judges found no majority.
UNDECIDED = ("-", "-1", -1)

#: Names of the columns of premise, hypothesis and label: the official files', the hub's, those of ANLI's own files, and
#: those of samples made for text classifiers.
COLUMNS = (
    ("sentence1", "sentence2", "gold_label"),
    ("premise", "hypothesis", "label"),
    ("context", "hypothesis", "label"),
    ("text_a", "text_b", "label"),
)

#: The official tables' last columns, what each judge said: a line may end before them.
JUDGE = re.compile(r"label\d")


@dataclass(frozen=True)
class NliPair:
    """A premise, a hypothesis, and what the judges said of the two.

    Attributes:
        label: one of `LABELS`, or of `TWO_LABELS` in HANS.
    """

    premise: str
    hypothesis: str
    label: str


def read_nli(path: Path, labels: Sequence[str] = LABELS) -> Iterator[NliPair]:
    """Yield the pairs of a file that have a label; :func:`count_undecided` counts those passed over.

    Four forms: JSON lines or ``.parquet`` with one of the rows of names in `COLUMNS`; a table (``.tsv``, ``.txt``)
    whose first line names sentence1, sentence2 and gold_label; and a table of three columns without names, the label
    first (by its name) or last (by name or number).

    Args:
        labels: their names, in the order of their numbers; a name may be shortened to its first letter (ANLI).

    Raises:
        InputError: the file is malformed, or no pair of it has a label.
    """
    found = False
    for pair in _pairs(path, labels):
        if pair is not None:
            found = True
            yield pair
    if not found:
        raise InputError(path, "holds no pair with a label")


def count_undecided(path: Path, labels: Sequence[str] = LABELS) -> int:
    """The pairs of a file that :func:`read_nli` passes over, because the judges did not agree."""
    return sum(pair is None for pair in _pairs(path, labels))


def _pairs(path: Path, labels: Sequence[str]) -> Iterator[NliPair | None]:
    """The pairs, None for each that is undecided."""
    hub = path.suffix == ".parquet"
    if hub or ".jsonl" in path.suffixes or ".json" in path.suffixes:
        names: tuple[str, str, str] | None = None
        for place, row in parquet_rows(path, ()) if hub else json_rows(path, ()):
            names = names or _names(list(row), place)
            yield _pair(row, names, labels, place)
    else:
        yield from _from_table(path, labels)


def _names(columns: Sequence[str], place: str) -> tuple[str, str, str]:
    """What the premise, the hypothesis and the label are called here."""
    for names in COLUMNS:
        if set(names) <= set(columns):
            return names
    wanted = " or ".join(", ".join(names) for names in COLUMNS[:2])
    raise InputError(place, f"no columns {wanted}; there are {', '.join(columns) or 'none':.200}")


def _pair(row: FileRow, names: tuple[str, str, str], labels: Sequence[str], place: str) -> NliPair | None:
    premise, hypothesis, label = names
    missing = [name for name in names if name not in row]
    if missing:
        raise InputError(place, f"no column {', '.join(missing)}")
    value = row[label]
    if value in UNDECIDED:
        return None
    if isinstance(value, str):
        value = {name[0]: name for name in labels}.get(value, value)
    return NliPair(
        text_of(row, premise, place), text_of(row, hypothesis, place), label_of(value, labels, place)
    )


def _from_table(path: Path, labels: Sequence[str]) -> Iterator[NliPair | None]:
    header: list[str] | None = None
    names = COLUMNS[1]
    for place, row in cells(path):
        if header is None:
            header, names, is_data = _header(row, labels, place)
            if not is_data:
                continue
        if len(row) < len(header) and all(map(JUDGE.fullmatch, header[len(row) :])):
            row = [*row, *[""] * (len(header) - len(row))]  # fewer judges than columns for their labels
        if len(row) != len(header):
            raise InputError(place, f"{len(row)} columns, the first line has {len(header)}")
        yield _pair(dict(zip(header, row, strict=True)), names, labels, place)
    if header is None:
        raise InputError(path, "is empty")


def _header(
    first: Sequence[str], labels: Sequence[str], place: str
) -> tuple[list[str], tuple[str, str, str], bool]:
    """The columns of a table by its first line, the names that matter, and whether that line is a pair already."""
    if len(first) == 3 and set(first) not in [set(names) for names in COLUMNS]:
        begins, ends = (cell in (*labels, UNDECIDED[0]) for cell in (first[0], first[2]))
        columns = ["label", "premise", "hypothesis"] if begins and not ends else list(COLUMNS[1])
        return columns, COLUMNS[1], True
    header = [name.strip() for name in first]
    names = _names(header, place)
    check_once(header, names, place)
    return header, names, False


FORMATS: dict[str, SetFormat[NliPair]] = {
    "snli": SetFormat(
        read_nli,
        ("train", "dev", "test"),
        "stanfordnlp/snli on the Hugging Face hub (plain_text), or nlp.stanford.edu/projects/snli (snli_1.0.zip)",
        count_undecided,
    ),
    "mnli": SetFormat(
        read_nli,
        ("train", "dev_matched", "dev_mismatched"),
        "nyu-mll/multi_nli on the Hugging Face hub, or cims.nyu.edu/~sbowman/multinli (multinli_1.0.zip)",
        count_undecided,
    ),
    "anli": SetFormat(
        read_nli,
        ("train", "dev", "test"),
        "facebook/anli on the Hugging Face hub (three rounds), or github.com/facebookresearch/anli",
        count_undecided,
    ),
    "hans": SetFormat(
        partial(read_nli, labels=TWO_LABELS),
        ("test",),
        "jhu-cogsci/hans on the Hugging Face hub (validation), or github.com/tommccoy1/hans",
        partial(count_undecided, labels=TWO_LABELS),
    ),
}
