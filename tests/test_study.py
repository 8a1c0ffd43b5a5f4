"""What README.md says of the study at a CPU's size is in its committed report."""

from __future__ import annotations

import re

from quartet.results import read_results
from tests.committed import committed, report_rows
from tests.test_findings import README, as_perplexity


def test_the_study_on_real_sets_is_what_its_report_says() -> None:
    rows = {
        (row.table, row.dataset, row.system, row.metric): row
        for row in read_results(report_rows("small"))
        if row.split == {"training": "valid", "glue": "dev_matched"}.get(row.table, "test")
    }
    found = {key: row.value for key, row in rows.items()}

    def gain(lists: str, system: str) -> str:
        change = rows["rerank", lists, system, "bleu-difference"]
        return f"({change.value:+.1f} [{change.ci_low:+.1f}, {change.ci_high:+.1f}])"

    for lists, name in (("librispeech-clean", "test-clean"), ("librispeech-other", "test-other")):
        before, after = (found["rerank", lists, system, "wer"] for system in ("first-pass", "tta"))
        assert f"from {before:.2f} to {after:.2f} % ({name})" in README
    for system in ("bilm", "ngram-5"):
        clean, other = (found["rerank", f"librispeech-{kind}", system, "wer"] for kind in ("clean", "other"))
        assert f"({clean:.2f} and {other:.2f} %)" in README
    similar = [100 * found["sts", "stsb", f"{model}/context", "pearson"] for model in ("tta", "bilm")]
    assert "STS-B, {:.1f} against {:.1f}".format(*similar) in README
    for pair, name in (("de-en", "De→En from BLEU"), ("fr-en", "Fr→En from")):
        lists = f"multi30k-{pair}"
        before, after = (found["rerank", lists, system, "bleu"] for system in ("first-pass", "tta"))
        assert f"{name} {before:.1f} to {after:.1f} {gain(lists, 'tta')}" in README
    gains = [row for key, row in rows.items() if (key[0], key[3]) == ("rerank", "bleu-difference")]
    assert len(gains) > 10
    assert all((row.ci_low or 0) <= 0 <= (row.ci_high or 0) for row in gains), "no model is shown to help"

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
            README,
        )
        resets.append(change(dataset, plain, reset))
    assert f"(`index: reset`), it is {resets[0]} and {resets[1]}" in README
    for table, dataset, tuned, metric, scale, phrase in (
        ("training", "books", "", "loss", 1, "steps ({:.2f} and {:.2f} nats)"),
        ("glue", "mnli-part", "", "accuracy", 100, "(MNLI, {:.1f} and {:.1f} %)"),
        ("sts", "sts-average", "/nli", "spearman-mean", 100, "lose ({:.1f} and {:.1f})"),
    ):
        figures = [scale * found[table, dataset, f"{name}{tuned}", metric] for name in ("bert-", "segabert")]
        assert phrase.format(*figures) in README
    claims = committed("reports/small/README.md").read_text(encoding="utf-8").splitlines()
    for claim, found_here in (
        ("SegaBERT is above BERT on GLUE's development sets", r"\| not shown \(7 of 7\) \|"),
        (
            "Tuned on entailment, SegaBERT's vectors are closer",
            r"\[-[\d.]+, -[\d.]+\] \| the seven sets' average,",
        ),
    ):
        (line,) = (line for line in claims if line.startswith(f"| {claim}"))
        assert re.search(found_here, line), line
