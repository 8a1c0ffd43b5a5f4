"""Ours beside the papers: which figures stand where, what a verdict says, and how a part is run."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import pytest

from quartet.config.loading import read_yaml
from quartet.report.cells import Cell
from quartet.report.facts import RunFacts, read_facts
from quartet.report.papers import chapter
from quartet.report.papers.exhibits import Exhibit, exhibits
from quartet.report.papers.series import Change, Contrast, Series
from quartet.report.published import published_figures
from quartet.report.run_report import Report, anchor
from quartet.report.spec import sections
from quartet.report.tables import document, times
from quartet.results import Result, read_results
from tests.committed import committed, report_rows
from tests.imports import ROOT
from tests.report.rendered import of
from tests.report.synthetic import facts, results, row, timings


def report(rows: list[Result] | None = None, known: RunFacts | None = None) -> Report:
    return Report([*results(), *timings()] if rows is None else rows, known or facts())


def cell(value: float) -> Cell:
    """A figure whose interval is far wider than any difference here."""
    return Cell((row("t", "s", "d", "test", "m", value, 100, 10.0, None),))


def series(change: Change | None = None, **more: Any) -> Series:
    """Two systems, with what was kept of their difference."""
    return Series(
        **{
            "ours_on": "here",
            "printed_on": "there",
            "ours": {"a": cell(5.0), "b": cell(6.0)},
            "printed": {"a": 5.0, "b": 6.0},
            "format": "two",
            "paired": lambda first, second: change,
            **more,
        }
    )


def test_every_table_and_figure_of_results_is_there() -> None:
    places = {(one.paper, one.place) for one in exhibits()}
    tables = {(paper, f"Table {number}") for paper in ("tta", "segatron") for number in range(1, 8)}
    pictures = {("tta", f"Figure {number}") for number in (4, 5, 6)}
    pictures |= {("segatron", f"Figure {number}") for number in (2, 3, 4)} | {("segatron", "Figures 5 to 8")}
    assert places == tables | pictures


def test_every_published_table_stands_under_an_exhibit_of_its_paper() -> None:
    shown = {(name, one.paper) for one in exhibits() for name in one.tables}
    assert shown == {(name, table.paper) for name, table in published_figures().tables.items()}


def at(settings: dict[str, Any], key: str) -> Any:
    for part in key.split("."):
        settings = settings[part]
    return settings


@pytest.mark.parametrize(
    ("exhibit", "preset"),
    [
        pytest.param(one, preset, id=f"{one.paper} {one.place}, {preset}")
        for one in exhibits()
        for preset in one.presets
    ],
)
def test_a_preset_that_is_named_runs_it(exhibit: Exhibit, preset: str) -> None:
    settings = read_yaml(ROOT / "presets" / f"{preset}.yaml")
    for key in exhibit.keys:
        assert at(settings, key), f"{preset} has nothing under {key}"


def test_links_lead_to_sections() -> None:
    assert {one.section for one in exhibits()} <= {section.title for section in sections().values()}
    assert anchor("T-TA paper, Table 1: rates (WER, %)") == "t-ta-paper-table-1-rates-wer-"


LOWER, HIGHER, EITHER = (-1.0, (-1.2, -0.8), 0.01), (1.0, (0.8, 1.2), 0.01), (-0.1, (-0.3, 0.1), 0.3)


@pytest.mark.parametrize(
    ("kept", "more", "verdict"),
    [
        (LOWER, {}, "same direction, shown"),
        (HIGHER, {}, "opposite direction, shown"),
        (EITHER, {}, "not shown"),
        ((0.0, (0.0, 0.0), 1.0), {}, "not shown"),
        ((-1.0, (-1.2, -0.8)), {}, "too few draws"),
        ((-1.0, None), {}, "no interval"),
        (None, {}, "no paired difference kept"),
        (LOWER, {"named": False}, "another set"),
        (LOWER, {"at_unigram": frozenset("b")}, "not below the unigram"),
        (None, {"at_unigram": frozenset("a")}, "not below the unigram"),
    ],
)
def test_the_kept_difference_makes_the_verdict(kept: Any, more: dict[str, Any], verdict: str) -> None:
    """The two figures' own intervals overlap in all cases."""
    change = None if kept is None else Change(*kept)
    assert Contrast(first="a", second="b").verdict(series(change, **more)) == verdict


@pytest.mark.parametrize(
    ("kept", "better", "verdict"),
    [
        (EITHER, -1, "alike, no difference shown"),
        (LOWER, -1, "alike in the paper, better here"),
        (LOWER, 1, "alike in the paper, worse here"),
    ],
)
def test_what_the_paper_calls_alike_may_be_better_or_worse_here(kept: Any, better: int, verdict: str) -> None:
    alike = Contrast(first="a", second="b", claimed=0)
    assert alike.verdict(series(Change(*kept), better=better)) == verdict


