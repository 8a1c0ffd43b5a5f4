"""Systems that reranked the same lists, each held against each other."""

from __future__ import annotations

from quartet.report.cells import apart
from quartet.report.numbers import count, difference, p_value, wer
from quartet.report.page import Column, Report, code
from quartet.report.sections.rerank import MEASURES, Measured

TABLE = "rerank-pairs"


def body(report: Report) -> list[str]:
    """For each set of lists a row a pair of systems."""
    lines = [
        "The first system minus the second on test, each with its own weight chosen on dev, over the same "
        "utterances. `better` and `worse` count the utterances where the first one's choice is the better or the "
        "worse by itself. p-values are not corrected for the number of pairs (of several seeds, the largest is "
        "given); `detectable` is the smallest true difference that these utterances would show 4 times in 5.",
        "",
    ]
    for dataset in report.datasets(TABLE):
        for measured in MEASURES:
            lines += _table(report, dataset, measured)
    return lines


def _table(report: Report, dataset: str, measured: Measured) -> list[str]:
    metric = f"{measured.metric}-difference"
    pairs = report.systems(TABLE, dataset, "test", [metric])
    if not pairs:
        return []
    columns = [
        report.measured(f"difference, {measured.head}", difference, TABLE, dataset, "test", metric),
        Column("p", lambda pair: _largest(report, dataset, pair)),
        report.measured("better", count, TABLE, dataset, "test", "better", counted=False),
        report.measured("worse", count, TABLE, dataset, "test", "worse", counted=False),
        report.measured(
            "detectable", wer, TABLE, dataset, "test", f"{measured.metric}-detectable", counted=False
        ),
    ]
    lines = [f"**`{dataset}`**:", "", *report.table(pairs, columns, "systems")]
    return lines + report.caption(TABLE, "utterances")


def _largest(report: Report, dataset: str, pair: str) -> str:
    text = report.text(p_value, TABLE, dataset, "test", pair, "p-value", counted=False)
    cell = report.find(TABLE, dataset, "test", pair, "p-value")
    return text if cell is None else p_value(max(row.value for row in cell.rows))


def findings(report: Report) -> list[str]:
    """How many pairs of each set the test tells apart."""
    found = []
    for dataset in report.datasets(TABLE):
        for measured in MEASURES:
            cells = report.figures(TABLE, dataset, "test", f"{measured.metric}-difference")
            if cells:
                told = [pair for pair, cell in cells.items() if apart(cell.bounds, (0.0, 0.0))]
                shown = f": {', '.join(code(pair) for pair in told)}" if 0 < len(told) <= 6 else ""
                found.append(
                    f"Systems against each other on `{dataset}`: {len(told)} of {len(cells)} differences in "
                    f"{measured.head.partition(',')[0]} are shown to be other than 0{shown}."
                )
    return found
