"""The tables of the committed studies in README.md, docs/ and weights/README.md, as data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from quartet.errors import InputError
from quartet.report.cells import Cell, Cells, Place
from quartet.report.numbers import NONE
from quartet.report.page import code, grid
from quartet.results import Result, read_results, system_name


@dataclass(frozen=True)
class Figure:
    """A row of a table: what is measured, and how it is written.

    Attributes:
        label: the row's name.
        place: table, data set, split and metric.
        reading: what follows a model's name in the system ("context"); a baseline stands without it.
        digits, scale: the decimals of `scale` times the value.
        bounds: whether an interval follows.
        without: systems whose figure is no figure of this kind.
    """

    label: str
    place: tuple[str, str, str, str]
    reading: str = ""
    digits: int = 2
    scale: float = 1.0
    bounds: bool = False
    without: tuple[str, ...] = ()

    def text(self, cells: Cells, system: str) -> str:
        """The figure of a system: the mean ± its spread over seeds, or the value; a dash where there is none."""
        table, dataset, split, metric = self.place
        names = (system_name(system, self.reading), system)
        found = (cells.find(Place(table, dataset, split, name, metric)) for name in names)
        cell = next((one for one in found if one is not None), None)
        if cell is None or system in self.without:
            return NONE
        return cell.text(lambda value: f"{self.scale * value:.{self.digits}f}", self.bounds)


def wer(kind: str) -> Figure:
    """WER on a test set of LibriSpeech."""
    return Figure(f"WER, LibriSpeech test-{kind}, %", ("rerank", f"librispeech-{kind}", "test", "wer"))


SPEECH = (wer("clean"), wer("other"))
STSB = Figure("STS-B, Pearson × 100", ("sts", "stsb", "test", "pearson"), "context", 1, 100)
LOSS = Figure("validation loss, nats", ("training", "books", "valid", "loss"))
PPPL = Figure("pseudo-perplexity, test books", ("perplexity", "books", "test", "pppl"), digits=1)
MNLI = Figure("MNLI, accuracy, %", ("glue", "mnli-part", "dev_matched", "accuracy"), digits=1, scale=100)
TUNED = Figure(
    "STS, tuned on entailment, Spearman × 100",
    ("sts", "sts-average", "test", "spearman-mean"),
    "nli",
    1,
    100,
)
BLEU = tuple(
    Figure(f"BLEU, Multi30k {name}", ("rerank", f"multi30k-{pair}", "test", "bleu"), digits=1)
    for name, pair in (("De→En", "de-en"), ("Fr→En", "fr-en"))
)


@dataclass(frozen=True)
class StudyTable:
    """A table of a study.

    Attributes:
        report: the folder in reports/.
        systems: its columns.
        figures: its rows.
        seed: the training whose figures it has; None: all trainings'.
    """

    report: str
    systems: tuple[str, ...]
    figures: tuple[Figure, ...]
    seed: int | None = None


#: By the name of a block.
TABLES: dict[str, StudyTable] = {
    "results": StudyTable(
        "small-gpu", ("first-pass", "ngram-5", "unilm", "bilm", "tta", "ngram-5-and-tta"), (*SPEECH, STSB)
    ),
    "small": StudyTable("small", ("first-pass", "ngram-5", "unilm", "bilm", "tta"), (*SPEECH, *BLEU, STSB)),
    "small-seeds": StudyTable(
        "small-seeds",
        ("first-pass", "unilm", "bilm", "tta"),
        (*SPEECH, STSB, PPPL),
    ),
    "small-gpu": StudyTable(
        "small-gpu",
        ("first-pass", "ngram-5", "unilm", "bilm", "tta", "ngram-5-and-tta", "word2vec"),
        (
            *SPEECH,
            *BLEU,
            STSB,
            Figure("the same, embedding layer", ("sts", "stsb", "test", "pearson"), "embed", 1, 100),
            Figure(
                "perplexity, test books",
                ("perplexity", "books", "test", "ppl"),
                digits=1,
                without=("ngram-5",),
            ),
            PPPL,
        ),
    ),
    "small-bert": StudyTable("small-bert", ("bert-", "segabert"), (LOSS, MNLI, TUNED)),
    "small-positions": StudyTable(
        "small-positions", ("bert-", "segabert-restart", "segabert-restart-split"), (LOSS, PPPL, MNLI)
    ),
    "small-tta-segments": StudyTable(
        "small-tta-segments",
        ("first-pass", "tta-spans", "tta-segments", "tta-segments-split", "tta-segments-restart-split"),
        (
            LOSS,
            PPPL,
            Figure(
                "median pseudo-perplexity, references of test-clean",
                ("reference-perplexity", "librispeech-clean", "test", "pppl-median"),
                digits=1,
            ),
            *SPEECH,
            STSB,
            Figure("BLiMP, %", ("blimp", "blimp", "test", "accuracy"), digits=1, scale=100),
        ),
    ),
    "tta-books": StudyTable(
        "small-gpu",
        ("first-pass", "tta"),
        tuple(
            Figure(f"WER, {words}, %", ("rerank", name, "test", "wer"), bounds=True)
            for name, words in (
                ("librispeech-clean", "LibriSpeech test-clean, ESPnet2's 10-best lists"),
                ("librispeech-other", "LibriSpeech test-other, likewise"),
                ("speech-clean", "sentences of further books by espeak-ng, Whisper's 50-best lists"),
                ("speech-other", "the same in noise"),
            )
        ),
        seed=1,
    ),
}

#: By the name of a block: the report, and of each pair of models the corpus and the two.
PAIRS: dict[str, tuple[str, tuple[tuple[str, str, str], ...]]] = {
    "small-pairs": (
        "small",
        (
            ("wikitext-2", "transformer-xl", "segatron-xl"),
            ("wikitext-2", "transformer-xl", "segatron-xl-reset"),
            ("books", "transformer-xl-books", "segatron-xl-books"),
            ("books", "transformer-xl-books", "segatron-xl-reset-books"),
        ),
    ),
    "small-seeds-pairs": (
        "small-seeds",
        (
            ("wikitext-2", "transformer-xl", "segatron-xl"),
            ("wikitext-2", "transformer-xl", "segatron-xl-reset"),
        ),
    ),
    "small-bert-pairs": ("small-bert", (("books", "bert-", "segabert"),)),
    "small-positions-pairs": (
        "small-positions",
        (
            ("books", "bert-", "segabert-restart"),
            ("books", "bert-", "segabert-restart-split"),
            ("books", "segabert-restart", "segabert-restart-split"),
        ),
    ),
    "small-tta-segments-pairs": (
        "small-tta-segments",
        tuple(("books", "tta-spans", f"tta-segments{ending}") for ending in ("", "-split", "-restart-split")),
    ),
}


def study(name: str, reports: Path) -> list[str]:
    """A table of `TABLES`: a row a figure, a column a system."""
    table = TABLES[name]
    rows = read_results(reports / table.report / "results.jsonl")
    cells = Cells(row for row in rows if table.seed is None or row.seed in (None, table.seed))
    body = [[one.label, *(one.text(cells, system) for system in table.systems)] for one in table.figures]
    return grid(["", *map(code, table.systems)], body)


def pairs(name: str, reports: Path) -> list[str]:
    """A table of `PAIRS`: by how much the second model's perplexity is above the first's, a column a seed."""
    report, compared = PAIRS[name]
    cells = Cells(read_results(reports / report / "results.jsonl"))
    rows, seeds = [], 1
    for corpus, first, second in compared:
        own = _pair(cells, corpus, first, second).rows
        seeds = len(own)
        rows.append([f"{code(second)} over {code(first)}, {corpus}", *map(as_perplexity, own)])
    return grid(
        ["perplexity of", *([f"seed {at + 1}" for at in range(seeds)] if seeds > 1 else ["change"])], rows
    )


def _pair(cells: Cells, corpus: str, first: str, second: str) -> Cell:
    cell = cells.find(
        Place("perplexity-pairs", corpus, "test", system_name(first, versus=second), "loss-difference")
    )
    if cell is None:
        raise InputError(
            system_name(first, versus=second),
            f"is no pair of a report on {corpus}",
            "name one in PAIRS that is",
        )
    return cell


def as_perplexity(difference: Result) -> str:
    """Of the first model's loss minus the second's: by how much the second's perplexity is above the first's."""
    assert difference.ci_low is not None
    assert difference.ci_high is not None
    ends = (difference.value, difference.ci_high, difference.ci_low)
    middle, low, high = (100 * math.expm1(-nats) for nats in ends)
    return f"{middle:+.1f} % [{low:+.1f}, {high:+.1f}]"
