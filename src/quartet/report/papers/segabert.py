"""Our figures beside the pre-trained models of the Segatron paper (Bai et al. 2021): Tables 3 to 7, Figures 5 to 8."""

from __future__ import annotations

from quartet.report.numbers import points, signed_points
from quartet.report.papers.series import Series, present
from quartet.report.published import published_figures
from quartet.report.run_report import Report, code
from quartet.report.spec import AverageSpec, sections
from quartet.results import system_name
from quartet.tasks.nli.metrics import AVERAGE, SEVEN

PLAIN, AWARE = "bert-", "segabert"
GLUE, LIKENESS, SQUAD, RACE, ATTENTION = "glue", "sts", "squad", "race", "attention"
#: The reading of a model that was tuned on entailment, and of attention spread evenly.
TUNED, UNIFORM = "nli", "uniform"
#: A metric that only version 2.0 of SQuAD has.
SECOND = "noans"
#: What is compared of attention.
LOOKS = {"own-paragraph": "own paragraph", "own-sentence": "own sentence"}
#: How the paper calls our sets.
HEADS = {**{name: f"STS-{name[3:]}" for name in SEVEN}, "stsb": "STS-B", "sick": "SICK-R"}
#: The published rows beside our two models: of the same names, or where the paper has large models alone.
SAME = {PLAIN: PLAIN, AWARE: AWARE}
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
    spec = next(part for part in sections()[GLUE].body if isinstance(part, AverageSpec))
    name = spec.papers[split]
    columns = published_figures().tables[name].columns
    found = []
    for known, column in zip(spec.average, columns, strict=False):
        for dataset in report.datasets(GLUE):
            if dataset.partition("-")[0] == known.dataset:
                place = GLUE, dataset, f"{split}{known.part}", known.metric
                on = f"{code(dataset)} {split}, {known.words} × 100"
                printed = name, column, f"{known.head} {split}"
                found.append(_series(report, place, on, printed, same=dataset == known.dataset))
    return [series for series in found if series.ours]


def siamese(report: Report) -> list[Series]:
    """Table 5: the average of the seven sets where it is there, then each set."""
    found = []
    for dataset, column, metric in (
        (AVERAGE, "average", "spearman-mean"),
        *((name, name, "spearman") for name in SEVEN),
    ):
        on = "the seven sets' average" if dataset == AVERAGE else f"{code(dataset)} test"
        place = LIKENESS, dataset, "test", metric
        printed = "segatron-sts", column, f"{HEADS.get(column, column)} (large models)"
        found.append(_series(report, place, f"{on}, Spearman × 100", printed, SIAMESE, True, TUNED))
    return [series for series in found if series.ours]


def questions(report: Report) -> list[Series]:
    """Table 6."""
    found = []
    for dataset, split in report.groups(SQUAD):
        version = "v2.0" if report.figures(SQUAD, dataset, split, SECOND) else "v1.1"
        for metric, head in (("f1", "F1"), ("em", "EM")):
            place = SQUAD, dataset, split, metric
            printed = "segatron-squad", f"{version}-{metric}", f"SQuAD {version} dev, {head}"
            on = f"{code(dataset)} {split}, {head} in %"
            found.append(_series(report, place, on, printed, same="-" not in dataset))
    return [series for series in found if series.ours]


def choices(report: Report) -> list[Series]:
    """Table 7."""
    found = []
    for split in ("test", "dev"):
        printed = "segatron-race", split, f"RACE {split} (large models)"
        on = f"{code('race')} {split}, accuracy in %"
        found.append(_series(report, (RACE, "race", split, "accuracy"), on, printed, LARGE, True))
    return [series for series in found if series.ours]


def looks(report: Report) -> list[Series]:
    """Figures 5 to 8: the share of attention that stays in a token's own paragraph and sentence, by layer."""
    found = []
    for dataset, split in report.groups(ATTENTION):
        layers = {report.reading(system) for system in report.systems(ATTENTION, dataset, split, LOOKS)}
        for layer in sorted(layers - {UNIFORM}, key=lambda layer: (len(layer), layer)):
            for metric, words in LOOKS.items():
                on = f"{code(dataset)}, {layer.replace('-', ' ')}, {words}, %"
                found.append(_series(report, (ATTENTION, dataset, split, metric), on, reading=layer))
    return [series for series in found if len(series.ours) > 1]


def _series(
    report: Report,
    place: tuple[str, str, str, str],
    ours_on: str,
    printed: tuple[str, str, str] | None = None,
    rows: dict[str, str] = SAME,
    same: bool = False,
    reading: str = "",
) -> Series:
    """Our two models by one reading, beside the rows of a printed column.

    Args:
        place: table, set, split and metric.
        printed: the published table, its column, and how both are named.
    """
    table, dataset, split, metric = place
    name, column, printed_on = printed or ("", "", "")
    theirs = (
        (model, published_figures().tables[name].get(row, column)) for model, row in rows.items() if name
    )
    return Series(
        ours_on=ours_on,
        printed_on=printed_on,
        ours=present(
            (model, report.find(table, dataset, split, system_name(model, reading), metric)) for model in rows
        ),
        printed={model: value for model, value in theirs if value is not None},
        number=points,
        signed=signed_points,
        factor=100,
        same=same,
    )
