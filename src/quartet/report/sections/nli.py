"""Entailment by siamese fine-tuning, and the similarity that it teaches (Segatron paper, Table 5)."""

from __future__ import annotations

from quartet.evaluation.nli import AVERAGE, SEVEN
from quartet.report.cells import Place, apart
from quartet.report.numbers import NONE, fixed, hundredfold
from quartet.report.page import Report, code, grid, named, paper_table

TABLE, LIKENESS = "nli", "sts"
#: Readings of the table of similarities that belong here: tuned, as it was before, and tuned from random weights.
TUNED, BEFORE, RANDOM = "nli", "untuned", "random-nli"
READINGS = (BEFORE, TUNED, RANDOM)
HEADS = {
    **{name: f"STS-{name.removeprefix('sts')}" for name in SEVEN},
    "stsb": "STS-B",
    "sick": "SICK-R",
}


def of_tuning(system: str) -> bool:
    """Whether a system of the table of similarities belongs to this section."""
    return system.partition("/")[2] in READINGS


def likeness_places(report: Report) -> list[Place]:
    """The similarities that this section shows: none where it has no entailment to show and is left out."""
    if not report.cells.places(TABLE):
        return []
    return [
        place
        for place in report.cells.places(LIKENESS)
        if of_tuning(place.system)
        and place.split == "test"
        and place.metric == ("spearman-mean" if place.dataset == AVERAGE else "spearman")
    ]


def body(report: Report) -> list[str]:
    """A table of accuracies, one of correlations in the form of Table 5, and the paper's own."""
    lines = [
        "Two sentences are read alone by one encoder, and a linear layer on (u, v, |u - v|) of their mean vectors is "
        "tuned with it on entailment. Accuracy in percent; `/random`: the same from random weights. `majority` and "
        "`bag-of-words` learn from the same pairs. On two-label sets neutral and contradiction count as one.",
        "",
    ]
    groups = report.groups(TABLE)
    systems = {
        system for dataset, split in groups for system in report.systems(TABLE, dataset, split, ["accuracy"])
    }
    columns = [
        report.measured(f"{dataset} {split}", hundredfold, TABLE, dataset, split, "accuracy")
        for dataset, split in groups
    ]
    lines += [*report.table(report.sorted(systems), columns), *report.caption(TABLE, "pairs")]
    return lines + _likeness(report)


def _likeness(report: Report) -> list[str]:
    """Spearman's correlation × 100 on the sets of Table 5."""
    systems = report.sorted({place.system for place in likeness_places(report)})
    if not systems:
        return []
    columns = [
        report.measured(HEADS[name], hundredfold, LIKENESS, name, "test", "spearman") for name in SEVEN
    ]
    known = {*SEVEN, AVERAGE}
    columns += [
        report.measured(name, hundredfold, LIKENESS, name, "test", "spearman")
        for name in report.datasets(LIKENESS)
        if name not in known
        and any(report.find(LIKENESS, name, "test", system, "spearman") for system in systems)
    ]
    columns.append(report.measured("average", hundredfold, LIKENESS, AVERAGE, "test", "spearman-mean"))
    lines = [
        "Similarity that nobody taught: Spearman × 100 of the cosine of two sentences' mean vectors with human scores. "
        f"`/{TUNED}`: after the tuning; `/{BEFORE}`: the pre-trained model; `/{RANDOM}`: tuned from random weights, "
        "which tells what the pre-training adds. Of STS-12 to STS-16 the pairs of all sub-tasks stand together "
        '(aggregation "all"); the average is over the seven sets, and stands only where all seven are there.',
        "",
        *report.table(systems, columns),
        *report.caption(LIKENESS, "pairs"),
    ]
    table, where = paper_table("segatron-sts")
    rows = [
        [code(system), *(NONE if value is None else fixed(2)(value) for value in numbers)]
        for system, numbers in table.rows.items()
    ]
    heads = ["published", *(HEADS.get(column, column) for column in table.columns)]
    return [
        *lines,
        f"{where}: {table.title}, {table.unit}; tuned on all of SNLI and MultiNLI, models of 24 layers. Its text says "
        "cosine, its caption negative distance; how sub-tasks were put together it does not say.",
        "",
        *grid(heads, rows),
    ]


def findings(report: Report) -> list[str]:
    """Whom the tuning is shown to help, on the average of the seven sets or on each set where that is not there."""
    where, metric = (AVERAGE, "spearman-mean")
    cells = report.figures(LIKENESS, where, "test", metric)
    if not cells:
        where, metric = ("stsb", "spearman")
        cells = report.figures(LIKENESS, where, "test", metric)
    models = [system.removesuffix(f"/{TUNED}") for system in cells if system.endswith(f"/{TUNED}")]
    if not models:
        return []
    what = "the seven sets' average" if where == AVERAGE else "STS-B"
    text = f"Similarity after tuning on entailment ({what}, Spearman × 100): "
    text += (
        ", ".join(f"{code(model)} {cells[f'{model}/{TUNED}'].text(hundredfold)}" for model in models) + "."
    )
    for other, words in (
        (BEFORE, "what the same model has untuned"),
        (RANDOM, "the same tuning of random weights"),
    ):
        pairs = {
            model: apart(cells[f"{model}/{TUNED}"].bounds, cells[f"{model}/{other}"].bounds)
            for model in models
            if f"{model}/{other}" in cells
        }
        for side, verdict in ((1, "above"), (-1, "below")):
            shown = [model for model, found in pairs.items() if found == side]
            text += f" Shown {verdict} {words}: {named(shown)}." if shown else ""
    return [text]
