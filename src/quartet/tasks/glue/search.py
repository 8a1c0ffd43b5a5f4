"""The search of a task's grid: every training once, kept as a small file, and the best choice on dev."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low

import numpy as np

from quartet.config.finetuning import GlueProtocol, GridPoint, GridTraining, HyperparameterGrid
from quartet.data.batch import Row
from quartet.data.pairs import PairInput, pair_inputs
from quartet.errors import InputError
from quartet.files import read_json, write_json
from quartet.scoring.language_model import LanguageModel
from quartet.statistics.intervals import Floats
from quartet.tasks.glue import tuning
from quartet.tasks.glue.data import TASKS, GlueExample, GlueSet
from quartet.tasks.glue.metrics import gold_of, overall
from quartet.tasks.glue.tuning import LabelledRow, Predictions, fine_tune
from quartet.training.tuned_weights import tuning_code
from quartet.training.tuning import TuningSettings


@dataclass(frozen=True)
class GridSearchResult:
    """What a search found.

    Attributes:
        point: the choice whose median over the seeds is highest on dev; of equal ones the first.
        scores: by choice and seed, the mean of the task's metrics on dev; minus infinity where one is undefined.
        predictions: of `point`, by seed and split, as :mod:`quartet.tasks.glue.metrics` has them.
        cut: by split, train included, the inputs that lost tokens.
        seconds: that all trainings took, with those that an earlier run of the search had done.
        devices: what computed them, in words, in the order in which they came.
    """

    point: GridPoint
    scores: dict[GridPoint, dict[int, float]]
    predictions: dict[int, dict[str, Floats]]
    cut: dict[str, int]
    seconds: float
    devices: tuple[str, ...]

    @property
    def middle(self) -> int:
        """The seed whose score at `point` is the median; of an even number the lower of the two in the middle."""
        at_point = self.scores[self.point]
        wanted = median_low(at_point.values())
        return next(seed for seed, score in at_point.items() if score == wanted)


def search(
    model: LanguageModel,
    examples: GlueSet,
    grid: HyperparameterGrid,
    protocol: GlueProtocol,
    keep: Path,
    advance: Callable[[], object] = lambda: None,
    device: str = "not noted",
) -> GridSearchResult:
    """Fine-tune the model with every choice and seed, and choose on dev.

    Args:
        keep: a folder of finished trainings, one file each, which are not done again. Its name must tell apart what
            decides them: see `fingerprint`.
        advance: called after each training, done now or found in `keep`.
        device: what computes, in words; it is kept with each training that is done now.

    Raises:
        InputError: the model reads streams, `max_length` is over the model's, or a training diverged.
    """
    task = TASKS[examples.format]
    encoded = {split: _encode(model, part, protocol) for split, part in _all(examples).items()}
    gold = {split: gold_of(task, part) for split, part in _all(examples).items() if part[0].labelled}
    train: list[LabelledRow] = [
        (one.row, value) for one, value in zip(encoded["train"], gold["train"].tolist(), strict=True)
    ]
    others = {split: [one.row for one in inputs] for split, inputs in encoded.items() if split != "train"}
    scores: dict[GridPoint, dict[int, float]] = {}
    found: dict[tuple[GridPoint, int], dict[str, Floats]] = {}
    seconds = 0.0
    devices: list[str] = []
    for plan in grid.plans(protocol.own_schedule):
        for seed in protocol.seeds:
            (took, by), kept = _kept(
                model, len(task.labels), train, others, plan, seed, protocol, keep, device
            )
            seconds += took
            devices.append(by)
            for point in plan.points:
                predictions = {
                    split: np.array(values, dtype=np.float64) for split, values in kept[point.epochs].items()
                }
                found[point, seed] = predictions
                scores.setdefault(point, {})[seed] = overall(
                    task, gold[examples.dev], predictions[examples.dev]
                )
            advance()
    best = max(scores, key=lambda point: median_low(scores[point].values()))
    return GridSearchResult(
        best,
        scores,
        {seed: found[best, seed] for seed in protocol.seeds},
        {split: sum(one.cut > 0 for one in inputs) for split, inputs in encoded.items()},
        seconds,
        tuple(dict.fromkeys(devices)),
    )


def fingerprint(model: LanguageModel, examples: GlueSet) -> str:
    """A name for the trainings of one task: equal only where model, examples and code are.

    Settings are named by :class:`quartet.training.tuned_weights.KeptTunings`, but for seeds and the grid: each training
    has a file of its own.
    """
    task = TASKS[examples.format]
    code = tuning_code(__name__, tuning.__name__)
    decisive = [model.fingerprint, examples.format, repr(task.labels), code]
    parts = hashlib.sha256("\n".join(decisive).encode())
    for split, part in _all(examples).items():
        parts.update(split.encode())
        if part and part[0].labelled:
            parts.update(repr(gold_of(task, part).tolist()).encode())
        for example in part:
            parts.update(repr(example).encode())
    return parts.hexdigest()[:16]


def _all(examples: GlueSet) -> dict[str, list[GlueExample]]:
    return {"train": examples.train, **examples.others}


def _encode(model: LanguageModel, part: Sequence[GlueExample], protocol: GlueProtocol) -> list[PairInput]:
    config = model.card.model
    if config.reads == "streams":
        raise InputError(model.name, "reads streams: fine-tuning on GLUE is for sentences and spans")
    if protocol.max_length > config.max_length:
        raise InputError(
            "glue.max_length",
            f"{protocol.max_length} tokens are more than the {config.max_length} that {model.name} reads",
        )
    seconds = [example.second for example in part if example.second is not None]
    return pair_inputs(
        model.tokenizer,
        config.reads,
        [example.first for example in part],
        seconds or None,
        protocol.max_length or config.max_length,
    )


def _kept(
    model: LanguageModel,
    labels: int,
    train: Sequence[LabelledRow],
    others: Mapping[str, Sequence[Row]],
    plan: GridTraining,
    seed: int,
    protocol: GlueProtocol,
    keep: Path,
    device: str,
) -> tuple[tuple[float, str], Predictions]:
    """The seconds, the device and the predictions of a training, from its file or done now."""
    path = keep / f"{plan.batch_size}-{plan.learning_rate:g}-{plan.epochs}.seed-{seed}.json"
    if path.is_file():
        content = read_json(path)
        known: Predictions = {int(epochs): splits for epochs, splits in content["epochs"].items()}
        if set(plan.read_after) <= set(known):
            return (content["seconds"], content["device"]), known
    started = time.perf_counter()
    settings = TuningSettings(plan.epochs, plan.batch_size, plan.learning_rate, protocol.warmup, seed)
    found = fine_tune(model, labels, train, others, settings, protocol.pooling, plan.read_after)
    seconds = round(time.perf_counter() - started, 3)
    epochs = {str(epochs): splits for epochs, splits in found.items()}
    write_json(path, {"seconds": seconds, "device": device, "epochs": epochs})
    return (seconds, device), found
