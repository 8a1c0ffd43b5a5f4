"""What the trainings of params.yaml will cost, before they are run; and which stages the next run will run.

    python -m pipeline.plan [--device cuda] [--devices 8] [--peak 989e12] [--utilisation 0.4] [--json]
    python -m pipeline.plan --changes [--json]

The hours are FLOPs / (devices x peak x utilisation): N devices are taken to be N times as fast as one.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from pipeline import side_by_side
from pipeline.durations import Duration, altogether, durations, in_words, noted
from pipeline.layout import MANIFEST, TOKENIZER, Layout
from pipeline.params import Params
from pipeline.run import choose_device, main
from pipeline.settings import read_params
from pipeline.stages import STAGES, instances
from quartet.errors import InputError
from quartet.runtime.peak import matrix_product_peak
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training import cost
from quartet.training.distributed import Machine

#: The share of the peak where no training of these settings has been measured: an assumption.
ASSUMED = 0.3
TRAINING = "pretrain"
#: Reasons that are shown of a stage.
SHOWN = 3


@dataclass(frozen=True)
class TrainingSpeed:
    """How fast trainings are taken to be.

    Attributes:
        peak: floating-point operations a second of one device at best.
        utilisation: the share of it that is model's own work on real tokens.
        source: where the utilisation comes from.
    """

    peak: float
    utilisation: float
    source: str


@dataclass(frozen=True)
class TrainingCost:
    """What the training of one model needs, all seeds together.

    Attributes:
        tokens: real tokens read in training.
        tokens_from: ``corpus``, or ``full inputs`` where that is not encoded yet.
        flops: of training and validations.
        bytes: of one device, by what they are for.
        rows: inputs that a device computes at once.
    """

    model: str
    seeds: int
    parameters: int
    tokens: float
    tokens_from: str
    flops: float
    bytes: dict[str, float]
    rows: int
    speed: TrainingSpeed
    hours: float


def utilisations(layout: Layout, name: str) -> list[tuple[float, float]]:
    """(utilisation, peak of one device) of each seed of a model's last training."""
    return [
        (
            row["measures"]["flops-utilisation"],
            row["measures"]["peak-flops-per-second"] / row["measures"].get("devices", 1),
        )
        for row in noted(layout, TRAINING, name)
        if row.get("measures")
    ]


def speed_of(
    params: Params, layout: Layout, name: str, device: str, peak: float | None, utilisation: float | None
) -> TrainingSpeed:
    """What the options say; else what this model's last training had, or the others' median, or an assumption."""
    own = utilisations(layout, name)
    others = [found for other in params.models for found in utilisations(layout, other)]
    known = own or others
    if peak is None:
        peak = (
            statistics.median(found for _, found in own)
            if own
            else _peak_here(device, params.models[name].training.precision)
        )
    if utilisation is not None:
        return TrainingSpeed(peak, utilisation, "given")
    if not known:
        return TrainingSpeed(peak, ASSUMED, "assumed")
    return TrainingSpeed(
        peak, statistics.median(found for found, _ in known), "measured" if own else "other models"
    )


@cache
def _peak_here(device: str, precision: str) -> float:
    chosen = choose_device(device)
    return matrix_product_peak(chosen, "bf16" if chosen == "cpu" and precision == "fp16" else precision)


def remarks(params: Params, device: str) -> list[str]:
    """What would train faster here in another precision: not every processor multiplies bfloat16, some imitate it."""
    names = [name for name, model in params.models.items() if model.training.precision == "bf16"]
    if not names or choose_device(device) != "cpu":
        return []
    bf16, fp32 = _peak_here("cpu", "bf16"), _peak_here("cpu", "fp32")
    if bf16 >= fp32:
        return []
    return [
        f"training.precision is bf16 in {', '.join(names)}: this processor multiplies bf16 at {bf16:.3g} FLOP/s and "
        f"fp32 at {fp32:.3g}, so that fp32 trains faster here"
    ]


