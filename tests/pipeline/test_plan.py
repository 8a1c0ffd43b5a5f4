"""The plan of params.yaml: its numbers hang together, and its speed is the best that is known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pipeline import plan as planning
from pipeline.durations import HERE, Duration, altogether, durations, in_words
from pipeline.layout import TOKENIZER, Layout
from pipeline.params import Params
from pipeline.plan import ASSUMED, TrainingSpeed, other_stages, plan, speed_of, tables, whole
from pipeline.settings import read_params
from quartet.files import write_jsonl
from quartet.results import EvaluatedSystem, Measure, write_results
from quartet.training import cost
from quartet.training.distributed import Machine
from tests.small_corpus import encode_small

SPEED = TrainingSpeed(1e9, 0.5, "given")


@pytest.fixture
def settings(workspace: Path) -> tuple[Params, Layout]:
    params = read_params()
    return params, Layout(params.experiment)


def leave(layout: Layout, stage: str, variant: str, **measures: Any) -> None:
    """What a run leaves beside its artifacts."""
    row = {"name": "train/seed-1" if measures else "total", "seconds": 36.0, "content": ""}
    write_jsonl(layout.timing(stage, variant), [{**row, "measures": measures}] if measures else [row])


def test_devices_divide_the_hours_and_a_batchs_rows(settings: tuple[Params, Layout]) -> None:
    params, layout = settings
    one, four, sharded = (
        plan(params, layout, "tta", machine, SPEED)
        for machine in (Machine(), Machine("ddp", 4), Machine("fsdp", 4))
    )
    assert one.hours == pytest.approx(one.flops / 5e8 / 3600) == pytest.approx(4 * four.hours)
    assert (one.rows, four.rows) == (8, 2)
    assert one.bytes["activations"] > four.bytes["activations"] == sharded.bytes["activations"]
    assert one.bytes["weights"] == four.bytes["weights"] == 4 * sharded.bytes["weights"] == 4 * one.parameters
    assert one.tokens_from == "full inputs" and one.tokens == 30 * 8 * 64


def test_seeds_add_up_and_the_last_rows_are_a_part_of_their_own(settings: tuple[Params, Layout]) -> None:
    params, layout = settings
    one = plan(params, layout, "tta", Machine(), SPEED)
    three = plan(replace(params, seeds=[1, 2, 3]), layout, "tta", Machine("ddp", 3), SPEED)
    assert (three.seeds, three.rows) == (3, 3), "8 rows are 3, 3 and 2"
    assert (three.tokens, three.flops) == pytest.approx((3 * one.tokens, 3 * one.flops))
    assert three.hours == pytest.approx(one.hours)


def test_of_an_encoded_corpus_what_its_batches_hold_is_counted(settings: tuple[Params, Layout]) -> None:
    params, layout = settings
    model = params.models["tta"]
    tokenizer, splits = encode_small(layout.artifacts / "made")
    folders = layout.tokenizer(model.tokenizer), layout.encoded(model.corpus, model.tokenizer)
    for folder in folders:
        folder.parent.mkdir(parents=True)
    folders[0].mkdir()
    tokenizer.save(folders[0] / TOKENIZER)
    (layout.artifacts / "made" / "encoded").rename(folders[1])
    corpus = tokenizer, splits["train"], splits["valid"]
    read, validated = cost.read_counts(model.config, model.training, tokenizer.vocab_size, corpus)
    found = plan(params, layout, "tta", Machine(), SPEED)
    assert (found.tokens_from, found.tokens) == ("corpus", read.tokens)
    flops = read.flops(model.config, tokenizer.vocab_size)
    assert found.flops == flops + cost.validation_flops(validated, model.config, tokenizer.vocab_size)
    assert found.parameters == cost.parameters(model.config, tokenizer.vocab_size)


def test_the_speed_is_the_best_that_is_known(settings: tuple[Params, Layout]) -> None:
    params, layout = settings

    def known(peak: float | None = 1e12, utilisation: float | None = None) -> TrainingSpeed:
        return speed_of(params, layout, "tta", "cpu", peak, utilisation)

    assert known() == TrainingSpeed(1e12, ASSUMED, "assumed")
    leave(layout, "pretrain", "segatron-xl", **{"flops-utilisation": 0.2, "peak-flops-per-second": 4e9})
    assert known() == TrainingSpeed(1e12, 0.2, "other models")
    leave(layout, "pretrain", "tta", **{"flops-utilisation": 0.1, "peak-flops-per-second": 4e9, "devices": 2})
    assert known() == TrainingSpeed(1e12, 0.1, "measured")
    assert known(peak=None) == TrainingSpeed(2e9, 0.1, "measured"), "of one device"
    assert known(utilisation=0.4) == TrainingSpeed(1e12, 0.4, "given")


def test_other_stages_have_the_seconds_of_their_last_run(settings: tuple[Params, Layout]) -> None:
    params, layout = settings
    rows = [{"name": name, "seconds": 36.0, "content": ""} for name in ("documents", "total", "dvc")]
    write_jsonl(layout.timing("perplexity", "tta"), rows)
    known = durations(params, layout)
    found = {row["stage"]: row for row in other_stages(params, known)}
    assert "pretrain" not in found
    assert found["perplexity"] == {"stage": "perplexity", "instances": 2, "measured": 1, "hours": 0.02}
    assert found["segment"]["hours"] is None
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    for table in tables([plan(params, layout, "tta", Machine(), SPEED)], list(found.values()), Machine()):
        console.print(table)
    shown = console.export_text()
    assert "at most 1.54e+04" in shown and "not measured" in shown and "0.50 of 1e+09 (given)" in shown


def test_the_whole_is_what_stages_took_here_or_else_by_the_report(settings: tuple[Params, Layout]) -> None:
    """Operations on full inputs, an upper bound, count only where a training was never run."""
    params, layout = settings
    system = EvaluatedSystem("pretrain", "cpu (1 thread, its own)", "one run")
    rows = [
        *system.rows(
            {"seconds": Measure(50.0, 1)}, experiment="tiny", table="duration", dataset="tta", split="total"
        ),
        *system.rows(
            {"seconds": Measure(2.0, 1)}, experiment="tiny", table="duration", dataset="tta", split="dvc"
        ),
    ]
    write_results(layout.times / "timings.jsonl", rows)
    source = f"{layout.times / 'timings.jsonl'}: cpu (1 thread, its own)"
    assert durations(params, layout) == {"pretrain@tta": Duration(52.0, source)}
    plans = [plan(params, layout, name, Machine(), SPEED) for name in params.models]
    found = whole(plans, durations(params, layout))
    assert found["pretrain@tta"] == Duration(52.0, source)
    assert found["pretrain@segatron-xl"].seconds == pytest.approx(3600 * plans[1].hours)
    assert found["pretrain@segatron-xl"].source.endswith("an upper bound")
    leave(layout, "segment", "wikipedia-sample")
    assert durations(params, layout)["segment@wikipedia-sample"] == Duration(36.0, HERE)
    leave(layout, "pretrain", "tta")
    assert durations(params, layout)["pretrain@tta"] == Duration(36.0, HERE), "this machine's come first"
    said = altogether(["pretrain@tta", "segment@wikipedia-sample", "report"], durations(params, layout), 2)
    assert said == (
        "3 stages: 1.2 min one after another, at least 36 s 2 at once, by their last runs on this machine; "
        "of 1 of them no time is kept"
    )


@pytest.mark.parametrize(("bf16", "slower"), [(1e9, True), (9e9, False)])
def test_a_precision_that_the_processor_imitates_is_remarked_on(
    bf16: float, slower: bool, settings: tuple[Params, Layout], monkeypatch: pytest.MonkeyPatch
) -> None:
    params, _ = settings
    monkeypatch.setattr(planning, "_peak_here", lambda _, precision: {"bf16": bf16, "fp32": 4e9}[precision])
    assert planning.remarks(params, "cpu") == [], "all models are fp32"
    tta = params.models["tta"]
    bf16_tta = replace(tta, training=replace(tta.training, precision="bf16"))
    mixed = replace(params, models={**params.models, "tta": bf16_tta})
    found = planning.remarks(mixed, "cpu")
    assert len(found) == slower
    assert not found or found[0].startswith("training.precision is bf16 in tta: this processor multiplies")


def test_the_command_prints_json(settings: tuple[Params, Layout], capsys: pytest.CaptureFixture[str]) -> None:
    planning.command(devices=2, peak=1e12, utilisation=0.5, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["devices"] == 2
    assert [each["model"] for each in found["trainings"]] == ["tta", "segatron-xl"]
    assert found["hours"] == pytest.approx(sum(each["hours"] for each in found["trainings"]))
    assert found["trainings"][0]["speed"] == {"peak": 1e12, "utilisation": 0.5, "source": "given"}


def test_the_command_prints_tables_of_the_same(
    settings: tuple[Params, Layout], capsys: pytest.CaptureFixture[str]
) -> None:
    planning.command(devices=1, peak=1e12, utilisation=0.5, as_json=True)
    trainings = json.loads(capsys.readouterr().out)["trainings"]
    planning.command(devices=0, device="cpu", peak=1e12, utilisation=0.5, as_json=False)
    shown = capsys.readouterr().out
    for each in trainings:
        assert each["model"] in shown and in_words(each["hours"]) in shown


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0278, "0.0278 s"), (59, "59 s"), (90, "1.5 min"), (36000, "10 h"), (4e6, "1,111 h")],
)
def test_a_time_has_the_unit_that_suits_it(seconds: float, words: str) -> None:
    assert in_words(seconds / 3600) == words
