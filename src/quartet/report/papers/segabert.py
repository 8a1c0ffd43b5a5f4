"""Our figures beside the pre-trained models of the Segatron paper (Bai et al. 2021): Tables 3 to 7, Figures 5 to 8."""

from __future__ import annotations

from quartet.report.blocks import glue_table
from quartet.report.cells import Cell
from quartet.report.numbers import fixed
from quartet.report.papers.series import Series, present
from quartet.report.published import published_figures
from quartet.report.run_report import Report, code
from quartet.results import system_name
from quartet.tasks.nli.metrics import AVERAGE, SEVEN

PLAIN, AWARE = "bert-", "segabert"
LIKENESS, SQUAD, RACE, ATTENTION = "sts", "squad", "race", "attention"
#: The reading of a model that was tuned on entailment, and of attention spread evenly.
TUNED, UNIFORM = "nli", "uniform"
#: A metric that only version 2.0 of SQuAD has.
SECOND = "noans"
#: What is compared of attention.
LOOKS = {"own-paragraph": "own paragraph", "own-sentence": "own sentence"}
#: How the paper calls our sets.
HEADS = {**{name: f"STS-{name[3:]}" for name in SEVEN}, "stsb": "STS-B", "sick": "SICK-R"}
points = fixed(1)
signed_points = fixed(1, sign=True)
#: The published rows beside our two models where the paper has large models alone.
LARGE = {PLAIN: "bert-large", AWARE: "segabert-large"}
SIAMESE = {PLAIN: "s-bert-large-rerun", AWARE: "s-segabert-large"}


def glue_dev(report: Report) -> list[Series]:
    """Table 3."""
    return _glue(report, "dev")


def glue_test(report: Report) -> list[Series]:
    """Table 4."""
    return _glue(report, "test")


def _glue(report: Report, split: str) -> list[Series]:
    """The metric of the paper's average on each set, and on each part of one."""
    table = published_figures().tables[glue_table.PAPERS[split]]
    found = []
    for (head, name, part, metric), column in zip(glue_table.COLUMNS, table.columns, strict=False):
        for dataset in report.datasets(glue_table.TABLE):
            if dataset.partition("-")[0] == name:
                ours = _two(report, glue_table.TABLE, dataset, f"{split}{part}", metric)
                on = f"{code(dataset)} {split}, {glue_table.METRICS[metric]} × 100"
                printed = _printed(table.get(PLAIN, column), table.get(AWARE, column))
                found.append(_series(on, f"{head} {split}", ours, printed, dataset == name))
    return [series for series in found if series.ours]


def siamese(report: Report) -> list[Series]:
    """Table 5: the average of the seven sets where it is there, then each set."""
    table = published_figures().tables["segatron-sts"]
    found = []
    for dataset, column, metric in (
        (AVERAGE, "average", "spearman-mean"),
        *((name, name, "spearman") for name in SEVEN),
    ):
        ours = present(
            (model, report.find(LIKENESS, dataset, "test", system_name(model, TUNED), metric))
            for model in SIAMESE
        )
        printed = _printed(*(table.get(row, column) for row in SIAMESE.values()))
        on = "the seven sets' average" if dataset == AVERAGE else f"{code(dataset)} test"
        on += ", Spearman × 100"
        found.append(_series(on, f"{HEADS.get(column, column)} (large models)", ours, printed, True))
    return [series for series in found if series.ours]


def questions(report: Report) -> list[Series]:
    """Table 6."""
    table = published_figures().tables["segatron-squad"]
    found = []
    for dataset, split in report.groups(SQUAD):
        second = bool(report.figures(SQUAD, dataset, split, SECOND))
        version = "v2.0" if second else "v1.1"
        for metric, head in (("f1", "F1"), ("em", "EM")):
            ours = _two(report, SQUAD, dataset, split, metric)
            column = f"{version}-{metric}"
            printed = _printed(table.get(PLAIN, column), table.get(AWARE, column))
            on = f"{code(dataset)} {split}, {head} in %"
            found.append(_series(on, f"SQuAD {version} dev, {head}", ours, printed, "-" not in dataset))
    return [series for series in found if series.ours]


def choices(report: Report) -> list[Series]:
    """Table 7."""
    table = published_figures().tables["segatron-race"]
    found = []
    for split in ("test", "dev"):
        ours = _two(report, RACE, "race", split, "accuracy")
        printed = _printed(*(table.get(row, split) for row in LARGE.values()))
        found.append(
            _series(
                f"{code('race')} {split}, accuracy in %", f"RACE {split} (large models)", ours, printed, True
            )
        )
    return [series for series in found if series.ours]


def looks(report: Report) -> list[Series]:
    """Figures 5 to 8: the share of attention that stays in a token's own paragraph and sentence, by layer."""
    found = []
    for dataset, split in report.groups(ATTENTION):
        layers = {report.reading(system) for system in report.systems(ATTENTION, dataset, split, LOOKS)}
        for layer in sorted(layers - {UNIFORM}, key=lambda layer: (len(layer), layer)):
            for metric, words in LOOKS.items():
                ours = present(
                    (model, report.find(ATTENTION, dataset, split, system_name(model, layer), metric))
                    for model in (PLAIN, AWARE)
                )
                on = f"{code(dataset)}, {layer.replace('-', ' ')}, {words}, %"
                found.append(_series(on, "", ours, {}, False))
    return [series for series in found if len(series.ours) > 1]


def _two(report: Report, table: str, dataset: str, split: str, metric: str) -> dict[str, Cell]:
    return present((model, report.find(table, dataset, split, model, metric)) for model in (PLAIN, AWARE))


def _printed(plain: float | None, aware: float | None) -> dict[str, float]:
    return {row: value for row, value in ((PLAIN, plain), (AWARE, aware)) if value is not None}


def _series(
    ours_on: str, printed_on: str, ours: dict[str, Cell], printed: dict[str, float], same: bool
) -> Series:
    return Series(
        ours_on=ours_on,
        printed_on=printed_on,
        ours=ours,
        printed=printed,
        number=points,
        signed=signed_points,
        factor=100,
        same=same,
    )
