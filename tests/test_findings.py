"""What README.md and docs/findings.md claim of the studies holds in their committed reports, however it is worded."""

from __future__ import annotations

import itertools

from quartet.report.cells import Cell, Cells, FigureKey
from quartet.results import Result, read_results
from tests.committed import report_rows

LISTS = ("librispeech-clean", "librispeech-other")


def cells(name: str) -> Cells:
    return Cells(read_results(report_rows(name)))


def cell_of(found: Cells, *place: str) -> Cell:
    """The cell of a table, data set, split, system and metric, which must be there."""
    cell = found.find(FigureKey(*place))
    assert cell is not None, place
    return cell


def low(row: Result) -> float:
    assert row.ci_low is not None
    return row.ci_low


def high(row: Result) -> float:
    assert row.ci_high is not None
    return row.ci_high


def shown(cell: Cell) -> list[int]:
    """Of each training, whether the interval of a difference is above 0 (1), below it (-1) or neither."""
    return [1 if low(row) > 0 else -1 if high(row) < 0 else 0 for row in cell.rows]


def pair(found: Cells, lists: str, names: str) -> list[int]:
    return shown(cell_of(found, "rerank-pairs", lists, "test", names, "wer-difference"))


def losses(found: Cells, corpus: str, names: str) -> list[int]:
    return shown(cell_of(found, "perplexity-pairs", corpus, "test", names, "loss-difference"))


def values(found: Cells, *place: str) -> list[float]:
    return [row.value for row in cell_of(found, *place).rows]


def test_the_study_on_real_sets() -> None:
    found = cells("small")
    for lists in LISTS:
        rates = {
            name: cell_of(found, "rerank", lists, "test", name, "wer").value
            for name in ("first-pass", "ngram-5", "bilm", "tta")
        }
        assert rates["ngram-5"] < rates["tta"] < rates["bilm"] <= rates["first-pass"] + 0.005
    similar = [
        cell_of(found, "sts", "stsb", "test", f"{name}/context", "pearson") for name in ("tta", "bilm")
    ]
    assert low(similar[0].rows[0]) > high(similar[1].rows[0])
    gains = [
        row
        for place in found.places("rerank")
        if (place.split, place.metric) == ("test", "bleu-difference")
        for row in cell_of(found, *place).rows
    ]
    assert len(gains) > 10
    assert all(low(row) <= 0 <= high(row) for row in gains), "no model is shown to help a translator"
    for corpus, ending in (("wikitext-2", ""), ("books", "-books")):
        plain = f"transformer-xl{ending}"
        assert losses(found, corpus, f"{plain} - segatron-xl{ending}") == [0]
        assert losses(found, corpus, f"{plain} - segatron-xl-reset{ending}") == [-1]
    for place, higher in (
        (("training", "books", "valid", "{}", "loss"), True),
        (("sts", "sts-average", "test", "{}/nli", "spearman-mean"), False),
    ):
        plain_value, aware = (
            cell_of(found, *(part.format(name) for part in place)).value for name in ("bert-", "segabert")
        )
        assert (aware > plain_value) == higher


def test_three_seeds_of_the_main_models() -> None:
    found, small = cells("small-seeds"), cells("small")
    for name, lists in itertools.product(("tta", "unilm"), LISTS):
        assert shown(cell_of(found, "rerank", lists, "test", name, "wer-difference")) == [-1] * 3
    assert [pair(found, lists, "unilm - tta").count(1) for lists in LISTS] == [2, 0]
    tta, bilm = (
        cell_of(found, "sts", "stsb", "test", f"{name}/context", "pearson") for name in ("tta", "bilm")
    )
    assert all(low(ours) > high(theirs) for ours, theirs in zip(tta.rows, bilm.rows, strict=True))
    segments = losses(found, "wikitext-2", "transformer-xl - segatron-xl")
    assert {-1, 1} <= set(segments), "the seeds do not agree"
    assert losses(small, "wikitext-2", "transformer-xl - segatron-xl") == [0]
    assert losses(found, "wikitext-2", "transformer-xl - segatron-xl-reset") == [-1] * 3
    pppl = values(found, "perplexity", "books", "test", "bilm", "pppl")
    assert max(pppl) > 1.15 * min(pppl), "one training learned late"


