"""GLUE in the form of the Segatron paper's Tables 3 and 4."""

from __future__ import annotations

from quartet.report.numbers import NONE, fixed, hundredfold
from quartet.report.run_report import Report, code, grid, paper_table

TABLE = "glue"
METRICS = {"matthews": "Matthews", "accuracy": "accuracy", "f1": "F1", "spearman": "Spearman"}
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
#: The published table of each split.
PAPERS = {"dev": "segatron-glue-dev", "test": "segatron-glue-test"}
AVERAGE = (
    "The average is the plain mean of the eight columns, as the paper's is (WNLI is no part of it); only rows that "
    "have all eight get one. Of two metrics it takes Devlin et al.'s (2019): F1 of label 1 on QQP and MRPC, "
    "Spearman on STS-B, and MNLI's matched set. Which one the paper prints it does not say: by their size its QQP "
    "and MRPC in Table 3 look like F1, but like accuracy in BERT-large's row, which is from another paper."
)


def block(report: Report) -> list[str]:
    """A figure a set, the average of rows that have all eight, and the paper's rows below."""
    lines: list[str] = []
    for split, name in PAPERS.items():
        places = [(dataset, f"{split}{part}", metric) for _, dataset, part, metric in COLUMNS]
        systems = {system for place in places for system in report.figures(TABLE, *place)}
        if not systems:
            continue
        table, where = paper_table(name)
        rows = []
        for system in report.sorted(systems):
            cells = [report.find(TABLE, dataset, part, system, metric) for dataset, part, metric in places]
            whole = [cell.value for cell in cells if cell]
            average = hundredfold(sum(whole) / len(cells)) if len(whole) == len(cells) else NONE
            rows.append(
                [code(system), *(hundredfold(cell.value) if cell else NONE for cell in cells), average]
            )
        rows += [
            [f"paper: {code(row)}", *(NONE if one is None else fixed(1)(one) for one in printed)]
            for row, printed in table.rows.items()
        ]
        heads = ["system", *(f"{head}, {METRICS[metric]}" for head, _, _, metric in COLUMNS), "average"]
        lines += [f"**{split}, in the form of the {where}**, × 100:", "", *grid(heads, rows)]
    return [*lines, AVERAGE, ""] if lines else []
