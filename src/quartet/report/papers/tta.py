"""Our figures beside the tables and figures of the T-TA paper (Shin et al. 2020)."""

from __future__ import annotations

import dataclasses

from quartet.nbest.metrics import METRICS
from quartet.report.blocks import runtime
from quartet.report.cells import Cell
from quartet.report.numbers import difference, milliseconds, perplexity, points, signed_points, wer
from quartet.report.papers.series import FigureLevel, Series, present, scaled
from quartet.report.published import PublishedTable, published_figures, published_number
from quartet.report.run_report import Report, code, likes_of_tta
from quartet.results import ONE_BY_ONE, system_name

#: Sets of lists whose utterances are the paper's, by their names in the presets: what its columns call them.
SPEECH = {"librispeech-clean": "clean", "librispeech-other": "other"}
TRANSLATION = {"wmt13-de-en": "de-en", "wmt13-fr-en": "fr-en"}
#: The column that a set of ours stands beside where it is none of the paper's.
OTHER_SPEECH, OTHER_TRANSLATION = "test-clean", "de-en"
RERANK, PAIRS, REFERENCES, SIMILARITY = "rerank", "rerank-pairs", "reference-perplexity", "sts"
FIRST = "first-pass"
#: Our sets of documents, which stand in for STS-B, are none of these.
SENTENCES = ("stsb", "sick", "semeval", "sts12", "sts13", "sts14", "sts15", "sts16")
#: The two measures of a language model.
KINDS = ("ppl", "pppl")


def wers(report: Report) -> list[Series]:
    """Table 1: the test split of each set of lists that is judged by word errors."""
    return _reranked(report, "wer", "tta-wer-own", {name: f"test-{part}" for name, part in SPEECH.items()},
                     OTHER_SPEECH)  # fmt: skip


def bleus(report: Report) -> list[Series]:
    """Table 2: the test split of each set of lists that is judged by BLEU."""
    return _reranked(report, "bleu", "tta-bleu", TRANSLATION, OTHER_TRANSLATION)


def _reranked(report: Report, metric: str, name: str, known: dict[str, str], otherwise: str) -> list[Series]:
    table = published_figures().tables[name]
    found = []
    for dataset in report.datasets(RERANK):
        ours = report.figures(RERANK, dataset, "test", metric)
        if not ours:
            continue
        column = known.get(dataset, otherwise)
        trained = likes_of_tta(report)
        value = table.get("tta", column)
        printed = {} if value is None else {name: value for name in trained if name in ours}

        def paired(first: str, second: str, dataset: str = dataset) -> FigureLevel | None:
            difference = f"{metric}-difference"
            if second == FIRST:
                cell = report.find(RERANK, dataset, "test", first, difference)
                return scaled(cell, 1) if cell else None
            found = report.between(PAIRS, dataset, "test", first, second, difference)
            return scaled(*found) if found else None

        found.append(
            Series(
                ours_on=f"{code(dataset)} test, {METRICS[metric].unit}",
                printed_on=f"{table.title}: {column}",
                ours=_named(report, ours, table, trained),
                printed=table.column(column) | printed,
                number=wer,
                signed=difference,
                same=dataset in known,
                paired=paired,
            )
        )
    return found


def _named(report: Report, cells: dict[str, Cell], table: PublishedTable, more: list[str]) -> dict[str, Cell]:
    """Ours by the published rows: an n-gram model is the row of n-gram models.

    Args:
        more: systems that have a row of their own beside these.
    """
    named = {"ngram" if system in report.facts.ngrams else system: cell for system, cell in cells.items()}
    return {row: named[row] for row in (*table.rows, *more) if row in named}


def stsb(report: Report) -> list[Series]:
    """Table 3: STS-B, or the sets of documents that stand in for it where it was not to be had."""
    own = [_similarity(report, "stsb", split, "tta-stsb", split) for split in ("test", "dev")]
    found = [series for series in own if series]
    if found:
        return found
    others = [
        _similarity(report, dataset, split, "tta-stsb", "test")
        for dataset, split in report.groups(SIMILARITY)
        if dataset not in SENTENCES
    ]
    return [series for series in others if series]


def sick(report: Report) -> list[Series]:
    """Table 4: SICK's test pairs."""
    series = _similarity(report, "sick", "test", "tta-sick", "test")
    return [series] if series else []


