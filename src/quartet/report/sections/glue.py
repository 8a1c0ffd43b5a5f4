"""GLUE after fine-tuning (Segatron paper, "General Language Understanding", Tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Callable

from quartet.report.cells import apart
from quartet.report.numbers import NONE, Number, count, fixed, general, hundredfold
from quartet.report.page import Column, Report, code, grid, named, paper_table

TABLE = "glue"
BASELINES = ("majority", "bag-of-words")
METRICS = {
    "matthews": "Matthews",
    "accuracy": "accuracy",
    "f1": "F1",
    "pearson": "Pearson",
    "spearman": "Spearman",
}
#: The paper's columns in its order: its name, our set, what the split is called after dev or test, and the metric that
#: enters the average.
COLUMNS = (
    ("MNLI-m", "mnli", "_matched", "accuracy"),
    ("QNLI", "qnli", "", "accuracy"),
    ("QQP", "qqp", "", "f1"),
    ("RTE", "rte", "", "accuracy"),
    ("SST-2", "sst2", "", "accuracy"),
    ("MRPC", "mrpc", "", "f1"),
    ("CoLA", "cola", "", "matthews"),
    ("STS-B", "stsb", "", "spearman"),
)
#: The published table of each split, and what its rows are called there.
PAPERS = {"dev": "segatron-glue-dev", "test": "segatron-glue-test"}
ROWS = {
    "bert-": "BERT-base⁻",
    "segabert": "SegaBERT-base⁻",
    "bert-large": "BERT-large",
    "bert-large-best-of-3": "BERT-large (best of 3)",
    "segabert-large": "SegaBERT-large",
}
#: What the last column is, and what of the others cannot be compared.
AVERAGE = (
    "The average is the plain mean of the eight columns, as the paper's is (WNLI is no part of it); only rows that "
    "have all eight get one. Of two metrics it takes Devlin et al.'s (2019): F1 of label 1 on QQP and MRPC, "
    "Spearman on STS-B, and MNLI's matched set. Which one the paper prints it does not say: by their size its QQP "
    "and MRPC in Table 3 look like F1, but like accuracy in BERT-large's row, which is from another paper."
)


def body(report: Report) -> list[str]:
    """The paper's tables with our figures above its own, then a table a set with every metric."""
    lines = [
        "Every model is fine-tuned on each set, with a new dense layer with tanh and a new linear layer. Batch size, "
        "learning rate and epochs are those whose median over the fine-tuning seeds is highest on dev (of two metrics: "
        "of their mean; MNLI: on dev_matched); the figures are the median seed's. **Figures on dev are therefore "
        "optimistic: the choice was made on the examples that they are measured on, and no interval holds it.** The "
        "paper's Table 3 was made so too. `majority` always gives the most frequent label; `bag-of-words` is a "
        "logistic regression (STS-B: a ridge regression) on counts of words; both learn from the same examples. "
        "`inputs cut`: examples that lost tokens for want of room; `also in train`: those whose very texts are a "
        "training example's.",
        "",
    ]
    published = [line for split in PAPERS for line in _as_published(report, split)]
    lines += [*published, AVERAGE, ""] if published else []
    of_paper = [dataset for _, dataset, _, _ in COLUMNS]
    groups = report.groups(TABLE)
    for dataset, split in sorted(
        groups, key=lambda group: of_paper.index(group[0]) if group[0] in of_paper else len(of_paper)
    ):
        lines += _set(report, dataset, split)
    return lines + report.figure(TABLE, "GLUE by model, with intervals")


def findings(report: Report) -> list[str]:
    """For each set the highest model, and which are shown to be above each baseline."""
    found = []
    for dataset, split in report.groups(TABLE):
        metric = _main(report, dataset, split)
        cells = {} if metric is None else report.figures(TABLE, dataset, split, metric)
        models = [system for system in cells if system not in BASELINES]
        if metric is None or not models:
            continue
        best = max(models, key=lambda system: cells[system].value)
        chosen = ", chosen on it" if report.figures(TABLE, dataset, split, "epochs") else ""
        what = f"{cells[best].n:,} examples, {METRICS[metric]} × 100{chosen}"
        text = (
            f"GLUE, `{dataset}` {split} ({what}): the highest model is "
            f"{code(best)}, {cells[best].text(hundredfold)}"
        )
        for baseline in BASELINES:
            if baseline in cells:
                above = [one for one in models if apart(cells[one].bounds, cells[baseline].bounds) > 0]
                than = f"{code(baseline)} ({hundredfold(cells[baseline].value)})"
                text += (
                    f"; shown above {than}: {named(above)}" if above else f"; no model is known above {than}"
                )
        found.append(text + ".")
    return found