def test_the_papers_size() -> None:
    found, small = cells("small-gpu"), cells("small")
    for lists in LISTS:
        assert shown(cell_of(found, "rerank", lists, "test", "tta", "wer-difference")) == [-1] * 3
        assert pair(found, lists, "bilm - tta") == [1] * 3
    assert [pair(found, lists, "unilm - tta").count(1) for lists in LISTS] == [2, 0]
    assert pair(found, LISTS[0], "ngram-5 - tta") == [0] * 3
    assert pair(found, LISTS[1], "ngram-5 - tta") == [-1] * 3
    assert pair(found, LISTS[0], "ngram-5 - ngram-5-and-tta") == [1] * 3
    context, embed, bilm, words = (
        cell_of(found, "sts", "stsb", "test", system, "pearson").rows
        for system in ("tta/context", "tta/embed", "bilm/context", "word2vec")
    )
    for ours, below, theirs in zip(context, embed, bilm, strict=True):
        assert low(ours) > high(theirs)
        assert ours.value > below.value and low(ours) < high(below)
        assert words[0].value > ours.value
    changes = [
        row
        for place in found.places("rerank")
        if (place.split, place.metric) == ("test", "bleu-difference")
        for row in cell_of(found, *place).rows
    ]
    assert len(changes) > 20
    assert all(low(row) <= 0 <= high(row) for row in changes)
    for name, metric in (("unilm", "ppl"), ("bilm", "pppl"), ("tta", "pppl")):
        place = ("perplexity", "books", "test", name, metric)
        assert max(values(found, *place)) < cell_of(small, *place).value


def test_three_seeds_of_bert_and_segabert() -> None:
    found = cells("small-bert")
    for place, sign in (
        (("training", "books", "valid", "{}", "loss"), 1),
        (("glue", "mnli-part", "dev_matched", "{}", "accuracy"), 1),
        (("sts", "sts-average", "test", "{}/nli", "spearman-mean"), -1),
    ):
        plain, aware = (
            values(found, *(part.format(name) for part in place)) for name in ("bert-", "segabert")
        )
        assert len(plain) == len(aware) == 3
        assert all(sign * (other - one) > 0 for one, other in zip(plain, aware, strict=True))
    assert losses(found, "books", "bert- - segabert") == [-1] * 3


def test_other_positions_in_segabert() -> None:
    found, three = cells("small-positions"), cells("small-bert")
    place = "perplexity-pairs", "books", "test"
    before = values(three, *place, "bert- - segabert", "loss-difference")
    for name in ("segabert-restart", "segabert-restart-split"):
        cell = cell_of(found, *place, f"bert- - {name}", "loss-difference")
        assert shown(cell) == [-1]
        assert cell.value > max(before), "less than in the three trainings"
    assert losses(found, "books", "segabert-restart - segabert-restart-split") == [1]


def test_segment_positions_in_tta() -> None:
    found = cells("small-tta-segments")
    assert losses(found, "books", "tta-spans - tta-segments") == [-1, -1]
    assert losses(found, "books", "tta-spans - tta-segments-restart-split") == [0, 0]
    assert len(set(losses(found, "books", "tta-spans - tta-segments-split"))) == 2, "the two do not agree"
    models = ("tta-segments", "tta-segments-split", "tta-segments-restart-split")
    place = "reference-perplexity", LISTS[0], "test"
    second, *last = (cell_of(found, *place, model, "pppl-median").rows for model in models)
    for rows in last:
        assert all(high(ours) < low(theirs) for ours, theirs in zip(rows, second, strict=True))
    apart = {
        (lists, one, other): verdicts
        for lists, (one, other) in itertools.product(LISTS, itertools.combinations(("tta-spans", *models), 2))
        if len(set(verdicts := pair(found, lists, f"{one} - {other}"))) == 1 and verdicts[0]
    }
    assert apart == {(LISTS[0], "tta-spans", "tta-segments"): [-1, -1]}


def test_none_of_seven_glue_sets_is_shown_to_gain() -> None:
    found = cells("small")
    sets = {
        (place.dataset, place.split, place.metric)
        for place in found.places("glue")
        if place.system == "segabert"
    }
    judged = [one for one in sets if one[1].startswith("dev") and one[2] in ("accuracy", "f1", "matthews")]
    assert len({dataset for dataset, _, _ in judged}) >= 7
    for dataset, split, metric in judged:
        ours, theirs = (
            cell_of(found, "glue", dataset, split, model, metric) for model in ("segabert", "bert-")
        )
        assert ours.bounds is not None
        assert theirs.bounds is not None
        assert ours.bounds[0] <= theirs.bounds[1], dataset