def test_without_a_kept_difference_the_two_figures_stand_in_its_place() -> None:
    contrast = Contrast(first="a", second="b")
    assert contrast.ours_text(series(Change(*LOWER))) == "-1.00 [-1.20, -0.80]"
    assert contrast.ours_text(series()) == "5.00 against 6.00"
    assert contrast.ours_text(series(Change(*LOWER), at_unigram=frozenset("a"))) == "5.00 against 6.00"


def test_distances_to_the_paper_are_taken_on_its_own_sets_alone() -> None:
    assert series().distance("a") == "–"
    assert series(same=True).distance("a") == "+0.00 [-10.00, +10.00]"


def lists(p: float, *names: str) -> list[Result]:
    """The first pass and T-TA on sets of lists, with a difference of that p; the two intervals overlap."""
    figures = [
        row("rerank", system, name, "test", "wer", wer, 100, 3.0)
        for name in names
        for system, wer in (("first-pass", 10.0), ("tta", 9.0))
    ]
    change = [row("rerank", "tta", name, "test", "wer-difference", -1.0, 100, 0.9) for name in names]
    return [*figures, *(dataclasses.replace(one, p=p) for one in change)]


def verdicts(rows: list[Result], place: str = "tta Table 1") -> list[list[str]]:
    """Of each claim of an exhibit that was run, the verdicts by set."""
    (exhibit,) = (one for one in exhibits() if f"{one.paper} {one.place}" == place)
    judged = chapter.judged(report(rows), [exhibit])
    return [[one.verdict for one in claim.comparisons] for claim in judged if claim.comparisons]


def test_claims_of_a_page_are_one_family() -> None:
    """p = 0.03 is significant alone, and not beside a second comparison of the same p."""
    assert verdicts(lists(0.03, "librispeech-clean")) == [["same direction, shown"]]
    assert verdicts(lists(0.03, "librispeech-clean", "librispeech-other")) == [["not shown", "not shown"]]
    assert verdicts(lists(0.02, "librispeech-clean", "librispeech-other")) == [["same direction, shown"] * 2]


def test_the_worst_set_of_a_claim_stands_first() -> None:
    rows = [*lists(0.01, "librispeech-clean"), *lists(0.9, "librispeech-other"), *lists(0.01, "speech")]
    claims = chapter.claims(chapter.judged(report(rows), exhibits()))
    (line,) = (one for one in claims if one.startswith("| T-TA lowers the word error rate"))
    assert line.split(" | ")[1] == "not shown (1 of 3), another set (1 of 3), same direction, shown (1 of 3)"


@pytest.mark.parametrize(
    ("name", "verdict"), [("wmt13-fr-en", "same direction, shown"), ("multi30k-fr-en", "another set")]
)
def test_a_set_has_a_verdict_only_where_the_paper_has_it(name: str, verdict: str) -> None:
    rows = [
        row("rerank", system, name, "test", "bleu", bleu, 100, 3.0)
        for system, bleu in (("first-pass", 30.0), ("tta", 31.0))
    ]
    rows.append(
        dataclasses.replace(row("rerank", "tta", name, "test", "bleu-difference", 1.0, 100, 0.9), p=0.01)
    )
    assert verdicts(rows, "tta Table 2") == [[verdict]]
    (own,) = of("tta Table 2", report(rows))
    assert own.distance("tta") == "–", "the lists are another translator's"
    assert own.printed_on.startswith("another set") == (verdict == "another set")
    assert own.printed["tta"] == (30.2 if verdict != "another set" else 28.83)


def test_a_pair_that_was_measured_the_other_way_round_is_turned() -> None:
    rows = [row("rerank", name, "lists", "test", "wer", 10.0, 100, 1.0, None) for name in ("tta", "bilm")]
    rows.append(row("rerank-pairs", "bilm - tta", "lists", "test", "wer-difference", 0.5, 100, 0.2, None))
    found = Contrast(first="tta", second="bilm").ours(of("tta Table 1", report(rows))[0])
    assert found is not None
    assert found.value == -0.5
    assert found.bounds == pytest.approx((-0.7, -0.3))


