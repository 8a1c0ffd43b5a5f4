"""N-best lists reranked: the error before and after, beside the papers' (T-TA paper, Tables 1, 2, 5, 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from quartet.report import elsewhere
from quartet.report.cells import Cell, apart
from quartet.report.numbers import NONE, Number, difference, listing, p_value, weight, wer
from quartet.report.page import Column, Report, code, grid, named, paper_table
from quartet.report.published import PublishedTable

TABLE = "rerank"
FIRST, ORACLE = "first-pass", "oracle"


@dataclass(frozen=True)
class Measured:
    """What lists are judged by.

    Attributes:
        metric: its word in the results; the difference to the first pass is "<metric>-difference".
        head: in a table's head.
        axis: beside a picture's axis.
        better: the sign of a change for the better.
        papers: the published tables of the same metric.
    """

    metric: str
    head: str
    axis: str
    better: int
    papers: tuple[str, ...]


MEASURES = (
    Measured("wer", "WER, %", "word error rate, %", -1, ("tta-wer-own", "tta-wer-shin2019")),
    Measured("bleu", "BLEU", "BLEU", 1, ("tta-bleu",)),
)


def measured_by(report: Report, dataset: str) -> Measured:
    """What a set of lists is judged by; word errors where there is no figure of it."""
    return next((one for one in MEASURES if report.systems(TABLE, dataset, None, [one.metric])), MEASURES[0])


def body(report: Report) -> list[str]:
    """For each set of lists our table and the papers'."""
    lines = [
        "The score is (1 - weight) × recogniser + weight × language model; the weight is the one that is "
        "best on dev, and test plays no part in choosing it. So a dev figure is flattered by the choice. "
        "`first-pass` is the recogniser alone, `oracle` the best hypothesis of each list: no reranking can "
        "do better. p-values are two-sided, of the difference to the first pass on test, and not corrected "
        "for the number of systems (of several seeds, the largest is given). Differences on dev are left to "
        "results.jsonl: the weight was chosen there. `detectable` is the smallest true difference to the "
        "first pass that these utterances would show 4 times in 5. `tuned on test` has the weight (in brackets) "
        "that is best on test itself, as in the T-TA paper's Table 2: flattered, and for that comparison only.",
        "",
        *elsewhere.note(report, TABLE),
    ]
    for dataset in report.datasets(TABLE):
        for measured in MEASURES:
            systems = report.systems(TABLE, dataset, None, [measured.metric])
            if systems:
                lines += _table(report, dataset, measured, systems)
    return lines + report.figure(TABLE, "Error or BLEU against the weight of the language model")


def _table(report: Report, dataset: str, measured: Measured, systems: list[str]) -> list[str]:
    facts = next((lists for lists in report.facts.lists if lists.name == dataset), None)
    origin = f" ({facts.origin})" if facts and facts.origin else ""
    metric = measured.metric
    columns = [
        report.measured("weight", weight, TABLE, dataset, None, "weight", counted=False),
        report.measured(f"dev {measured.head}", wer, TABLE, dataset, "dev", metric),
        report.measured(f"test {measured.head}", wer, TABLE, dataset, "test", metric),
        report.measured("test, to first pass", difference, TABLE, dataset, "test", f"{metric}-difference"),
        Column("p", lambda system: _p_value(report, dataset, system)),
        report.measured("detectable", wer, TABLE, dataset, "test", f"{metric}-detectable", counted=False),
        report.measured("share of the second", weight, TABLE, dataset, "test", "share", counted=False),
        Column("tuned on test", lambda system: _tuned_on_test(report, dataset, system, metric)),
    ]
    lines = [f"**`{dataset}`**{origin}:", "", *report.table(systems, columns)]
    if measured.metric == "bleu":
        signature = f" (`{facts.bleu}`)" if facts and facts.bleu else ""
        lines += [
            f"BLEU is sacrebleu's{signature}. Its oracle picks the hypothesis with the highest smoothed sentence "
            "BLEU of each list: corpus BLEU is no sum over sentences, so a little more may be possible.",
            "",
        ]
    report.omit(TABLE, dataset, "dev", [f"{metric}-difference", "p-value"])
    report.omit(TABLE, dataset, "test", ["weight"])  # dev's own, said again
    lines += report.caption(TABLE, "utterances")
    return lines + _published(report, dataset, measured, systems)