def _similarity(report: Report, dataset: str, split: str, name: str, part: str) -> Series | None:
    table = published_figures().tables[name]
    likes = likes_of_tta(report)  # beside the row of the paper's T-TA
    ours, printed = {}, {}
    for system, cell in report.figures(SIMILARITY, dataset, split, "pearson").items():
        model = report.model(system)
        value = published_number(name, part, "tta" if model in likes else model, report.reading(system))
        if value is not None:
            ours[system], printed[system] = cell, value
    if not ours:
        return None
    return Series(
        ours_on=f"{code(dataset)} {split}, Pearson × 100",
        printed_on=f"{table.title} {part}",
        ours=ours,
        printed=printed,
        number=points,
        signed=signed_points,
        factor=100,
        same=name == f"tta-{dataset}",
    )


def perplexities(report: Report) -> list[Series]:
    """Table 7: medians per token of the references of each split, over tokens of one's own."""
    found = []
    for dataset, split in report.groups(REFERENCES):
        table = published_figures().tables[f"tta-perplexity-{split}-clean"]
        for column in ("median", "mean"):
            cells = {
                row: next(
                    (
                        cell
                        for kind in KINDS
                        if (cell := report.find(REFERENCES, dataset, split, row, f"{kind}-{column}"))
                    ),
                    None,
                )
                for row in table.rows
            }
            found.append(
                Series(
                    ours_on=f"{code(dataset)} {split}, {column} (pseudo-)perplexity per token",
                    printed_on=f"{table.title}, {column}",
                    ours=present(cells.items()),
                    printed=table.column(column),
                    number=perplexity,
                    signed=signed_points,
                    compared=column == "median",
                )
            )
    return [series for series in found if series.ours]


def times_on_cpu(report: Report) -> list[Series]:
    """Figure 4: milliseconds at the length that the paper compares at."""
    return _times(report, "tta-runtime-cpu", "cpu")


def times_on_gpu(report: Report) -> list[Series]:
    """Figure 6: the same on a GPU."""
    return _times(report, "tta-runtime-gpu", "cuda")


def times_one_way(report: Report) -> list[Series]:
    """Figure 5: uniLM and T-TA, of which the paper prints no numbers."""
    found = []
    for device in runtime.SPLITS:
        for task in runtime.TASKS:
            timed = _of_task(report, task, device, ("unilm", "tta"))
            if timed and len(timed.ours) > 1:
                found.append(timed)
    return found


def _times(report: Report, name: str, device: str) -> list[Series]:
    table = published_figures().tables[name]
    found = []
    for task in table.rows:
        timed = _of_task(report, task, device, ("tta", "bilm", system_name("bilm", ONE_BY_ONE)))
        if timed is None:
            continue
        ratio = table.get(task, "ratio")
        printed = {row: value for row in ("tta", "bilm") if (value := table.get(task, row)) is not None}
        changes = {} if ratio is None else {(row, "tta"): ratio for row in timed.ours if row != "tta"}
        on = f"{table.title}: {runtime.TASK_WORDS[task]}"
        found.append(dataclasses.replace(timed, printed_on=on, printed=printed, changes=changes))
    return found


def _of_task(report: Report, task: str, device: str, names: tuple[str, ...]) -> Series | None:
    """The times of a task on a device, at the standard length."""
    split = runtime.SPLITS[device]
    lengths = runtime.word_counts(report, split)
    if not lengths:
        return None
    words = runtime.standard(lengths)
    systems: dict[str, str] = {}
    times = report.figures(runtime.TABLE, lengths[words], split, "ms")
    for system in times:
        name = runtime.untasked(report, system)
        if name in names and runtime.TASK_OF.get(report.reading(system)) == task:
            systems.setdefault(name, system)

    def paired(first: str, second: str) -> FigureLevel | None:
        metric = runtime.OVER + second
        cell = report.find(runtime.TABLE, lengths[words], split, systems.get(first, ""), metric)
        return scaled(cell, 1) if cell else None

    if not systems:
        return None
    return Series(
        ours_on=f"{words} words, {runtime.TASK_WORDS[task]}{' on a GPU' if device == 'cuda' else ''}, ms",
        printed_on="",
        ours={name: times[systems[name]] for name in names if name in systems},
        printed={},
        number=milliseconds,
        signed=difference,
        paired=paired,
        paired_kind="ratio",
    )
