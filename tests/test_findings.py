"""What README.md and docs/findings.md say of the studies is in their committed reports."""

from __future__ import annotations

import itertools
import math

from quartet.report.cells import Cell, Cells, Place
from quartet.results import Result, read_results
from tests.committed import report_rows
from tests.imports import ROOT

README, TEXT = (
    " ".join((ROOT / page).read_text(encoding="utf-8").split())  # whatever its line breaks
    for page in ("README.md", "docs/findings.md")
)


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


def test_what_other_positions_change_in_segabert_is_what_their_report_says() -> None:
    small, others = (Cells(read_results(report_rows(name))) for name in ("small", "small-positions"))
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
        ("bert- - segabert-restart-split", "and {}: less than in the three trainings above"),
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
    found = Cells(read_results(report_rows("small-tta-segments")))
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
        shown = [row.ci_high is not None and row.ci_high < 0 for row in pair.rows]
        assert all(shown) if model == "tta-segments" else not all(shown), "raised, as README says of it alone"
    place = "reference-perplexity", "librispeech-clean", "test"
    _, second, *last = (cell_of(found, *place, model, "pppl-median").rows for model in models)
    for rows in last:
        for ours, theirs in zip(rows, second, strict=True):
            assert ours.ci_high is not None and theirs.ci_low is not None
            assert ours.ci_high < theirs.ci_low, "below it with each seed"
    apart = []
    for lists, (plain, other) in itertools.product(
        ("librispeech-clean", "librispeech-other"), itertools.combinations(models, 2)
    ):
        bounds = cell_of(found, "rerank-pairs", lists, "test", f"{plain} - {other}", "wer-difference").bounds
        assert bounds is not None
        if bounds[0] > 0 or bounds[1] < 0:
            apart.append((lists, plain, other, "above" if bounds[1] < 0 else "below"))
    assert apart == [("librispeech-clean", "tta-spans", "tta-segments", "above")], "one, with both seeds"


def test_what_further_seeds_change_in_bert_is_what_their_report_says() -> None:
    found = Cells(read_results(report_rows("small-bert")))
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


def test_what_further_seeds_change_in_the_main_models_is_what_their_report_says() -> None:
    found = Cells(read_results(report_rows("small-seeds")))

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
    assert (
        "With every seed T-TA lowers LibriSpeech's word error rate and is ahead of the masked biLM" in README
    )
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
    for ours, theirs in zip(*(one.rows for one in similar), strict=True):
        assert ours.ci_low is not None and theirs.ci_high is not None
        assert ours.ci_low > theirs.ci_high, "ahead in similarity with every seed"

    def changes(pair: str) -> list[str]:
        return [
            as_perplexity(row) for row in cell("perplexity-pairs", "wikitext-2", pair, "loss-difference").rows
        ]

    one, two, three = changes("transformer-xl - segatron-xl")
    assert f"{one}, {two} and {three}, so" in TEXT
    small = Cells(read_results(report_rows("small")))
    place = "perplexity-pairs", "wikitext-2", "test", "transformer-xl - segatron-xl", "loss-difference"
    assert f"processor in reports/small, comes to {as_perplexity(cell_of(small, *place).rows[0])}." in TEXT
    one, two, three = (told.split()[0] for told in changes("transformer-xl - segatron-xl-reset"))
    assert f"({one}, {two} and {three} %)" in TEXT
    one, two, three = (f"{row.value:.1f}" for row in cell("perplexity", "books", "bilm", "pppl").rows)
    assert f"{one}, {two} and {three}, as" in TEXT