@pytest.mark.parametrize("table", ["perplexity", "input-length"])
def test_perplexities_over_the_same_documents_have_the_kept_change(table: str) -> None:
    split, place = {"perplexity": ("test", "Table 1"), "input-length": ("16-tokens", "Figure 3")}[table]
    pair = row(f"{table}-pairs", "transformer-xl - segatron-xl", "wikipedia-sample", split, "loss-difference",
               0.05, 13_200, 0.01)  # fmt: skip
    rows = [each for each in results() if each.table != pair.table]
    contrast = Contrast(first="segatron-xl", second="transformer-xl")
    assert contrast.ours(of(f"segatron {place}", report(rows))[0]) is None, "none is computed"
    found = contrast.ours(of(f"segatron {place}", report([*rows, pair]))[0])
    assert found is not None
    assert found.value == pytest.approx(100 * (math.exp(-0.05) - 1))
    assert found.bounds == pytest.approx((100 * (math.exp(-0.06) - 1), 100 * (math.exp(-0.04) - 1)))


def test_the_utterances_of_librispeech_are_no_lists_of_the_paper() -> None:
    rows = [row("rerank", "tta", "librispeech-other", "test", "wer", 11.0, 100, 1.0, None)]
    own = of("tta Table 1", report(rows))[0]
    assert (own.named, own.same, own.printed["tta"], own.distance("tta")) == (True, False, 12.38, "–")
    assert not of("tta Table 1", report())[0].named, "the sample's lists are none of the paper's"


def test_readings_find_their_published_entries() -> None:
    names = ("tta/context", "tta/embed", "bilm/embed", "bilm-intact/context", "unilm/eos", "word2vec")
    rows = [row("sts", name, "stsb", "test", "pearson", 0.5, 1379, 0.02, None) for name in names]
    own = of("tta Table 3", report(rows))[0]
    assert own.same
    assert {name: own.printed[name] for name in own.ours} == {
        "unilm/eos": 38.30, "bilm/embed": 49.08, "bilm-intact/context": 36.51, "tta/context": 62.27,
        "tta/embed": 44.74, "word2vec": 56.5,
    }  # fmt: skip


def test_times_have_the_measured_ratio_and_the_printed_one() -> None:
    own = of("tta Figure 4", report())[0]
    contrast = Contrast(first="bilm", second="tta")
    measured = report().find("runtime", "20-words", "test", "bilm/sts", "over-tta")
    assert measured is not None
    assert contrast.ours(own) == (measured.value, measured.bounds, None)
    assert contrast.printed(own) == 12.7
    assert of("tta Figure 6", report()) == []


def test_positions_choose_the_row_and_leaks_choose_none() -> None:
    known = facts()
    base = known.models[-1]
    leaking = dataclasses.replace(base, name="segatron-xl-released", leaks=True)
    sentences = dataclasses.replace(base, name="other", positions=("token", "sentence"))
    known = dataclasses.replace(known, models=(*known.models, leaking, sentences))
    rows = [*results(), *(row("perplexity", name, "wikipedia-sample", "test", "ppl", 200.0, 13_200, 9.0)
                          for name in ("segatron-xl-released", "other"))]  # fmt: skip
    assert list(of("segatron Table 2", report(rows, known))[0].ours) == [
        "token", "token-sentence-paragraph", "token-sentence",
    ]  # fmt: skip
    own = of("segatron Table 1", report(rows, known))[0]
    assert set(own.ours) == {"transformer-xl", "segatron-xl", "segatron-xl-released"}
    assert own.changes["segatron-xl-released", "transformer-xl"] == pytest.approx(-7.79, abs=0.01)


def test_models_that_are_named_for_their_corpus_are_the_papers_rows() -> None:
    """On another corpus than the first, each model's own name is taken by the one that reads the first."""
    known = facts()
    names = {"transformer-xl-books": "transformer-xl", "segatron-xl-books": "segatron-xl"}
    models = {model.name: model for model in known.models}
    more = tuple(
        dataclasses.replace(models[plain], name=name, corpus="books") for name, plain in names.items()
    )
    rows = [
        *results(),
        *(
            row("perplexity", name, "books", "test", "ppl", 100.0 + at, 900, 1.0)
            for at, name in enumerate(names)
        ),
        *(
            row("training", name, "books", "valid", "loss", 4.0 + at, 900, 0.1)
            for at, name in enumerate(names)
        ),
    ]
    both = report(rows, dataclasses.replace(known, models=(*known.models, *more)))
    for found in (of("segatron Table 1", both), of("segatron Figure 2", both)):
        assert [set(own.ours) for own in found] == [{"transformer-xl", "segatron-xl"}] * 2
    assert [own.text("segatron-xl") for own in of("segatron Table 1", both)][1] == "101.0 [100.0, 102.0]"