def _tuned_on_test(report: Report, dataset: str, system: str, metric: str) -> str:
    """The figure of the weight that is best on test, and the weight."""

    def text(number: Number, metric: str) -> str:
        return report.text(number, TABLE, dataset, "test", system, metric, counted=False)

    value, chosen = text(wer, f"{metric}-best-on-test"), text(weight, "weight-best-on-test")
    return value if value == NONE else f"{value} ({chosen})"


def _p_value(report: Report, dataset: str, system: str) -> str:
    """Of several seeds the largest: a mean of p-values means nothing."""
    text = report.text(p_value, TABLE, dataset, "test", system, "p-value", counted=False)
    cell = report.find(TABLE, dataset, "test", system, "p-value")
    return text if cell is None else p_value(max(row.value for row in cell.rows))


def _published(report: Report, dataset: str, measured: Measured, systems: list[str]) -> list[str]:
    tables = [paper_table(name) for name in measured.papers]
    known = [system for system in systems if any(system in table.rows for table, _ in tables)]
    if not known:
        return []
    first = report.find(TABLE, dataset, "test", FIRST, measured.metric)

    def ours(system: str) -> str:
        cell = report.find(TABLE, dataset, "test", system, measured.metric)
        return NONE if cell is None else _relative(cell.value, first.value if first else None)

    columns = [Column("ours, test", ours)]
    for table, _ in tables:
        columns += [Column(f"{table.title}: {column}", _of_paper(table, column)) for column in table.columns]
    where = listing(list(dict.fromkeys(place for _, place in tables)))
    lines = [
        f"The same rows beside the {where} ({measured.head}). Theirs are of other lists, other training text "
        "and other model sizes. In brackets is each figure's change relative to its own first pass.",
        "",
    ]
    return lines + _transposed(known, columns)


def _transposed(systems: list[str], columns: list[Column]) -> list[str]:
    """A row a column and a column a system: the papers' many sets fit the page better so."""
    rows = [[column.head, *(column.entry(system) for system in systems)] for column in columns]
    return grid(["lists", *(code(system) for system in systems)], rows)


def _of_paper(table: PublishedTable, column: str) -> Callable[[str], str]:
    def text(system: str) -> str:
        value = table.get(system, column)
        return NONE if value is None else _relative(value, table.get(FIRST, column))

    return text


def _relative(value: float, first: float | None) -> str:
    if not first or value == first:
        return wer(value)
    return f"{wer(value)} ({100 * (value / first - 1):+.1f} %)"


def findings(report: Report) -> list[str]:
    """For each set of lists: first pass and oracle, and which systems the test tells from the first pass."""
    found = []
    for dataset in report.datasets(TABLE):
        for measured in MEASURES:
            first = report.find(TABLE, dataset, "test", FIRST, measured.metric)
            oracle = report.find(TABLE, dataset, "test", ORACLE, measured.metric)
            changes = report.figures(TABLE, dataset, "test", f"{measured.metric}-difference")
            if first is None and not changes:
                continue
            parts = []
            if first is not None:
                parts.append(f"the first pass has {measured.head.partition(',')[0]} {first.text(wer)}")
            if oracle is not None:
                parts.append(f"the best reranking possible {wer(oracle.value)}")
            n = next(iter([first] if first else changes.values())).n
            text = f"Reranking `{dataset}` (test, {n:,} utterances): {', '.join(parts)}. "
            found.append(text + _changes(report, changes, measured))
    return found


def _changes(report: Report, changes: dict[str, Cell], measured: Measured) -> str:
    """Which differences have an interval that leaves out 0, in which direction."""
    parts = []
    signs = {system: apart(cell.bounds, (0.0, 0.0)) * measured.better for system, cell in changes.items()}
    for sign, words in ((1, "Shown to be better than it"), (-1, "Shown to be worse")):
        shown = [
            f"{report.label(system)} ({changes[system].text(difference)})"
            for system in changes
            if signs[system] == sign
        ]
        if shown:
            parts.append(f"{words}: {listing(shown)}.")
    open_ones = [system for system in changes if signs[system] == 0]
    if open_ones:
        parts.append(f"Not told from it: {named(open_ones)}.")
    return " ".join(parts)
