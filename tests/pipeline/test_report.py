"""What DVC shows of an experiment: few figures a system, and curves with names for their axes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from pipeline.report import dvc_metrics, input_lengths_plot, validation_plot, weights_plot, write_table
from pipeline.stages import STAGES
from quartet.config.loading import read_yaml
from tests.imports import ROOT
from tests.report.synthetic import facts, loss_curves, results, row, wer_curves


def test_a_system_has_one_figure_of_each_evaluation_and_set() -> None:
    found = dvc_metrics(
        [*results(seeds=(1, 2)), row("blimp", "tta", "blimp/field/syntax", "test", "accuracy", 0.5, 9)]
    )
    assert {"unilm", "tta", "transformer-xl", "first-pass", "oracle"} <= set(found)
    assert not any("/" in system or system.endswith("-intact") for system in found)
    assert set(found["tta"]["loss"]) == {"valid", "test"}
    wer = [
        one for one in results(seeds=(1, 2)) if (one.system, one.split, one.metric) == ("tta", "test", "wer")
    ]
    assert found["tta"]["wer"]["sample-speech"] == sum(one.value for one in wer) / len(wer), (
        "the mean of seeds"
    )
    assert all("/" not in dataset for dataset in found["tta"]["blimp"]), (
        "parts of sets are in the report alone"
    )


def test_the_test_set_stands_before_all_others() -> None:
    values = {("dev", "matthews"): 0.1, ("test", "accuracy"): 0.2, ("test", "matthews"): 0.3}
    rows = [row("glue", "bert-", "cola", *place, value, 9) for place, value in values.items()]
    assert dvc_metrics(rows) == {"bert-": {"glue": {"cola": 0.3}}}


def test_every_evaluation_has_a_figure() -> None:
    judged = {name for name, stage in STAGES.items() if stage.models and stage.sets}
    assert {name for name in judged if STAGES[name].headline is None} == set()


def test_the_plots_of_dvc_yaml_name_columns_that_are_written(tmp_path: Path) -> None:
    lengths = [
        row("input-length", "segatron-xl", "books", f"{tokens}-tokens", "ppl", 50.0, 9) for tokens in (8, 16)
    ]
    tables = {
        "validation": validation_plot(loss_curves(), facts()),
        "weights": weights_plot(wer_curves()),
        "input-lengths": input_lengths_plot(lengths),
    }
    plots = [next(iter(one.items())) for one in read_yaml(ROOT / "dvc.yaml")["plots"]]
    assert {Path(path).stem for path, _ in plots} == set(tables)
    for path, plot in plots:
        file = tmp_path / Path(path).name
        write_table(file, tables[Path(path).stem])
        with file.open(encoding="utf-8") as text:
            rows = list(csv.DictReader(text))
        assert rows and {"panel", "system", plot["x"], plot["y"]} == set(rows[0])
        assert all(float(one[plot["x"]]) >= 0 and float(one[plot["y"]]) > 0 for one in rows)
        template = json.loads(
            (ROOT / ".dvc" / "plots" / f"{plot['template']}.json").read_text(encoding="utf-8")
        )
        assert template["spec"]["encoding"]["color"]["field"] == "system"