def plan(params: Params, layout: Layout, name: str, machine: Machine, speed: TrainingSpeed) -> TrainingCost:
    """The cost of one entry of ``models:``.

    Raises:
        InputError: its vocabulary is not known before its tokenizer is made.
    """
    model = params.models[name]
    config, training = model.config, model.training
    path = layout.tokenizer(model.tokenizer) / TOKENIZER
    tokenizer = TextTokenizer.load(path) if path.is_file() else None
    vocabulary = params.tokenizers[model.tokenizer].vocab_size if tokenizer is None else tokenizer.vocab_size
    if vocabulary is None:
        raise InputError(
            path, "is not there, and says how large the model is", f"dvc repro tokenizer@{model.tokenizer}"
        )
    encoded = layout.encoded(model.corpus, model.tokenizer)
    corpus = None
    if tokenizer is not None and (encoded / MANIFEST).is_file():
        corpus = (tokenizer, EncodedCorpus.open(encoded, "train"), EncodedCorpus.open(encoded, "valid"))
    read, validated = cost.read_counts(config, training, vocabulary, corpus)
    seeds = len(params.seeds)
    flops = seeds * (read.flops(config, vocabulary) + cost.validation_flops(validated, config, vocabulary))
    rows = -(-training.batch_size // (machine.processes * machine.rounds(training.accumulate)))
    shares = machine.processes if machine.strategy == "fsdp" else 1
    needed = cost.memory(config, training, vocabulary, rows, shares)
    return TrainingCost(
        model=name,
        seeds=seeds,
        parameters=cost.parameters(config, vocabulary),
        tokens=seeds * read.tokens,
        tokens_from="full inputs" if corpus is None else "corpus",
        flops=flops,
        bytes={**asdict(needed), "total": needed.total},
        rows=rows,
        speed=speed,
        hours=flops / (machine.processes * speed.peak * speed.utilisation) / 3600,
    )


def _names(params: Params) -> list[str]:
    """Every stage instance as DVC calls it."""
    return [f"{stage}@{variant}" if variant else stage for stage, variant in instances(params)]


def other_stages(params: Params, known: Mapping[str, Duration]) -> list[dict[str, Any]]:
    """For each other stage of the settings its instances, how many were measured, and their hours (None: none was)."""
    found = []
    for stage in STAGES:
        names = [name for name in _names(params) if name.partition("@")[0] == stage]
        if stage == TRAINING or not names:
            continue
        seconds = [known[name].seconds for name in names if name in known]
        hours = sum(seconds) / 3600 if seconds else None
        found.append({"stage": stage, "instances": len(names), "measured": len(seconds), "hours": hours})
    return found


def whole(plans: list[TrainingCost], known: Mapping[str, Duration]) -> dict[str, Duration]:
    """What the whole pipeline is taken to take.

    A training takes what its tokens cost; where they are not known yet, what it took before, where that is known.
    """
    found = dict(known)
    for each in plans:
        name = f"{TRAINING}@{each.model}"
        if each.tokens_from == "corpus" or name not in known:
            source = f"operations of trainings at {each.speed.source} speed"
            bound = "" if each.tokens_from == "corpus" else " on full inputs, an upper bound"
            found[name] = Duration(3600 * each.hours, source + bound)
    return found


def tables(plans: list[TrainingCost], others: list[dict[str, Any]], machine: Machine) -> list[Table]:
    """What a terminal shows: the trainings with their sum, and the other stages."""
    trainings = Table(title=f"Trainings{machine.in_words or ' on one device'}")
    for heading in (
        "model",
        "parameters",
        "tokens",
        "FLOPs",
        "GB a device",
        "of which activations",
        "utilisation",
        "time",
    ):
        trainings.add_column(heading, justify="left" if heading == "model" else "right")
    for each in plans:
        trainings.add_row(
            each.model,
            f"{each.parameters:,}",
            f"{'' if each.tokens_from == 'corpus' else 'at most '}{each.tokens:.3g}",
            f"{'' if each.tokens_from == 'corpus' else 'at most '}{each.flops:.3g}",
            f"{each.bytes['total'] / 1e9:.3g}",
            f"{each.bytes['activations'] / 1e9:.3g} ({each.rows} rows)",
            f"{each.speed.utilisation:.2f} of {each.speed.peak:.3g} ({each.speed.source})",
            f"{'' if each.tokens_from == 'corpus' else 'at most '}{in_words(each.hours)}",
        )
    total = [sum(getattr(each, key) for each in plans) for key in ("tokens", "flops", "hours")]
    bound = "" if all(each.tokens_from == "corpus" for each in plans) else "at most "
    trainings.add_section()
    trainings.add_row(
        *("all", "", f"{bound}{total[0]:.3g}", f"{bound}{total[1]:.3g}", "", "", ""),
        bound + in_words(total[2]),
    )
    rest = Table(title="Other stages, as they took last")
    for heading in ("stage", "instances", "measured", "time"):
        rest.add_column(heading, justify="left" if heading == "stage" else "right")
    for row in others:
        taken = "not measured" if row["hours"] is None else in_words(row["hours"])
        rest.add_row(row["stage"], str(row["instances"]), str(row["measured"]), taken)
    return [trainings, rest]


def show_changes(params: Params, layout: Layout, console: Console, as_json: bool) -> None:
    """Print which stages the next run will run, and why: see :mod:`pipeline.changes`."""
    from pipeline.changes import CACHED, changes  # DVC, which takes a second to import

    found, known = changes(), durations(params, layout)
    if as_json:
        rows = [
            {**asdict(one), "seconds": known[one.stage].seconds if one.stage in known else None}
            for one in found
        ]
        print(json.dumps(rows, indent=2))
        return
    if not found:
        console.print("everything is up to date")
        return
    table = Table(title="What the next run will do")
    for heading in ("stage", "", "because of", "took last"):
        table.add_column(heading, justify="right" if heading == "took last" else "left")
    for one in found:
        why = ", ".join(one.reasons[:SHOWN]) + f" and {len(one.reasons) - SHOWN} more" * (
            len(one.reasons) > SHOWN
        )
        took = in_words(known[one.stage].seconds / 3600) if one.stage in known else ""
        table.add_row(one.stage, one.outcome, why, took)
    console.print(table)
    run = [one for one in found if one.outcome != CACHED]
    console.print(altogether((one.stage for one in run), known, side_by_side.jobs(params)))
    console.print(
        f"their outputs were {sum(one.size for one in run) / 1e6:,.0f} MB: about as much is new on the disk"
    )


def command(
    device: Annotated[str, typer.Option(help="auto, cpu or cuda: what measures the peak, if need be.")] = "",
    devices: Annotated[int, typer.Option(min=0, help="How many; 0: those of trainer:.")] = 0,
    peak: Annotated[
        float | None, typer.Option(help="FLOP/s of one device, in the training's precision.")
    ] = None,
    utilisation: Annotated[float | None, typer.Option(min=0.001, max=1.0, help="Share of the peak.")] = None,
    changed: Annotated[
        bool, typer.Option("--changes", help="Which stages the next run will run, and why.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead.")] = False,
) -> None:
    """Print parameters, tokens, FLOPs, memory and hours of every training in params.yaml, or what a run will do."""

    def plan_all() -> None:
        params = read_params()
        layout = Layout(params.experiment)
        console = Console(width=None if sys.stdout.isatty() else 160)
        if changed:
            show_changes(params, layout, console, as_json)
            return
        machine = Machine(params.trainer.strategy, params.trainer.devices, params.trainer.nodes)
        if devices:
            machine = Machine(params.trainer.strategy, devices)
        plans = [
            plan(
                *(params, layout, name, machine),
                speed_of(params, layout, name, device or params.device, peak, utilisation),
            )
            for name in params.models
        ]
        known = durations(params, layout)
        others = other_stages(params, known)
        notes = [] if peak else remarks(params, device or params.device)
        if as_json:
            hours = sum(each.hours for each in plans)
            found = {
                "devices": machine.processes,
                "trainings": [asdict(each) for each in plans],
                "hours": hours,
            }
            print(json.dumps({**found, "other_stages": others, "remarks": notes}, indent=2))
            return
        for table in tables(plans, others, machine):
            console.print(table)
        if not (devices or peak or utilisation):  # it is of this machine
            console.print(altogether(_names(params), whole(plans, known), side_by_side.jobs(params)))
        for note in notes:
            console.print(note)

    main(plan_all, [])


if __name__ == "__main__":
    typer.run(command)
