"""The README says what the committed report says, and its models exist; tests/test_docs.py holds its commands."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.params import load
from pipeline.readme import block, placed
from quartet.report.cells import Cell, Cells, Place
from quartet.results import Result, read_results
from tests.committed import committed
from tests.imports import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXT = " ".join(README.split())  # whatever its line breaks


def as_perplexity(difference: Result) -> str:
    """Of the first model's loss minus the second's: by how much the second's perplexity is above the first's."""
    assert difference.ci_low is not None and difference.ci_high is not None
    ends = (difference.value, difference.ci_high, difference.ci_low)
    middle, low, high = (100 * math.expm1(-nats) for nats in ends)
    return f"{middle:+.1f} % [{low:+.1f}, {high:+.1f}]"


def cell_of(found: Cells, *place: str) -> Cell:
    """The cell of a table, data set, split, system and metric, which must be there."""
    cell = found.find(Place(*place))
    assert cell is not None, place
    return cell


def test_the_results_are_those_of_the_report(tmp_path: Path) -> None:
    results, timings = (
        committed(f"reports/sample/{name}.jsonl", tmp_path) for name in ("results", "timings")
    )
    readme = committed("README.md", tmp_path).read_text(encoding="utf-8")
    content = block(read_results(results), read_results(timings))
    assert placed(readme, content) == readme, "run python -m pipeline.readme"


def test_every_model_of_the_text_exists() -> None:
    models = load(ROOT / "presets" / "sample.yaml").models
    for name in (
        "unilm",
        "bilm",
        "tta",
        "bert-",
        "segabert",
        "tta-segments",
        "transformer-xl",
        "segatron-xl",
    ):
        assert f"`{name}`" in README
        assert name in models


@pytest.mark.parametrize(
    "name", ["small", "small-seeds", "small-bert", "small-positions", "small-tta-segments"]
)
def test_the_presets_of_the_studies_are_what_ran(name: str) -> None:
    preset = ROOT / "presets" / f"{name}.yaml"
    assert preset.read_bytes() == (ROOT / "reports" / name / "params.yaml").read_bytes()


def test_further_seeds_are_of_the_same_study() -> None:
    small, seeds = (load(ROOT / "presets" / f"{name}.yaml") for name in ("small", "small-seeds"))
    for section in ("corpora", "tokenizers", "models", "nbest", "tasks"):
        ours, theirs = getattr(seeds, section), getattr(small, section)
        assert ours == {name: theirs[name] for name in ours}, section
    for section in ("segmentation", "bootstrap", "word2vec"):
        assert getattr(seeds, section) == getattr(small, section), section
    assert replace(seeds.rerank, combine=small.rerank.combine) == small.rerank
    lengths = small.perplexity.input_lengths
    assert replace(seeds.perplexity, input_lengths=lengths) == small.perplexity


def test_the_first_of_the_seeds_is_the_training_of_the_study() -> None:
    small, seeds = (
        {row.key: row.value for row in read_results(report / "results.jsonl")}
        for report in (ROOT / "reports" / "small", ROOT / "reports" / "small-seeds")
    )
    shared = {key for key in seeds if key in small and key[-1] == 1}
    assert {key[0] for key in shared} >= {"training", "perplexity", "perplexity-pairs", "rerank", "sts"}
    for key in shared:
        assert seeds[key] == pytest.approx(small[key], rel=1e-6), key


def test_three_trainings_of_bert_are_of_the_same_study() -> None:
    small, seeds = (load(ROOT / "presets" / f"{name}.yaml") for name in ("small", "small-bert"))
    for section in ("corpora", "tokenizers", "tasks"):
        ours, theirs = getattr(seeds, section), getattr(small, section)
        assert ours == {name: theirs[name] for name in ours}, section
    for name, model in seeds.models.items():
        theirs = small.models[name]
        assert replace(model, training=replace(model.training, precision="fp32")) == theirs, name
    assert replace(seeds.nli, random_control=True) == small.nli
    for section in ("segmentation", "bootstrap", "glue"):
        assert getattr(seeds, section) == getattr(small, section), section


def test_other_positions_of_segabert_are_of_the_same_study() -> None:
    small, others = (load(ROOT / "presets" / f"{name}.yaml") for name in ("small", "small-positions"))
    for section in ("corpora", "tokenizers", "tasks"):
        ours, theirs = getattr(others, section), getattr(small, section)
        assert ours == {name: theirs[name] for name in ours}, section
    segabert = small.models["segabert"]
    restart = replace(segabert, maxima=replace(segabert.maxima, overflow="restart"))
    assert others.models == {
        "bert-": small.models["bert-"],
        "segabert-restart": restart,
        "segabert-restart-split": replace(restart, position_init="split-sinusoid"),
    }
    for section in ("segmentation", "bootstrap", "glue"):
        assert getattr(others, section) == getattr(small, section), section


def test_segments_in_tta_are_of_the_same_study() -> None:
    small, others = (load(ROOT / "presets" / f"{name}.yaml") for name in ("small", "small-tta-segments"))
    for section in ("corpora", "tokenizers", "nbest", "tasks"):
        ours, theirs = getattr(others, section), getattr(small, section)
        assert ours == {name: theirs[name] for name in ours}, section
    segments = small.models["tta-segments"]
    split = replace(segments, position_init="split-sinusoid")
    assert others.models == {
        "tta-spans": replace(segments, positions=("sequence",)),
        "tta-segments": segments,
        "tta-segments-split": split,
        "tta-segments-restart-split": replace(split, maxima=replace(split.maxima, overflow="restart")),
    }
    for section in ("segmentation", "bootstrap", "blimp"):
        assert getattr(others, section) == getattr(small, section), section
    assert replace(others.rerank, combine=small.rerank.combine) == small.rerank


def test_what_other_positions_change_in_segabert_is_what_their_report_says() -> None:
    small, others = (
        Cells(read_results(ROOT / "reports" / name / "results.jsonl"))
        for name in ("small", "small-positions")
    )
    models = {
        "bert-": others,
        "segabert": small,
        "segabert-restart": others,
        "segabert-restart-split": others,
    }
    for (table, dataset, split, metric), scale, digits, says in (
        (("training", "books", "valid", "loss"), 1, 2, "validation loss of {} nats against {}, {} and {}"),
        (("perplexity", "books", "test", "pppl"), 1, 1, "pseudo-perplexity of {} against {}, {} and {}"),
        (("glue", "mnli-part", "dev_matched", "accuracy"), 100, 1, "MNLI {} against {}, {} and {} %"),
    ):
        told = []
        for model, found in models.items():
            value = cell_of(found, table, dataset, split, model, metric).value
            told.append(f"{scale * value:.{digits}f}")
        assert says.format(*told) in TEXT
    for pair, says in (
        ("bert- - segabert-restart", "by {} and"),
        ("bert- - segabert-restart-split", "and {}: less than above"),
        ("segabert-restart - segabert-restart-split", "({} between the last two)"),
    ):
        cell = cell_of(others, "perplexity-pairs", "books", "test", pair, "loss-difference")
        assert says.format(as_perplexity(cell.rows[0])) in TEXT
    loss, pppl, accuracy = (
        cell_of(small, *place).value
        for place in (
            ("training", "books", "valid", "bert-", "loss"),
            ("perplexity", "books", "test", "bert-", "pppl"),
            ("glue", "mnli-part", "dev_matched", "bert-", "accuracy"),
        )
    )
    assert f"came to {loss:.2f} nats, {pppl:.1f} and {100 * accuracy:.1f} %" in TEXT


def test_what_segments_change_in_tta_is_what_their_report_says() -> None:
    found = Cells(read_results(ROOT / "reports" / "small-tta-segments" / "results.jsonl"))
    models = ("tta-spans", "tta-segments", "tta-segments-split", "tta-segments-restart-split")
    for (table, dataset, split, reading, metric), scale, digits, says in (
        (("training", "books", "valid", "", "loss"), 1, 2, "validation loss of {}, {}, {} and {} nats"),
        (("perplexity", "books", "test", "", "pppl"), 1, 1, "pseudo-perplexity of {}, {}, {} and {}"),
        (
            ("reference-perplexity", "librispeech-clean", "test", "", "pppl-median"),
            1,
            1,
            "median pseudo-perplexity is {}, {}, {} and {} (test-clean)",
        ),
        (("rerank", "librispeech-clean", "test", "", "wer"), 1, 2, "{} to {}, {}, {} and {} % (test-clean)"),
        (("rerank", "librispeech-other", "test", "", "wer"), 1, 2, "{} to {}, {}, {} and {} % (test-other)"),
        (("sts", "stsb", "test", "/context", "pearson"), 100, 1, "STS-B comes to {}, {}, {} and {},"),
        (("blimp", "blimp", "test", "", "accuracy"), 100, 1, "BLiMP to {}, {}, {} and {} %"),
    ):
        first_pass = (
            cell_of(found, table, dataset, split, "first-pass", metric) if table == "rerank" else None
        )
        told = [f"{first_pass.value:.{digits}f}"] if first_pass else []
        for model in models:
            one = cell_of(found, table, dataset, split, f"{model}{reading}", metric)
            assert one.spread is not None and len(one.rows) == 2
            told.append(f"{scale * one.value:.{digits}f} ± {scale * one.spread:.{digits}f}")
        assert says.format(*told) in TEXT
    for model, says in (
        ("tta-segments", "the second is above the first by {} and {}"),
        ("tta-segments-split", "the third by {} and {}"),
        ("tta-segments-restart-split", "the fourth by {} and {}"),
    ):
        pair = cell_of(found, "perplexity-pairs", "books", "test", f"tta-spans - {model}", "loss-difference")
        assert says.format(*(as_perplexity(row) for row in pair.rows)) in TEXT
    place = "reference-perplexity", "librispeech-clean", "test"
    _, second, *last = (cell_of(found, *place, model, "pppl-median").rows for model in models)
    for rows in last:
        for ours, theirs in zip(rows, second, strict=True):
            assert ours.ci_high is not None and theirs.ci_low is not None
            assert ours.ci_high < theirs.ci_low, "below it with each seed"


def test_what_further_seeds_change_in_bert_is_what_their_report_says() -> None:
    found = Cells(read_results(ROOT / "reports" / "small-bert" / "results.jsonl"))
    for place, scale, digits, says, sign in (
        (("training", "books", "valid", "", "loss"), 1, 2, "validation loss ({} and {} nats)", 1),
        (("glue", "mnli-part", "dev_matched", "", "accuracy"), 100, 1, "accuracy ({} and {} %)", 1),
        (("sts", "sts-average", "test", "/nli", "spearman-mean"), 100, 1, "entailment ({} and {})", -1),
    ):
        table, dataset, split, reading, metric = place
        cells = [
            cell_of(found, table, dataset, split, f"{model}{reading}", metric)
            for model in ("bert-", "segabert")
        ]
        told = []
        for cell in cells:
            assert cell.spread is not None
            told.append(f"{scale * cell.value:.{digits}f} ± {scale * cell.spread:.{digits}f}")
        assert says.format(*told) in TEXT
        plain, aware = ([row.value for row in cell.rows] for cell in cells)
        assert len(plain) == len(aware) == 3
        assert all(sign * (other - one) > 0 for one, other in zip(plain, aware, strict=True)), (
            "with each seed"
        )
    pair = cell_of(found, "perplexity-pairs", "books", "test", "bert- - segabert", "loss-difference")
    first, second, third = (as_perplexity(row) for row in pair.rows)
    assert f"pseudo-perplexity is {first}, {second} and {third} over the same documents" in TEXT


def test_what_further_seeds_change_is_what_their_report_says() -> None:
    found = Cells(read_results(ROOT / "reports" / "small-seeds" / "results.jsonl"))

    def cell(table: str, dataset: str, system: str, metric: str) -> Cell:
        return cell_of(found, table, dataset, "test", system, metric)

    rates = {
        (model, lists): cell("rerank", f"librispeech-{lists}", model, "wer")
        for model in ("tta", "unilm")
        for lists in ("clean", "other")
    }
    told = {key: f"{rate.value:.2f} ± {rate.spread:.2f}" for key, rate in rates.items()}
    assert f"{told['tta', 'clean']} % (test-clean) and {told['tta', 'other']} % (test-other)" in TEXT
    assert f"({told['unilm', 'clean']} and {told['unilm', 'other']} %)" in TEXT
    for model, lists in rates:
        changed = cell("rerank", f"librispeech-{lists}", model, "wer-difference").bounds
        assert changed is not None
        assert changed[1] < 0, "below the first pass with every seed"
    better = [
        sum(
            (row.ci_low or 0) > 0 for row in cell("rerank-pairs", lists, "unilm - tta", "wer-difference").rows
        )
        for lists in ("librispeech-clean", "librispeech-other")
    ]
    assert better == [2, 0], (
        "shown to be below uniLM's with two of the three seeds on test-clean, none on test-other"
    )
    assert "with two of the three seeds on test-clean and with none on test-other" in TEXT
    similar = [cell("sts", "stsb", f"{model}/context", "pearson") for model in ("tta", "bilm")]
    first, second = (f"{100 * one.value:.1f} ± {100 * (one.spread or 0):.1f}" for one in similar)
    assert f"STS-B, {first} against {second}" in TEXT

    def changes(pair: str) -> list[str]:
        return [
            as_perplexity(row) for row in cell("perplexity-pairs", "wikitext-2", pair, "loss-difference").rows
        ]

    one, two, three = changes("transformer-xl - segatron-xl")
    assert f"{one}, {two} and {three}, so" in TEXT
    one, two, three = (told.split()[0] for told in changes("transformer-xl - segatron-xl-reset"))
    assert f"({one}, {two} and {three} %)" in TEXT
    one, two, three = (f"{row.value:.1f}" for row in cell("perplexity", "books", "bilm", "pppl").rows)
    assert f"{one}, {two} and {three}, as" in TEXT

    weights = " ".join((ROOT / "weights" / "README.md").read_text(encoding="utf-8").split())
    clean, other = (
        [f"{row.value:.2f}" for row in rates["tta", lists].rows if row.seed != 1]
        for lists in ("clean", "other")
    )
    assert f"{' and '.join(clean)} % on test-clean, {' and '.join(other)} % on test-other" in weights


def test_the_study_on_real_sets_is_what_its_report_says() -> None:
    rows = {
        (row.table, row.dataset, row.system, row.metric): row
        for row in read_results(ROOT / "reports" / "small" / "results.jsonl")
        if row.split == {"training": "valid", "glue": "dev_matched"}.get(row.table, "test")
    }
    found = {key: row.value for key, row in rows.items()}

    def gain(lists: str, system: str) -> str:
        change = rows["rerank", lists, system, "bleu-difference"]
        return f"({change.value:+.1f} [{change.ci_low:+.1f}, {change.ci_high:+.1f}])"

    for lists, name in (("librispeech-clean", "test-clean"), ("librispeech-other", "test-other")):
        before, after = (found["rerank", lists, system, "wer"] for system in ("first-pass", "tta"))
        assert f"from {before:.2f} to {after:.2f} % ({name})" in TEXT
    for system in ("bilm", "ngram-5"):
        clean, other = (found["rerank", f"librispeech-{kind}", system, "wer"] for kind in ("clean", "other"))
        assert f"({clean:.2f} and {other:.2f} %)" in TEXT
    similar = [100 * found["sts", "stsb", f"{model}/context", "pearson"] for model in ("tta", "bilm")]
    assert "STS-B, {:.1f} against {:.1f}".format(*similar) in TEXT
    for pair, name in (("de-en", "De→En from BLEU"), ("fr-en", "Fr→En from")):
        lists = f"multi30k-{pair}"
        before, after = (found["rerank", lists, system, "bleu"] for system in ("first-pass", "tta"))
        assert f"{name} {before:.1f} to {after:.1f} {gain(lists, 'tta')}" in TEXT
    for system, name in (("tta-segments", "T-TA with segments"), ("bilm", "the biLM")):
        assert f"{name} {gain('multi30k-fr-en', system)}" in TEXT

    def change(dataset: str, plain: str, aware: str) -> str:
        return as_perplexity(rows["perplexity-pairs", dataset, f"{plain} - {aware}", "loss-difference"])

    resets = []
    for dataset, ending, where in (("wikitext-2", "", "on WikiText-2"), ("books", "-books", "on the books")):
        plain, aware, reset = (
            f"{name}{ending}" for name in ("transformer-xl", "segatron-xl", "segatron-xl-reset")
        )
        without, with_them = (found["perplexity", dataset, name, "ppl"] for name in (plain, aware))
        assert re.search(
            re.escape(f"{where} ({without:.1f} and {with_them:.1f}")
            + "(?: with them)?: "
            + re.escape(change(dataset, plain, aware)),
            TEXT,
        )
        resets.append(change(dataset, plain, reset))
    assert f"(`index: reset`), it is {resets[0]} and {resets[1]}" in TEXT
    for table, dataset, tuned, metric, scale, phrase in (
        ("training", "books", "", "loss", 1, "steps ({:.2f} and {:.2f} nats)"),
        ("glue", "mnli-part", "", "accuracy", 100, "(MNLI, {:.1f} and {:.1f} %)"),
        ("sts", "sts-average", "/nli", "spearman-mean", 100, "lose ({:.1f} and {:.1f})"),
    ):
        figures = [scale * found[table, dataset, f"{name}{tuned}", metric] for name in ("bert-", "segabert")]
        assert phrase.format(*figures) in TEXT