def test_what_the_papers_size_changes_is_what_its_report_says() -> None:
    small, found = (Cells(read_results(report_rows(name))) for name in ("small", "small-gpu"))
    lists = ("clean", "other")

    def told(*place: str, scale: float = 1, digits: int = 1) -> str:
        cell = cell_of(found, *place)
        spread = "" if cell.spread is None else f" ± {scale * cell.spread:.{digits}f}"
        return f"{scale * cell.value:.{digits}f}{spread}"

    def rate(of: str, system: str) -> str:
        return told("rerank", f"librispeech-{of}", "test", system, "wer", digits=2)

    def better(of: str, pair: str) -> int:
        """In how many trainings the pair's second is shown to be below its first."""
        cell = cell_of(found, "rerank-pairs", f"librispeech-{of}", "test", pair, "wer-difference")
        return sum((row.ci_low or 0) > 0 for row in cell.rows)

    def worse(of: str, pair: str) -> int:
        cell = cell_of(found, "rerank-pairs", f"librispeech-{of}", "test", pair, "wer-difference")
        return sum((row.ci_high or 0) < 0 for row in cell.rows)

    clean, other = (rate(of, "tta") for of in lists)
    assert f"rates of {clean} % (test-clean) and {other} % (test-other) are below" in TEXT
    assert f"T-TA comes to {clean} and {other} %" in README
    for system, says in (
        ("bilm", "masked biLM's ({} and {} %) with every seed"),
        ("unilm", "UniLM's ({} and {} %) are shown above"),
        ("ngram-5-and-tta", "both together come to {} and {} %"),
    ):
        assert says.format(*(rate(of, system) for of in lists)) in TEXT
    assert "with the 5-gram to {} and {} %".format(*(rate(of, "ngram-5-and-tta") for of in lists)) in README
    assert "5-gram's {} % on test-clean".format(rate("clean", "ngram-5")) in TEXT
    assert f"its {rate('other', 'ngram-5')} % on test-other is below it" in TEXT
    for of in lists:
        changed = cell_of(found, "rerank", f"librispeech-{of}", "test", "tta", "wer-difference").bounds
        assert changed is not None and changed[1] < 0, "below the first pass with every seed"
    assert [better(of, "bilm - tta") for of in lists] == [3, 3]
    assert [better(of, "unilm - tta") for of in lists] == [2, 0]
    assert [worse(of, "ngram-5 - tta") for of in lists] == [0, 3]
    assert better("clean", "ngram-5 - tta") == 0, "not told from it"
    assert better("clean", "ngram-5 - ngram-5-and-tta") == 3

    weights = " ".join((ROOT / "weights" / "README.md").read_text(encoding="utf-8").split())
    clean, other = (
        " and ".join(f"{row.value:.2f}" for row in cell.rows[1:])
        for cell in (cell_of(found, "rerank", f"librispeech-{of}", "test", "tta", "wer") for of in lists)
    )
    assert f"{clean} % on test-clean, {other} % on test-other" in weights

    def like(system: str) -> str:
        return told("sts", "stsb", "test", system, "pearson", scale=100)

    assert f"vectors are at {like('tta/context')} on STS-B" in TEXT
    assert f"ahead of the masked biLM's {like('bilm/context')}." in TEXT
    assert f"own embedding layer too ({like('tta/embed')})" in TEXT
    ours, theirs, below = (
        cell_of(found, "sts", "stsb", "test", system, "pearson")
        for system in ("tta/context", "bilm/context", "tta/embed")
    )
    for one, two, three in zip(ours.rows, theirs.rows, below.rows, strict=True):
        assert (one.ci_low or 0) > (two.ci_high or 1)
        assert one.value > three.value and (one.ci_low or 0) < (three.ci_high or 1)
    words = cell_of(found, "sts", "stsb", "test", "word2vec", "pearson").rows[0]
    assert words.ci_low is not None and words.ci_high is not None
    shown = f"{100 * words.value:.1f} [{100 * words.ci_low:.1f}, {100 * words.ci_high:.1f}]"
    assert f"the same books are at {shown}" in TEXT

    first = [
        f"{cell_of(found, 'rerank', name, 'test', 'first-pass', 'bleu').value:.1f}"
        for name in ("multi30k-de-en", "multi30k-fr-en")
    ]
    assert f"(BLEU {first[0]} and {first[1]} before reranking)" in TEXT
    changes = [
        row
        for place in found.places("rerank")
        if (place.split, place.metric) == ("test", "bleu-difference")
        for row in cell_of(found, *place).rows
    ]
    assert len(changes) > 20
    assert all((row.ci_low or 0) <= 0 <= (row.ci_high or 0) for row in changes)

    unilm, bilm, tta = (
        (
            told("perplexity", "books", "test", model, metric),
            cell_of(small, "perplexity", "books", "test", model, metric).value,
        )
        for model, metric in (("unilm", "ppl"), ("bilm", "pppl"), ("tta", "pppl"))
    )
    assert f"perplexity is {unilm[0]} ({unilm[1]:.1f} in reports/small)" in TEXT
    assert f"are {bilm[0]} and {tta[0]} ({bilm[1]:.1f} and {tta[1]:.1f})" in TEXT
