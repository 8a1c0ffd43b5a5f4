"""How long the trainings and the stages of the run took, and on what."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from quartet.report.cells import Cell
from quartet.report.numbers import NONE, count, points
from quartet.report.run_report import Report, code, grid, plain

TABLE = "duration"
#: Rows of a training are of the split ``train/seed-1``; those of a whole stage instance of this one.
TRAINING, WHOLE = "train/", "total"
#: The parts of a stage instance's time.
PARTS = {WHOLE: "own work", "start-up": "start-up", "mlflow": "MLflow", "dvc": "DVC"}
SECONDS, SPEED = "seconds", "tokens-per-second"


def block(report: Report) -> list[str]:
    """A row a training with what it ran on, then where the time of each stage went."""
    cells = {place: cell for place in report.cells.places(TABLE) if (cell := report.cells.take(place))}
    stages: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    every: defaultdict[str, float] = defaultdict(float)
    instances: Counter[str] = Counter()
    trainings: list[tuple[str, str, Cell, Cell | None]] = []
    for place, cell in cells.items():
        if place.metric != SECONDS:
            continue
        if place.split in PARTS:
            stages[place.system][place.split] += cell.value
            every[place.split] += cell.value
            instances[place.system] += place.split == WHOLE
        elif place.split.startswith(TRAINING):
            speed = cells.get(place._replace(metric=SPEED))
            trainings.append((place.dataset, place.split.removeprefix(TRAINING), cell, speed))
    order = {name: rank for rank, name in enumerate(report.sorted({name for name, *_ in trainings}))}
    trained = [
        [
            code(name),
            training,
            plain(cell.rows[0].device),
            points(cell.value),
            NONE if speed is None else count(speed.value),
        ]
        for name, training, cell, speed in sorted(trainings, key=lambda one: (order[one[0]], one[1]))
    ]
    ran = [
        [code(name), count(instances[name]), *_parts(each)]
        for name, each in sorted(stages.items(), key=lambda item: -sum(item[1].values()))
    ]
    if len(ran) > 1:
        ran.append(["all", count(instances.total()), *_parts(every)])
    lines: list[str] = []
    if trained:
        lines += ["Trainings:", ""]
        lines += grid(["model", "training", "device", "seconds", "tokens a second"], trained)
    if ran:
        lines += [
            "Where the time went, in seconds, all instances of a stage together. Start-up is from the start of the "
            "process to that of its work: imports, settings, and for what takes minutes opening MLflow. MLflow is "
            "what it is told after the work. DVC is from the end of the stage before, or from DVC's own start, to the "
            "start of the process. Of stages that ran side by side the sum is longer than the clock's time.",
            "",
        ]
        lines += grid(["stage", "instances", *PARTS.values()], ran)
    return lines


def _parts(took: Mapping[str, float]) -> list[str]:
    """The cells of a stage; parts that were not kept are left open."""
    return [points(took[part]) if part in took else NONE for part in PARTS]


def findings(report: Report) -> list[str]:
    """What the trainings ran on and how long they took together."""
    rows = [
        cell.rows[0]
        for place in report.cells.places(TABLE)
        if place.metric == SECONDS
        and place.split.startswith(TRAINING)
        and place.system == "pretrain"
        and (cell := report.cells.find(place))
    ]
    if not rows:
        return []
    devices = Counter(row.device for row in rows)
    where = "; ".join(f"{number} on {plain(device)}" for device, number in sorted(devices.items()))
    return [f"Trainings of language models: {where}; {count(sum(row.value for row in rows))} seconds in all."]