def _as_published(report: Report, split: str) -> list[str]:
    """Table 3 or 4: a figure a set, the average of rows that have all eight, and the paper's rows below."""
    places = [(dataset, f"{split}{part}", metric) for _, dataset, part, metric in COLUMNS]
    systems = report.sorted(
        {
            system
            for dataset, where, metric in places
            for system in report.systems(TABLE, dataset, where, [metric])
        }
    )
    if not systems:
        return []
    table, where = paper_table(PAPERS[split])
    rows = []
    for system in systems:
        cells = [report.find(TABLE, *place[:2], system, place[2]) for place in places]
        whole = [cell.value for cell in cells if cell is not None]
        average = hundredfold(sum(whole) / len(places)) if len(whole) == len(places) else NONE
        rows.append(
            [code(system), *(NONE if cell is None else hundredfold(cell.value) for cell in cells), average]
        )
    for system, printed in table.rows.items():
        rows.append([f"paper: {ROWS[system]}", *(NONE if one is None else fixed(1)(one) for one in printed)])
    return [
        f"**{split}, in the form of the {where}**, × 100; n and intervals are in the tables of the sets:",
        "",
        *grid(["system", *(f"{head}, {METRICS[metric]}" for head, _, _, metric in COLUMNS), "average"], rows),
    ]


def _set(report: Report, dataset: str, split: str) -> list[str]:
    """Every metric with its interval and its range over the fine-tuning seeds, and what was chosen."""
    metrics = [metric for metric in METRICS if report.systems(TABLE, dataset, split, [metric])]
    columns = []
    for metric in metrics:
        columns.append(report.measured(METRICS[metric], hundredfold, TABLE, dataset, split, metric))
        columns.append(Column("of seeds", _range(report, dataset, split, metric)))
    columns.append(Column("batch / rate / epochs", _chosen(report, dataset, split)))
    for metric, head in (("cut", "inputs cut"), ("in-train", "also in train")):
        columns.append(
            report.measured(head, count, TABLE, dataset, split, metric, counted=False, bounds=False)
        )
    systems = report.systems(TABLE, dataset, split, metrics)
    if not systems:
        return []
    lines = [f"**`{dataset}`** {split}, × 100:", "", *report.table(systems, columns)]
    caption = report.caption(TABLE, "examples")
    if report.systems(TABLE, dataset, split, [f"{metrics[0]}-lowest"]):
        caption[0] += (
            " Of seeds: the lowest and the highest fine-tuning seed at the same choice, and their number."
        )
    return lines + caption


def _range(report: Report, dataset: str, split: str, metric: str) -> Callable[[str], str]:
    """The lowest and the highest seed of a system, with their number."""

    def text(system: str) -> str:
        ends = [
            _alone(report, hundredfold, dataset, split, system, f"{metric}-{end}")
            for end in ("lowest", "highest")
        ]
        cell = report.find(TABLE, dataset, split, system, f"{metric}-lowest")
        return NONE if cell is None else f"{ends[0]} to {ends[1]} ({cell.n})"

    return text


def _chosen(report: Report, dataset: str, split: str) -> Callable[[str], str]:
    """Batch size, learning rate and epochs that were chosen for a system, and of how many choices."""

    def text(system: str) -> str:
        names = {"batch-size": count, "learning-rate": general, "epochs": count}
        parts = [_alone(report, number, dataset, split, system, name) for name, number in names.items()]
        cell = report.find(TABLE, dataset, split, system, "epochs")
        return NONE if cell is None else f"{' / '.join(parts)} (of {cell.n})"

    return text


def _alone(report: Report, number: Number, dataset: str, split: str, system: str, metric: str) -> str:
    """A figure of which the caption does not speak."""
    return report.text(number, TABLE, dataset, split, system, metric, counted=False, bounds=False)


def _main(report: Report, dataset: str, split: str) -> str | None:
    """The metric that a sentence gives: the average's, else the first that there is."""
    of_average = [metric for _, name, _, metric in COLUMNS if name == dataset]
    known = [metric for metric in [*of_average, *METRICS] if report.systems(TABLE, dataset, split, [metric])]
    return known[0] if known else None
