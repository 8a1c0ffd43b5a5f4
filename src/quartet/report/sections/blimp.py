"""Minimal pairs (BLiMP): the share of pairs whose good sentence has the higher score, down to each paradigm."""

from __future__ import annotations

from quartet.evaluation.sets.blimp import PHENOMENA
from quartet.report import elsewhere
from quartet.report.cells import apart
from quartet.report.numbers import fixed, hundredfold
from quartet.report.page import Report, code, grid, named

TABLE = "blimp"
FIELDS = ("morphology", "syntax", "semantics", "syntax_semantics")
#: What a coin gets.
CHANCE = 0.5
share = fixed(2, 100)


def body(report: Report) -> list[str]:
    """A table of the whole and of the fields, and one of the phenomena and their paradigms."""
    lines = [
        "The share of minimal pairs, in percent, whose good sentence has the higher score: the sum of its tokens' "
        "log-probabilities (of masked models and T-TA: pseudo-log-probabilities); `/mean`: their mean a token. A tie "
        "is a failure, and a difference within rounding is a tie. A coin gets 50. Each paradigm has the same weight.",
        "",
        *elsewhere.note(report, TABLE),
    ]
    for dataset, split in report.groups(TABLE):
        if "/" in dataset:
            continue
        systems = report.systems(TABLE, dataset, split, ["accuracy"])
        paradigms = _paradigms(report, dataset, split)
        columns = [
            report.measured("all", hundredfold, TABLE, dataset, split, "accuracy"),
            report.measured(
                "each pair alike", hundredfold, TABLE, dataset, split, "accuracy-micro", bounds=False
            ),
            *(
                report.measured(
                    field.replace("_", " and "),
                    hundredfold,
                    TABLE,
                    f"{dataset}/field/{field}",
                    split,
                    "accuracy",
                )
                for field in FIELDS
            ),
            report.measured("ties", share, TABLE, dataset, split, "ties", bounds=False),
        ]
        lines += [f"**`{dataset}`**, {len(paradigms)} paradigms:", "", *report.table(systems, columns)]
        lines += report.caption(TABLE, "pairs")
        lines += _by_paradigm(report, dataset, split, paradigms)
    return lines + report.figure(TABLE, "Accuracy by model and phenomenon, with intervals")


def findings(report: Report) -> list[str]:
    """For each set the highest system, and which are shown to be above a coin."""
    found = []
    for dataset, split in report.groups(TABLE):
        cells = report.figures(TABLE, dataset, split, "accuracy")
        cells = {system: cell for system, cell in cells.items() if "/" not in system}
        if "/" in dataset or not cells:
            continue
        best = max(cells, key=lambda system: cells[system].value)
        above = [system for system, cell in cells.items() if apart(cell.bounds, (CHANCE, CHANCE)) > 0]
        level = [system for system, cell in cells.items() if apart(cells[best].bounds, cell.bounds) == 0]
        text = (
            f"Minimal pairs on `{dataset}` ({cells[best].n:,} pairs, accuracy in %): {report.label(best)} is highest, "
            f"{cells[best].text(hundredfold)}"
        )
        others = [system for system in level if system != best]
        text += f"; not told from it: {named(others)}" if others else ""
        text += (
            f"; shown to be above a coin: {named(above)}" if above else "; none is shown to be above a coin"
        )
        found.append(f"{text}.")
    return found


def _paradigms(report: Report, dataset: str, split: str) -> list[str]:
    """The paradigms of a set that were scored."""
    names = [
        name.removeprefix(f"{dataset}/")
        for name, part in report.groups(TABLE)
        if part == split and name.startswith(f"{dataset}/")
    ]
    return [name for name in names if "/" not in name]


def _by_paradigm(report: Report, dataset: str, split: str, paradigms: list[str]) -> list[str]:
    """A row a phenomenon, in bold, and below it its paradigms; a column a system."""
    systems = report.sorted(
        {
            system
            for name in paradigms
            for system in report.systems(TABLE, f"{dataset}/{name}", split, ["accuracy"])
        }
    )
    rows = []
    for phenomenon, members in _grouped(paradigms).items():
        whole = _entries(report, f"{dataset}/phenomenon/{phenomenon}", split, systems, True)
        rows.append([f"**{phenomenon.replace('_', ' ')}**", *whole])
        rows += [
            [code(name), *_entries(report, f"{dataset}/{name}", split, systems, False)] for name in members
        ]
    if not systems:
        return []
    lines = ["By phenomenon (the mean of its paradigms, in bold) and paradigm:", ""]
    lines += [*grid(["", *map(code, systems)], rows), *report.caption(TABLE, "pairs")]
    halves = [
        (cell.bounds[1] - cell.bounds[0]) / 2
        for name in paradigms
        for cell in report.figures(TABLE, f"{dataset}/{name}", split, "accuracy").values()
        if cell.bounds
    ]
    if halves:
        lines += [
            f"The intervals of the paradigms (Wilson's) stand in `results.jsonl`: up to ± {hundredfold(max(halves))}.",
            "",
        ]
    return lines


def _grouped(paradigms: list[str]) -> dict[str, list[str]]:
    """The paradigms by phenomenon, in the order of BLiMP's own tables; those that are none of BLiMP's come last."""
    found = {
        phenomenon: [name for name in members if name in paradigms]
        for phenomenon, members in PHENOMENA.items()
    }
    known = {name for members in PHENOMENA.values() for name in members}
    found["others"] = [name for name in paradigms if name not in known]
    return {phenomenon: members for phenomenon, members in found.items() if members}


def _entries(report: Report, dataset: str, split: str, systems: list[str], bounds: bool) -> list[str]:
    """The accuracies of a part, one a system."""
    return [
        report.text(hundredfold, TABLE, dataset, split, system, "accuracy", bounds=bounds)
        for system in systems
    ]
