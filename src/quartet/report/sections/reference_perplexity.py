"""(Pseudo-)perplexity of the references of N-best lists beside the errors of reranking (T-TA paper, Table 7)."""

from __future__ import annotations

from quartet.report.numbers import NONE, hundredfold, listing, perplexity, wer
from quartet.report.numbers import count as count_number
from quartet.report.page import Column, Report, code, grid, named, paper_columns, paper_table
from quartet.report.sections import rerank
from quartet.report.sections.rerank import measured_by

TABLE = "reference-perplexity"
#: How each measure is called, by its metric.
KINDS = {"ppl": "PPL", "pppl": "pPPL"}
UNITS = {"a token": "", "a word": "-word"}
#: What is said of systems that are no model of this run.
OTHER_TOKENS = "tokens of its own, so only figures a word compare with other models'."


def body(report: Report) -> list[str]:
    """A table a split of a set, then the paper's own."""
    lines = [
        "How well each language model predicts what was really said, the references of the lists, beside the error of "
        "its reranking. PPL is perplexity (left to right), pPPL pseudo-perplexity (both sides in view): two measures, "
        "whose figures do not compare with each other. Over the references' own tokens, normalised as the hypotheses "
        "are, each reference read by itself. `mean` and `median` are over references (a few short ones decide a mean), "
        "`all` takes them together. Figures a token compare over the same tokens only; a word is what white space "
        "divides, and an unknown word costs its "
        "spelling too, as under perplexity; no figure a word is given where nothing tells unknown words apart.",
        "",
    ]
    for dataset, split in report.groups(TABLE):
        lines += _table(report, dataset, split)
    return lines + _published(report)


def _metric(report: Report, dataset: str, split: str, system: str) -> str:
    """The metric of the measure that a system's figures are of."""
    return next(metric for metric in KINDS if report.find(TABLE, dataset, split, system, metric))


def _systems(report: Report, dataset: str, split: str) -> list[str]:
    return report.systems(TABLE, dataset, split, KINDS)


def _table(report: Report, dataset: str, split: str) -> list[str]:
    systems = _systems(report, dataset, split)
    if not systems:
        return []
    metrics = {system: _metric(report, dataset, split, system) for system in systems}

    def tokens(system: str) -> str:
        cell = report.find(TABLE, dataset, split, system, metrics[system])
        return NONE if cell is None else count_number(cell.n)

    def figure(head: str, suffix: str, bounds: bool = True) -> Column:
        def text(system: str) -> str:
            metric = metrics[system] + suffix
            return report.text(perplexity, TABLE, dataset, split, system, metric, bounds=bounds)

        return Column(head, text)

    columns = [Column("measure", lambda system: KINDS[metrics[system]]), Column("tokens", tokens)]
    for unit, suffix in UNITS.items():
        columns += [
            figure(f"{unit}: mean", f"{suffix}-mean", bounds=False),
            figure(f"{unit}: median", f"{suffix}-median"),
            figure(f"{unit}: all", suffix),
        ]
    columns.append(report.measured("unknown, %", hundredfold, TABLE, dataset, split, "oov", False))
    judge = measured_by(report, dataset)
    columns.append(report.measured(judge.head, wer, rerank.TABLE, dataset, split, judge.metric, False, False))
    lines = [f"**`{dataset}`** {split}:", "", *report.table(systems, columns)]
    lines += report.caption(TABLE, "references (of `all`: tokens or words)")
    others = [system for system in systems if report.facts.model(system) is None]
    return [*lines, f"{named(others)}: {OTHER_TOKENS}", ""] if others else lines


def _published(report: Report) -> list[str]:
    """The paper's table, of those of its models that are ours too."""
    shown = {system for dataset, split in report.groups(TABLE) for system in _systems(report, dataset, split)}
    rows, where = [], ""
    for name in ("tta-perplexity-dev-clean", "tta-perplexity-test-clean"):
        table, where = paper_table(name)
        for system in report.sorted(shown & set(table.rows)):
            columns = paper_columns(table, perplexity, {"mean": "", "median": ""})
            columns += paper_columns(table, wer, {"wer": ""})
            rows.append([code(system), table.title, *(column.entry(system) for column in columns)])
    if not rows:
        return []
    heads = ["system", "references", "a token: mean", "a token: median", "WER, %"]
    return [
        f"{where} (PPL of `unilm`, pPPL of the others), with tokens of its own:",
        "",
        *grid(heads, rows),
    ]


def findings(report: Report) -> list[str]:
    """The medians a token on test, by measure, of models whose tokens are the same."""
    found = []
    for dataset, split in report.groups(TABLE):
        if split != "test":
            continue
        for metric, name in KINDS.items():
            cells = report.figures(TABLE, dataset, split, f"{metric}-median")
            cells = {system: cell for system, cell in cells.items() if report.facts.model(system)}
            if cells:
                values = listing(
                    [f"{code(system)} {cell.text(perplexity)}" for system, cell in cells.items()]
                )
                count = max(cell.n for cell in cells.values())
                found.append(
                    f"References of `{dataset}` (test, {count:,} of them), median {name} a token: {values}."
                )
    return found
