"""What README.md and docs/findings.md claim of the studies holds in their committed reports, however it is worded."""

from __future__ import annotations

import itertools
from statistics import fmean

import pytest

from quartet.report.cells import Cell, Cells, FigureKey
from quartet.report.facts import read_facts
from quartet.report.papers.chapter import judged
from quartet.report.papers.exhibits import exhibits
from quartet.report.papers.series import VERDICTS
from quartet.report.run_report import Report
from quartet.results import read_results
from quartet.statistics.intervals import LEAST_DRAWS, LEAST_UNITS
from tests.committed import report_rows

STUDIES = ("small", "small-bert", "small-gpu", "small-positions", "small-seeds", "small-tta-segments")
LISTS = ("librispeech-clean", "librispeech-other")


def cells(name: str) -> Cells:
    return Cells(read_results(report_rows(name)))


def cell_of(found: Cells, *place: str) -> Cell:
    """The cell of a table, data set, split, system and metric, which must be there."""
    cell = found.find(FigureKey(*place))
    assert cell is not None, place
    return cell


def shown(cell: Cell) -> list[int]:
    """Of each training, whether the interval of a difference is above 0 (1), below it (-1) or neither."""
    sides = []
    for row in cell.rows:
        assert row.ci_low is not None and row.ci_high is not None, row
        sides.append((row.ci_low > 0) - (row.ci_high < 0))
    return sides


def pair(found: Cells, lists: str, names: str) -> list[int]:
    return shown(cell_of(found, "rerank-pairs", lists, "test", names, "wer-difference"))


def change(found: Cells, lists: str, name: str) -> list[int]:
    return shown(cell_of(found, "rerank", lists, "test", name, "wer-difference"))


def values(found: Cells, *place: str) -> list[float]:
    return [row.value for row in cell_of(found, *place).rows]


def similarity(found: Cells, dataset: str, system: str) -> list[float]:
    return values(found, "sts", dataset, "test", system, "pearson")


def best(found: Cells, dataset: str, model: str) -> float:
    """The mean over the trainings of a model's best reading."""
    readings = ("context", "embed", "table")
    return max(fmean(similarity(found, dataset, f"{model}/{reading}")) for reading in readings)


@pytest.mark.parametrize("study", ["small", "small-gpu"])
def test_t_ta_lowers_the_error_rate_on_two_of_four_sets(study: str) -> None:
    found = cells(study)
    for lists in LISTS:
        assert set(change(found, lists, "tta")) == {-1}
        assert set(pair(found, lists, "bilm - tta")) == {1}
    for lists in ("speech-clean", "speech-other"):
        assert set(change(found, lists, "tta")) == set(pair(found, lists, "bilm - tta")) == {0}


def test_no_model_is_shown_to_help_a_translator() -> None:
    for study in ("small", "small-gpu"):
        found = cells(study)
        places = [
            one for one in found.places("rerank") if one.metric == "bleu-difference" and one.split == "test"
        ]
        assert len(places) > 10
        assert all(set(shown(cell_of(found, *place))) == {0} for place in places)


def test_the_five_gram_and_t_ta() -> None:
    found, small = cells("small-gpu"), cells("small")
    assert [pair(found, lists, "ngram-5 - tta") for lists in LISTS] == [[0] * 3, [-1] * 3]
    assert [pair(small, lists, "ngram-5 - tta") for lists in LISTS] == [[-1], [-1]]
    assert [pair(found, lists, "ngram-5 - ngram-5-and-tta") for lists in LISTS] == [[1] * 3, [0] * 3]
    for study in ("small", "small-gpu"):
        assert not any("ngram-5-and-unilm" in place.system for place in cells(study).places("rerank"))


def test_t_ta_and_unilm() -> None:
    for study in ("small-gpu", "small-seeds"):
        assert [pair(cells(study), lists, "unilm - tta").count(1) for lists in LISTS] == [2, 0]
    found = cells("small-seeds")
    for name, lists in itertools.product(("tta", "unilm"), LISTS):
        assert change(found, lists, name) == [-1] * 3


