"""What DVC shows of an experiment: few figures a system, and curves with names for their axes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from pipeline.layout import MANIFEST, Layout
from pipeline.report import (
    dvc_metrics,
    gather,
    input_lengths_plot,
    validation_plot,
    weights_plot,
    write_table,
)
from pipeline.settings import read_params
from pipeline.stages import STAGES
from quartet.config.loading import read_yaml
from quartet.files import write_json
from quartet.report.facts import (
    AbsentSet,
    CorpusFacts,
    ListFacts,
    ModelFacts,
    PretrainedFacts,
    RunFacts,
    TokenizerFacts,
)
from tests.imports import ROOT
from tests.report.synthetic import facts, loss_curves, results, row, wer_curves
from tests.settings import change_settings


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


def test_the_facts_of_a_run_are_those_of_its_manifests_and_cards(workspace: Path) -> None:
    change_settings(
        workspace / "params.yaml",
        {
            "seeds": [1, 2],
            "pretrained": {name: {"source": name} for name in ("ours", "theirs")},
            "models.segatron-xl.recurrence": {"memory": 24, "index": "reset", "offset": "released"},
        },
    )
    params, layout = read_params(), Layout("tiny")
    counts = ("documents", "paragraphs", "sentences", "words")
    splits = {
        split: dict(zip(counts, numbers, strict=True))
        for split, numbers in {
            "train": (8, 20, 90, 900),
            "valid": (1, 2, 7, 50),
            "test": (1, 3, 9, 61),
        }.items()
    }
    write_json(
        layout.segments("wikipedia-sample") / MANIFEST, {"splits": splits, "segmenter": "published model"}
    )
    write_json(
        layout.tokenizer("wordpiece-1k") / MANIFEST, {"kind": "wordpiece", "vocab_size": 997, "words": 5}
    )
    dev = {"lists": 11, "longest_list": 5, "lists_without_scores": 0, "refused": 2, "missing": 3}
    test = {"lists": 13, "longest_list": 4, "lists_without_scores": 1, "refused": 4}
    write_json(layout.nbest("sample-speech") / MANIFEST, {"dev": dev, "test": test, "bleu": "signature"})
    for name, numbers in {"tta": (7, 70, 30), "segatron-xl": (8, 80, 31)}.items():
        card = dict(zip(("corpus_words", "parameters", "steps"), numbers, strict=True))
        write_json(layout.models / name / "config.json", card)
    ours = {"model": {"objective": "mlm", "reads": "spans"}}
    for name, card_of in {"ours": ours, "theirs": {"model_type": "bert"}}.items():
        write_json(layout.pretrained(name) / "config.json", card_of)
    for name, task in params.tasks.items():
        write_json(layout.task(task.kind, name) / MANIFEST, {})
    absent = {"available": False, "reason": "no network", "obtain": "from its page"}
    write_json(layout.task("glue", "rte") / MANIFEST, absent)

    assert gather(params, layout, "cpu (2 threads, A)") == RunFacts(
        experiment="tiny",
        device="cpu (2 threads, A)",
        seeds=(1, 2),
        draws=100,
        corpora=(
            CorpusFacts(
                name="wikipedia-sample",
                documents=10,
                paragraphs=25,
                sentences=106,
                words=1011,
                punkt="published model",
                license="CC BY-SA 3.0",
            ),
        ),
        tokenizers=(TokenizerFacts(name="wordpiece-1k", kind="wordpiece", vocabulary=997),),
        lists=(
            ListFacts(
                name="sample-speech",
                dev=11,
                test=13,
                hypotheses=5,
                origin="espeak-ng's voices, decoded by Whisper tiny.en",
                ranked=True,
                refused=6,
                missing=3,
                bleu="signature",
            ),
        ),
        models=(
            ModelFacts(
                name="tta",
                objective="lae",
                architecture="tta",
                reads="sentences",
                positions=("sequence",),
                tokenizer="wordpiece-1k",
                corpus="wikipedia-sample",
                corpus_words=7,
                parameters=70,
                steps=30,
                targets=1.0,
            ),
            ModelFacts(
                name="segatron-xl",
                objective="clm",
                architecture="transformer-xl",
                reads="streams",
                positions=("token", "sentence", "paragraph"),
                tokenizer="wordpiece-1k",
                corpus="wikipedia-sample",
                corpus_words=8,
                parameters=80,
                steps=31,
                variant=("index reset", "memory 24", "offsets as released"),
                leaks=True,
                targets=1.0,
            ),
        ),
        pretrained=(
            PretrainedFacts(name="ours", objective="mlm", reads="spans"),
            PretrainedFacts(name="theirs"),
        ),
        absent=(AbsentSet(name="rte", kind="glue", reason="no network", obtain="from its page"),),
        ngrams=("ngram-3",),
    )
