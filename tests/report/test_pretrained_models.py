"""A model that came trained: beside the run's own in every table, and never counted among them."""

from __future__ import annotations

import dataclasses

from quartet.report import scale
from quartet.report.facts import PretrainedFacts, RunFacts
from quartet.report.order import system_rank
from quartet.report.papers import chapter
from quartet.report.papers.exhibits import exhibits, ours
from quartet.report.run_report import Report
from quartet.results import Result
from tests.report.rendered import markdown, of
from tests.report.synthetic import facts, results, row

SCALE = "13.89 M parameters, 5,000 steps, books (18.16 M words), exported as onnx-int8"


def known(objective: str = "lae") -> RunFacts:
    return dataclasses.replace(
        facts(), pretrained=(PretrainedFacts(name="tta-books", objective=objective, reads="sentences"),)
    )


def rows(change: float = -1.0, half: float = 0.4) -> list[Result]:
    """The synthetic run with a model that lowers the word error rate by 1."""
    own = [
        row("rerank", "tta-books", "sample-speech", "test", "wer", 15.38 + change, 106, 2.0),
        row("rerank", "tta-books", "sample-speech", "test", "wer-difference", change, 106, half),
        row("rerank", "tta-books", "sample-speech", "dev", "weight", 0.0042, 106, None),
        row("sts", "tta-books/context", "lee", "test", "pearson", 0.61, 1225, 0.01, None),
    ]
    return [*results(), *(dataclasses.replace(each, scale=SCALE) for each in own)]


def claims(found: list[Result], of: RunFacts) -> list[str]:
    lines = chapter.claims(chapter.judged(Report(found, of), exhibits()))
    return [line for line in lines if "`tta-books`" in line]


def test_its_claim_has_the_paired_interval_of_its_rows() -> None:
    (claim,) = claims(rows(), known())
    cells = [cell.strip() for cell in claim.strip("|").split("|")]
    assert cells[0].startswith(
        "T-TA lowers the word error rate of a recogniser: `tta-books`, trained on other"
    )
    assert cells[1:3] == ["another set", "-1.00 [-1.40, -0.60]"]
    assert cells[-2].startswith("-0.34 (another set"), "what the paper prints of its T-TA"


def test_without_such_rows_or_such_a_model_there_is_no_claim() -> None:
    assert claims(results(), known()) == []
    assert claims(rows(), facts()) == []
    assert claims(rows(), known("mlm")) == [], "it is no T-TA"


def test_it_is_compared_with_no_model_of_the_run() -> None:
    report = Report(rows(), known())
    for exhibit in exhibits():
        for contrast in chapter.contrasts(report, exhibit):
            if "tta-books" in contrast.first + contrast.second:
                assert contrast.second == "first-pass"
    similarity = of("tta Table 3", report)[0]
    assert similarity.printed["tta-books/context"] == similarity.printed["tta/context"]


def test_only_error_rates_and_similarities_stand_beside_the_papers_tta() -> None:
    """Its perplexities are of other tokens."""
    own = row("reference-perplexity", "tta-books", "sample-speech", "test", "pppl-median", 9.0, 106, 1.0)
    report = Report([*rows(), own], known())
    beside = {
        f"{exhibit.paper} {exhibit.place}"
        for exhibit in exhibits()
        for series in ours(report, exhibit)
        for system in {*series.ours, *series.printed}
        if report.model(system) == "tta-books"
    }
    assert beside == {"tta Table 1", "tta Table 3", "tta Table 5"}


def test_every_table_says_what_it_is() -> None:
    text = markdown(rows(), known())
    assert "| `tta-books` (other text and size) | 0.0042 |" in text
    assert "| `tta-books/context` (other text and size) |" in text
    assert text.count(f"`tta-books` ({SCALE})") == 3, "what was run, reranking and STS"
    assert "other text and size" not in markdown(results(), facts())


def test_it_is_none_of_the_runs_models() -> None:
    plain, with_it = (Report(rows(), one) for one in (facts(), known()))
    assert scale.sizes(with_it) == scale.sizes(plain)
    assert markdown(rows(), known()).startswith("8 models")
    for part in exhibits():
        for line in chapter.body(with_it, part):
            assert not (line.startswith("Scale: ours") and "13.89 M" in line)
    of = known()
    assert system_rank("tta-books", "tta-books", "", of) > system_rank("segatron-xl", "segatron-xl", "", of)