def test_perplexities_are_the_papers_only_over_its_words() -> None:
    known = facts()
    words = dataclasses.replace(known.tokenizers[0], kind="whitespace")
    rows = [row("perplexity", "segatron-xl", "wikitext-103", "test", "ppl", 24.0, 100, 1.0)]
    assert not of("segatron Table 1", report(rows))[0].same
    own = of("segatron Table 1", report(rows, dataclasses.replace(known, tokenizers=(words,))))[0]
    assert own.distance("segatron-xl") == "+1.5 [+0.5, +2.5]"


def test_large_models_stand_beside_large_ones() -> None:
    known = facts()
    models = tuple(dataclasses.replace(model, parameters=284_000_000) for model in known.models)
    own = of("segatron Table 1", report(None, dataclasses.replace(known, models=models)))[0]
    assert own.printed == {"transformer-xl": 18.3, "segatron-xl": 17.1}


def test_parts_of_glue_are_no_whole_sets() -> None:
    rows = [row("glue", name, dataset, "dev", "accuracy", 0.6, 200, 0.03, None)
            for name, dataset in itertools.product(("bert-", "segabert"), ("rte", "qnli-part"))]  # fmt: skip
    assert {one.ours_on: one.same for one in of("segatron Table 3", report(rows))} == {
        "`qnli-part` dev, accuracy × 100": False,
        "`rte` dev, accuracy × 100": True,
    }


def test_claims_are_few_and_say_what_was_not_run() -> None:
    lines = chapter.claims(chapter.judged(report(), exhibits()))
    rows = [line for line in lines if line.startswith("| ") and "[" in line]
    assert 5 <= len(rows) <= 13
    assert "[T-TA Table 2](#t-ta-paper" in lines[-2], "it was not run"
    empty = chapter.claims(chapter.judged(report([]), exhibits()))
    assert len(empty) == 2 and not any(line.startswith("|") for line in empty)


def test_what_was_not_run_says_how_to_run_it() -> None:
    exhibit = next(one for one in exhibits() if (one.paper, one.place) == ("tta", "Table 2"))
    text = "\n".join(chapter.body(report(), exhibit))
    assert "`make repro PRESET=small`" in text and "`make repro PRESET=paper-nmt`" in text
    assert "| `tta` | 28.83 | 30.20 |" in text
    assert "oracle" not in text, "it has a table of its own"


def test_printed_numbers_keep_their_decimals() -> None:
    exhibit = next(one for one in exhibits() if (one.paper, one.place) == ("tta", "Table 7"))
    assert "| `unilm` | 341.5 | 70.80 | 3.82 |" in chapter.body(report(), exhibit)


def test_the_report_knows_which_parts_ran() -> None:
    whole = times(timings(), facts())
    ran = [part.title.partition(":")[0] for part in whole.papers.parts if part.ran]
    assert ran == ["T-TA paper, Figure 4", "T-TA paper, Figure 5"]
    assert [one.title for one in whole.sections if one.ran] == ["Run-time"]
    glue = next(one for one in document([], facts()).sections if one.title == "GLUE")
    assert "`evaluate.glue`" in glue.lines[0]


def test_only_an_n_gram_model_of_the_run_is_that_row() -> None:
    known = dataclasses.replace(facts(), ngrams=("news-and-books",))
    systems = ("ngram-5-and-tta", "tta", "news-and-books")
    rows = [row("rerank", name, "lists", "test", "wer", 10.0 + at, 100) for at, name in enumerate(systems)]
    assert of("tta Table 1", Report(rows, known))[0].ours["ngram"].value == 12.0


def test_the_row_of_n_grams_is_the_n_gram_model_alone() -> None:
    """The reports on real sets also weigh the 5-gram and T-TA together; that is no row of the paper."""
    for name in ("small", "small-gpu"):
        rows = read_results(report_rows(name))
        known = read_facts(committed(f"reports/{name}/facts.json"))
        report = Report(rows, known)
        for series in of("tta Table 1", report):
            lists = series.ours_on.split("`")[1]
            alone = report.find("rerank", lists, "test", "ngram-5", "wer")
            assert report.find("rerank", lists, "test", "ngram-5-and-tta", "wer") is not None
            assert alone is not None and series.ours["ngram"] == alone


def test_ours_of_similarity_are_in_the_papers_unit() -> None:
    rows = [
        row("sts", "tta", dataset, "test", "pearson", 0.5, 1379, 0.02, None) for dataset in ("stsb", "sick")
    ]
    for ours in (*of("tta Table 3", report(rows)), *of("tta Table 4", report(rows))):
        assert ours.printed["tta"] > 1
        assert ours.text("tta") == "50.0 [48.0, 52.0]"