@pytest.mark.parametrize("study", ["small", "small-seeds", "small-gpu"])
def test_no_model_has_the_best_vectors(study: str) -> None:
    """By the best reading of each; word2vec of the same text is above all."""
    found = cells(study)
    word2vec = "word2vec" if study == "small-gpu" else "word2vec/books-wordpiece-8k"
    for dataset in ("stsb", "sick"):
        top = fmean(similarity(found, dataset, word2vec))
        models = [best(found, dataset, model) for model in ("unilm", "bilm", "tta")]
        assert max(models) < top
        assert max(models) - models[2] < 2.5 and models[2] - min(models) < 2.5
        masked, intact = (similarity(found, dataset, f"{name}/context") for name in ("bilm", "bilm-intact"))
        assert all(one < other for one, other in zip(masked, intact, strict=True))
    context, table = (similarity(found, "sick", f"tta/{reading}") for reading in ("context", "table"))
    assert all(one < other for one, other in zip(context, table, strict=True))


@pytest.mark.parametrize(("study", "ours"), [("small-bert", 1), ("small", 1)])
def test_segment_positions_raise_berts_validation_loss(study: str, ours: int) -> None:
    plain, aware = (
        values(cells(study), "training", "books", "valid", name, "loss") for name in ("bert-", "segabert")
    )
    assert all(ours * (other - one) > 0 for one, other in zip(plain, aware, strict=True))


def test_segment_positions_in_transformer_xl() -> None:
    place = "perplexity-pairs", "wikitext-2", "test"

    def sides(study: str, names: str) -> list[int]:
        return shown(cell_of(cells(study), *place, names, "loss-difference"))

    assert sides("small-seeds", "transformer-xl - segatron-xl") == [-1, 0, 1], "the seeds disagree"
    assert sides("small-seeds", "transformer-xl - segatron-xl-reset") == [-1] * 3
    assert sides("small", "transformer-xl - segatron-xl") == [0]
    assert sides("small", "transformer-xl - segatron-xl-reset") == [-1]
    assert sides("small", "segatron-xl - segatron-xl-released") == [0]


def test_segment_positions_in_tta_change_no_error_rate_but_one() -> None:
    found = cells("small-tta-segments")
    models = ("tta-spans", "tta-segments", "tta-segments-split", "tta-segments-restart-split")
    apart = {
        (lists, one, other): verdicts
        for lists, (one, other) in itertools.product(LISTS, itertools.combinations(models, 2))
        if len(set(verdicts := pair(found, lists, f"{one} - {other}"))) == 1 and verdicts[0]
    }
    assert apart == {(LISTS[0], "tta-spans", "tta-segments"): [-1, -1]}


@pytest.mark.parametrize("study", STUDIES)
def test_a_thousand_draws_bear_no_p_and_no_verdict(study: str) -> None:
    facts, rows = read_facts(report_rows(study).with_name("facts.json")), read_results(report_rows(study))
    assert facts.draws is not None and facts.draws < LEAST_DRAWS
    assert all(row.p is None for row in rows)
    lists = [row for row in rows if row.table in ("rerank", "rerank-pairs") and row.ci_low is not None]
    assert all((row.unit, row.units) == ("utterances", row.n) for row in lists)
    found = judged(Report(rows, facts), exhibits())
    assert not {one.verdict for claim in found for one in claim.comparisons} & {*VERDICTS[:3], *VERDICTS[-3:]}


@pytest.mark.parametrize("study", STUDIES)
def test_nine_books_have_no_interval(study: str) -> None:
    for row in read_results(report_rows(study)):
        of_books = row.dataset == "books" and row.split != "valid"
        few = row.n < LEAST_UNITS and row.table == "rerank-length"
        assert (row.ci_low is None and row.p is None) or not (of_books or few), row
