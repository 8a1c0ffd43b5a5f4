"""Semantic similarity without training for it (T-TA paper, Section 5.4, Tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from quartet.report import elsewhere
from quartet.report.cells import Cell, apart
from quartet.report.numbers import NONE, fixed, hundredfold, listing
from quartet.report.order import model_of
from quartet.report.page import Column, Report, code, named, paper_table
from quartet.report.sections import nli

TABLE = "sts"
#: As many systems as a sentence names.
FEW = 4
#: The published tables, the splits of each, and how a head names them.
PAPERS = (
    ("tta-stsb", "dev", "STSb dev"),
    ("tta-stsb", "test", "STSb test"),
    ("tta-sick", "test", "SICK test"),
)
#: The sets that stand in one table, in those tables' form: the table that has a column for it, and its head.
SENTENCES = {
    **{(name.removeprefix("tta-"), split): (name, head) for name, split, head in PAPERS},
    ("sick", "dev"): ("tta-sick", "SICK dev"),
}
#: SemEval's years, and the mean over them.
YEARS = ("sts12", "sts13", "sts14", "sts15", "sts16")
ALL_YEARS = "semeval"
#: Two further ways to make one figure of a year's sub-tasks, by the ending of the metric.
AGGREGATED = {"-mean": "mean", "-weighted": "weighted"}
CORRELATIONS = {"pearson": "Pearson", "spearman": "Spearman"}

Group = tuple[str, str]


def systems_of(report: Report, dataset: str, split: str, metrics: Iterable[str]) -> list[str]:
    """The systems of a set without those that were tuned on entailment, which have a section of their own."""
    return [system for system in report.systems(TABLE, dataset, split, metrics) if not nli.of_tuning(system)]


def body(report: Report) -> list[str]:
    """Sentences in the form of the papers' tables, SemEval's years, and a table for each other set."""
    lines = [
        "The cosine of two texts' vectors against human scores, correlations × 100. No model was trained on the task.",
        "Means over a text's own tokens, special tokens left out: `context`, of the final layer; `embed`, of the "
        "embedding layer's output, after positions and normalisation; `table`, of the bare token table. One vector: "
        "`cls` and `eos`, the final layer at the special token before and behind the text. A masked model's `context` "
        "is mask-and-predict's, `-intact` reads the text as it is. Every text is read as one sentence.",
        "",
        *elsewhere.note(report, TABLE),
    ]
    for place in nli.likeness_places(report):
        report.cells.take(place)
    groups = report.groups(TABLE)
    years = [group for group in groups if group[0] in (*YEARS, ALL_YEARS)]
    sentences = [group for group in groups if group in SENTENCES]
    lines += _sentences(report, sentences) + _years(report, years) + _known_words(report, groups)
    for dataset, split in groups:
        if (dataset, split) in (*years, *sentences):
            continue
        columns = [
            report.measured("Pearson", hundredfold, TABLE, dataset, split, "pearson"),
            report.measured("Spearman", hundredfold, TABLE, dataset, split, "spearman"),
            *(Column(f"paper, {head}", _published(name, part)) for name, part, head in PAPERS),
        ]
        systems = systems_of(report, dataset, split, CORRELATIONS)
        if systems:
            lines += [f"**`{dataset}`** {split}".rstrip() + ":", "", *report.table(systems, columns)]
            lines += report.caption(TABLE, "pairs")
    if groups:
        _, where = paper_table("tta-stsb")
        lines += [
            f'Columns "paper" are Pearson × 100 as printed in the {where} (STSb, the STS Benchmark) and '
            "Table 4 (SICK): models at the paper's scale. The embedding layer of a masked model is there in the row "
            "of its intact input.",
            "",
        ]
    return lines + report.figure(TABLE, "Pearson correlation by model and layer, with intervals")


def _sentences(report: Report, groups: list[Group]) -> list[str]:
    """Pearson with the papers' figures beside it, then Spearman."""
    lines = []
    for metric, name in CORRELATIONS.items():
        columns = []
        for group in groups:
            table, head = SENTENCES[group]
            columns.append(report.measured(head, hundredfold, TABLE, *group, metric))
            if metric == "pearson":
                columns.append(Column("paper", _published(table, group[1])))
        lines += _table(report, groups, metric, f"Sentences, {name} × 100", columns)
    return lines


