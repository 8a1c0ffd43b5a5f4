"""The tables and sentences of committed reports that README.md, docs/ and weights/README.md quote."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from pipeline.layout import Layout
from quartet.errors import InputError
from quartet.report.cells import Cell, Cells, FigureKey
from quartet.report.facts import RunFacts
from quartet.report.headline import headline
from quartet.report.numbers import NONE
from quartet.report.published import published_figures
from quartet.report.run_report import Report, code, grid
from quartet.report.scale import trainings
from quartet.results import ONE_BY_ONE, Result, read_results, system_name


def find(cells: Cells, table: str, dataset: str, split: str, system: str, metric: str) -> Cell | None:
    """The cell of a place; of the first data set that has one, where none is named."""
    if dataset:
        return cells.find(FigureKey(table, dataset, split, system, metric))
    wanted = (split, system, metric)
    places = (one for one in cells.places(table) if (one.split, one.system, one.metric) == wanted)
    return next((cells.find(one) for one in places), None)


@dataclass(frozen=True)
class StudyTableRow:
    """A row of a table: what is measured, and how it is written.

    Attributes:
        label: the row's name.
        place: table, data set (empty: the only one), split and metric.
        reading: what follows a model's name in the system ("context"); a baseline stands without it.
        digits, scale: the decimals of `scale` times the value.
        bounds: whether an interval follows.
    """

    label: str
    place: tuple[str, str, str, str]
    reading: str = ""
    digits: int = 2
    scale: float = 1.0
    bounds: bool = False

    def text(self, cells: Cells, system: str) -> str:
        """The figure of a system: the mean ± its spread over seeds, or the value; a dash where there is none."""
        table, dataset, split, metric = self.place
        names = (system_name(system, self.reading), system)
        found = (find(cells, table, dataset, split, name, metric) for name in names)
        cell = next((one for one in found if one is not None), None)
        if cell is None:
            return NONE
        return cell.text(lambda value: f"{self.scale * value:.{self.digits}f}", self.bounds)


def wer(kind: str) -> StudyTableRow:
    """WER on a test set of LibriSpeech."""
    return StudyTableRow(f"WER, LibriSpeech test-{kind}, %", ("rerank", f"librispeech-{kind}", "test", "wer"))


SPEECH = (wer("clean"), wer("other"))
NOISY = tuple(
    StudyTableRow(
        f"WER, synthetic speech{words}, Whisper's lists, %", ("rerank", f"speech-{kind}", "test", "wer")
    )
    for kind, words in (("clean", ""), ("other", " in noise"))
)


def similarity(name: str, dataset: str) -> tuple[StudyTableRow, ...]:
    """Pearson × 100 on a set, by each reading of the models."""
    readings = {"context": "final layer", "embed": "embedding layer", "table": "token table"}
    return tuple(
        StudyTableRow(f"{name}, Pearson × 100, {words}", ("sts", dataset, "test", "pearson"), reading, 1, 100)
        for reading, words in readings.items()
    )


STS = (*similarity("STS-B", "stsb"), *similarity("SICK", "sick"))
LOSS = StudyTableRow("validation loss, nats", ("training", "books", "valid", "loss"))
PPPL = StudyTableRow("pseudo-perplexity, test books", ("perplexity", "books", "test", "pppl"), digits=1)
MNLI = StudyTableRow(
    "MNLI, accuracy, %", ("glue", "mnli-part", "dev_matched", "accuracy"), digits=1, scale=100
)
TUNED = StudyTableRow(
    "STS, tuned on entailment, Spearman × 100",
    ("sts", "sts-average", "test", "spearman-mean"),
    "nli",
    1,
    100,
)
BLEU = tuple(
    StudyTableRow(f"BLEU, Multi30k {name}", ("rerank", f"multi30k-{pair}", "test", "bleu"), digits=1)
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
    figures: tuple[StudyTableRow, ...]
    seed: int | None = None


#: The models of sentences; `-intact` is the masked one on text without masks.
SENTENCES = ("unilm", "bilm", "bilm-intact", "tta")
#: By the name of a block.
TABLES: dict[str, StudyTable] = {
    "results": StudyTable(
        "small-gpu",
        ("first-pass", "ngram-5", *SENTENCES, "ngram-5-and-tta", "word2vec"),
        (*SPEECH, *NOISY, *STS),
    ),
    "small": StudyTable(
        "small",
        ("first-pass", "ngram-5", *SENTENCES, "word2vec/books-wordpiece-8k"),
        (*SPEECH, *NOISY, *BLEU, *STS),
    ),
    "small-bert": StudyTable("small-bert", ("bert-", "segabert"), (LOSS, PPPL, MNLI, TUNED)),
    "small-positions": StudyTable(
        "small-positions", ("bert-", "segabert-restart", "segabert-restart-split"), (LOSS, PPPL, MNLI)
    ),
    "small-tta-segments": StudyTable(
        "small-tta-segments",
        ("first-pass", "tta-spans", "tta-segments", "tta-segments-split", "tta-segments-restart-split"),
        (
            LOSS,
            PPPL,
            StudyTableRow(
                "median pseudo-perplexity, references of test-clean",
                ("reference-perplexity", "librispeech-clean", "test", "pppl-median"),
                digits=1,
            ),
            *SPEECH,
        ),
    ),
    "tta-books": StudyTable(
        "small-gpu",
        ("first-pass", "tta"),
        tuple(
            StudyTableRow(f"WER, {words}, %", ("rerank", name, "test", "wer"), bounds=True)
            for name, words in (
                ("librispeech-clean", "LibriSpeech test-clean, ESPnet2's 10-best lists"),
                ("librispeech-other", "LibriSpeech test-other, ESPnet2's 10-best lists"),
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
        ),
    ),
    "small-seeds-pairs": (
        "small-seeds",
        (
            ("wikitext-2", "transformer-xl", "segatron-xl"),
            ("wikitext-2", "transformer-xl", "segatron-xl-reset"),
        ),
    ),
}


def study(name: str, reports: Path) -> list[str]:
    """A table of `TABLES`: one row per figure, one column per system."""
    table = TABLES[name]
    rows = read_results(reports / table.report / "results.jsonl")
    cells = Cells(row for row in rows if table.seed is None or row.seed in (None, table.seed))
    body = [[one.label, *(one.text(cells, system) for system in table.systems)] for one in table.figures]
    return grid(["", *map(code, table.systems)], body)


def pairs(name: str, reports: Path) -> list[str]:
    """A table of `PAIRS`: by how much the second model's perplexity is above the first's, one column per seed."""
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
        FigureKey("perplexity-pairs", corpus, "test", system_name(first, versus=second), "loss-difference")
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
    ends = (difference.value, difference.ci_high, difference.ci_low)
    middle, *bounds = (100 * math.expm1(-nats) for nats in ends if nats is not None)
    return f"{middle:+.1f} %" + (f" [{bounds[0]:+.1f}, {bounds[1]:+.1f}]" if bounds else "")


# ---------------------------------------------------------------------- the sample

EXPERIMENT = "sample"
#: The length at which the T-TA paper states its ratios.
WORDS = "20-words"
#: T-TA's comparison, single sentences.
FAMILY = (
    StudyTableRow("test loss", ("perplexity", "", "test", "loss"), bounds=True),
    StudyTableRow("test WER, %", ("rerank", "", "test", "wer"), bounds=True),
    StudyTableRow("Pearson × 100, context", ("sts", "", "test", "pearson"), "context", 1, 100, bounds=True),
)
UNIGRAM = StudyTableRow("entropy", ("perplexity", "", "test", "entropy"), bounds=True)
CHANGE = StudyTableRow("change of the WER", ("rerank", "", "test", "wer-difference"), bounds=True)
#: Segatron's comparison, running text: the metric of each system.
SEGMENTS = {
    "transformer-xl": "ppl",
    "segatron-xl": "ppl",
    "bert-": "pppl",
    "segabert": "pppl",
}


def sample(results: list[Result], timings: list[Result], facts: RunFacts) -> list[str]:
    """The lines between the two marks of docs/results.md."""
    cells = Cells(results)
    scales = trainings(Report(results, facts), [model.name for model in facts.models])
    return [
        f"One run of `params.yaml` as it is ([the whole report](../{Layout(EXPERIMENT).report}/README.md)):",
        "",
        *(f"* {sentence}" for sentence in headline(results, facts)),
        "",
        *(f"* {scale}." for scale in scales),
        "",
        "T-TA's comparison, on single sentences. Loss is in nats per token on the test articles. For `bilm` and `tta`",
        "it comes from pseudo-log-likelihoods and is not comparable with `unilm`'s. WER is measured on the sample's",
        f"{items(cells, 'rerank', 'wer')} test lists, Pearson's r on Lee's {items(cells, 'sts', 'pearson')} pairs.",
        "Brackets hold 95 % intervals.",
        "",
        *family(cells, results),
        *unused(results),
        "",
        "Segatron's comparison, on running text:",
        "",
        *segments(cells),
        "",
        *runtime(Cells(timings)),
    ]


def items(cells: Cells, table: str, metric: str) -> str:
    """The number of test items of a table."""
    places = (one for one in cells.places(table) if (one.split, one.metric) == ("test", metric))
    found = (cells.find(one) for one in places)
    return next((f"{cell.rows[0].n:,}" for cell in found if cell is not None), "0")


def family(cells: Cells, results: list[Result]) -> list[str]:
    """The T-TA table, with a sentence on the systems that came trained: at what scale, and what they change."""
    trained = {row.model for row in results if row.table == "training"}
    reranked = {row.model for row in results if row.table == "rerank"}
    elsewhere = [
        one
        for one in sorted(reranked - trained)
        if find(cells, "sts", "", "test", system_name(one, "context"), "pearson") is not None
    ]
    rows = []
    for system in ("first-pass", "unilm", "bilm", "tta", *elsewhere, "oracle"):
        rows.append([code(system), *(one.text(cells, system) for one in FAMILY)])
    rows.append(["unigram entropy of the same tokens", UNIGRAM.text(cells, "unigram"), NONE, NONE])
    heads = ["system", *(one.label for one in FAMILY)]
    lines = []
    for system in elsewhere:
        cell = find(cells, "rerank", "", "test", system, "wer")
        assert cell is not None
        lines.append(
            f"`{system}` comes with the project. It was trained on other text and at another size "
            f"({cell.rows[0].scale}). It changes the first pass's WER by {CHANGE.text(cells, system)}."
        )
    return [*grid(heads, rows), *([*lines, ""] if lines else [])]


def unused(results: list[Result]) -> list[str]:
    """A sentence on the systems to which dev gave no weight, if there are any."""
    weights = {row.system: row.value for row in results if (row.table, row.metric) == ("rerank", "weight")}
    names = [f"`{system}`" for system, weight in sorted(weights.items()) if weight == 0]
    if not names:
        return []
    return [
        f"On the dev lists weight 0 was best for {', '.join(names)}, which keep the recogniser's own ranking.",
        "",
    ]


def segments(cells: Cells) -> list[str]:
    """The Segatron table."""
    rows = []
    for system, metric in SEGMENTS.items():
        ours = StudyTableRow(metric, ("perplexity", "", "test", metric), digits=1, bounds=True)
        measure = "perplexity" if metric == "ppl" else "pseudo-perplexity"
        rows.append([code(system), measure, ours.text(cells, system)])
    return grid(["system", "measure", "per token"], rows)


def runtime(timed: Cells) -> list[str]:
    """How many times as long as T-TA the masked model takes on a sentence of 20 words."""
    table = published_figures().tables["tta-runtime-cpu"]
    found, device = [], ""
    for use, label in (("sts", "sentence vectors"), ("rerank", "likelihoods")):
        tta, batched, single = (
            find(timed, "runtime", WORDS, "test", system_name(*system), "ms")
            for system in (("tta", use), ("bilm", use), ("bilm", f"{ONE_BY_ONE}/{use}"))
        )
        if tta is None or batched is None or single is None:
            return []
        found.append(
            f"For {label} it takes {single.value / tta.value:.1f} times as long with masked copies one by one and "
            f"{batched.value / tta.value:.1f} times as long in one optimised batch (paper: {table.get(use, 'ratio')})."
        )
        device = tta.rows[0].device
    return [f"`bilm` takes longer than `tta` on a sentence of 20 words, on {device}. {' '.join(found)}"]
