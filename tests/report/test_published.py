"""The papers' figures that come with the package."""

from __future__ import annotations

import pytest

from quartet.report.published import PublishedTable, published_figures


def test_both_papers_are_there_with_numbers_only() -> None:
    book = published_figures()
    assert set(book.papers) == {"tta", "segatron"}
    for name, table in book.tables.items():
        assert table.rows, name
        for system, numbers in table.rows.items():
            assert all(number is None or isinstance(number, float | int) for number in numbers), (
                name,
                system,
            )


@pytest.mark.parametrize(
    ("table", "system", "column", "value"),
    [
        ("tta-wer-own", "tta", "dev-clean", 3.67),
        ("tta-wer-shin2019", "oracle", "test-other", 13.61),
        ("tta-bleu", "bilm", "fr-en", 30.32),
        ("tta-stsb", "tta", "test-context", 62.27),
        ("tta-stsb", "bilm", "test-embed", None),
        ("tta-stsb", "bert-large", "test-embed", None),
        ("tta-sick", "unilm", "test-embed", 65.69),
        ("tta-perplexity-test-clean", "tta", "mean", 590.0),
        ("segatron-wikitext103", "segatron-xl-base", "ppl", 22.5),
        ("segatron-squad", "segabert", "v2.0-f1", 79.2),
    ],
)
def test_some_figures(table: str, system: str, column: str, value: float | None) -> None:
    assert published_figures().tables[table].get(system, column) == value


def test_the_printed_ratio_is_that_of_the_printed_times() -> None:
    for name in ("tta-runtime-cpu", "tta-runtime-gpu"):
        tta, bilm, ratio = published_figures().tables[name].rows["sts"]
        assert tta is not None
        assert bilm is not None
        assert bilm / tta == pytest.approx(ratio, abs=0.05)


def test_averages_are_those_of_their_rows() -> None:
    for name in ("segatron-glue-test", "segatron-sts"):
        for system, numbers in published_figures().tables[name].rows.items():
            known = [number for number in numbers if number is not None]
            assert sum(known[:-1]) / len(known[:-1]) == pytest.approx(known[-1], abs=0.12), (name, system)


def test_a_row_must_fit_its_columns() -> None:
    with pytest.raises(ValueError, match="tta: 1 numbers for 2 columns"):
        PublishedTable(paper="tta", place="", title="", unit="", columns=("a", "b"), rows={"tta": (1.0,)})