def _years(report: Report, groups: list[Group]) -> list[str]:
    """All pairs of a year at once, as usual; and, without their intervals, the means over the year's sub-tasks."""
    lines = []
    for metric, name in CORRELATIONS.items():
        columns = [
            report.measured("mean of the years", hundredfold, TABLE, *group, f"{metric}-mean")
            if group[0] == ALL_YEARS
            else report.measured(group[0], hundredfold, TABLE, *group, metric)
            for group in groups
        ]
        title = f"SemEval, {name} × 100, the pairs of all sub-tasks of a year together"
        lines += _table(report, groups, metric, title, columns)
    for metric, name in CORRELATIONS.items():
        columns = [
            report.measured(
                f"{dataset} {word}", hundredfold, TABLE, dataset, split, metric + ending, False, False
            )
            for dataset, split in groups
            if dataset != ALL_YEARS
            for ending, word in AGGREGATED.items()
        ]
        title = f"SemEval, {name} × 100, the mean of a year's sub-tasks, plain and weighted by their pairs"
        lines += _table(report, groups, f"{metric}-mean", title, columns)
    return lines


def _table(
    report: Report, groups: Iterable[Group], metric: str, title: str, columns: list[Column]
) -> list[str]:
    """A row for each system that has the metric on one of the sets."""
    systems = {system for group in groups for system in systems_of(report, *group, [metric])}
    if not systems:
        return []
    lines = [f"**{title}**:", "", *report.table(report.sorted(systems), columns)]
    return lines + report.caption(TABLE, "pairs")


def _known_words(report: Report, groups: list[Group]) -> list[str]:
    """Of vectors from a file, the share of each set's words that have one."""
    share = fixed(1, 100)
    found: dict[str, list[str]] = {}
    for dataset, split in groups:
        for system in report.systems(TABLE, dataset, split, ["coverage"]):
            text = report.text(share, TABLE, dataset, split, system, "coverage", counted=False)
            found.setdefault(system, []).append(f"{text} % (`{dataset}` {split})")
    parts = [f"{code(system)} {', '.join(each)}" for system, each in found.items()]
    return [f"Words that have a vector, the others being left out: {'; '.join(parts)}.", ""] if parts else []


def findings(report: Report) -> list[str]:
    """For each set the highest system, whom it is shown to be above, and T-TA beside the masked model.

    Development pairs and SemEval's single years are left to the tables.
    """
    found = []
    for dataset, split in report.groups(TABLE):
        cells = report.figures(TABLE, dataset, split, "pearson")
        cells = {system: cell for system, cell in cells.items() if not nli.of_tuning(system)}
        if not cells or split == "dev" or dataset in YEARS:
            continue
        best = max(cells, key=lambda system: cells[system].value)
        below = [system for system in cells if apart(cells[system].bounds, cells[best].bounds) < 0]
        rest = [system for system in cells if system not in (*below, best)]
        text = (
            f"Similarity on `{dataset}` ({cells[best].n:,} pairs, Pearson × 100): {report.label(best)} is "
            "highest, "
        )
        text += f"{cells[best].text(hundredfold)}"
        text += f"; shown to be below it: {_some(below)}" if below else ""
        text += f"; not told from it: {_some(rest)}" if rest else ""
        found.append(text + "." + _pairs(report, cells))
    return found


def _pairs(report: Report, cells: dict[str, Cell]) -> str:
    """The LAE models' final layer beside that of the masked models that read the same kind of input."""
    parts = []
    for system, ours in cells.items():
        for other, theirs in cells.items():
            models = (
                report.facts.model(model_of(system, report.facts)),
                report.facts.model(model_of(other, report.facts)),
            )
            lae, mlm = models
            if (
                lae is None
                or mlm is None
                or (system, other) != (f"{lae.name}/context", f"{mlm.name}/context")
            ):
                continue
            if (lae.objective, mlm.objective) != ("lae", "mlm"):
                continue
            if (lae.reads, lae.segment_aware) != (mlm.reads, mlm.segment_aware):
                continue
            verdict = {1: "above", -1: "below", 0: "not told from"}[apart(ours.bounds, theirs.bounds)]
            figures = ours.text(hundredfold), theirs.text(hundredfold)
            parts.append(f"{code(system)} ({figures[0]}) is {verdict} {code(other)} ({figures[1]})")
    return f" {listing(parts)}." if parts else ""


def _some(systems: list[str]) -> str:
    return named(systems) if len(systems) <= FEW else f"{len(systems)} others"


def _published(name: str, split: str) -> Callable[[str], str]:
    table, _ = paper_table(name)

    def text(system: str) -> str:
        model, _, reading = system.partition("/")
        rows: tuple[str, ...] = (model,)
        if reading == "embed":  # where nothing is masked
            rows = (model, f"{model}-intact")
        elif reading in ("cls", "eos"):
            rows, reading = (f"{model}-{reading}",), "context"
        column = f"{split}-{reading or 'embed'}"  # vectors of words alone are the papers' "embed"
        values = [table.get(row, column) for row in rows if column in table.columns]
        value = next((value for value in values if value is not None), None)
        return NONE if value is None else fixed(1)(value)

    return text
