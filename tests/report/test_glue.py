"""GLUE in the report: the paper's form, averages of whole rows only, ranges over seeds, and the baselines."""

from __future__ import annotations

import pytest

from quartet.report.published import published_figures
from quartet.report.spec import AverageSpec, sections
from quartet.results import Result
from tests.report.rendered import shown
from tests.report.synthetic import row

#: The eight sets with the split and the metrics of each.
SETS = {
    ("mnli", "dev_matched"): ("accuracy",),
    ("qnli", "dev"): ("accuracy",),
    ("qqp", "dev"): ("accuracy", "f1"),
    ("rte", "dev"): ("accuracy",),
    ("sst2", "dev"): ("accuracy",),
    ("mrpc", "dev"): ("accuracy", "f1"),
    ("cola", "dev"): ("matthews",),
    ("stsb", "dev"): ("pearson", "spearman"),
}


def measured(system: str, value: float, half: float | None = 0.05, seeds: int = 3) -> list[Result]:
    """A system's figures on the eight sets; its second metrics are eight points higher."""
    rows = []
    for (dataset, split), metrics in SETS.items():
        for place, metric in enumerate(metrics):
            here = value + 0.08 * place
            rows.append(row("glue", system, dataset, split, metric, here, 1000, half))
            if seeds > 1:
                rows.append(row("glue", system, dataset, split, f"{metric}-lowest", here - 0.02, seeds))
                rows.append(row("glue", system, dataset, split, f"{metric}-highest", here + 0.01, seeds))
        if seeds:
            for metric, chosen in (("batch-size", 16), ("learning-rate", 3e-5), ("epochs", 4)):
                rows.append(row("glue", system, dataset, split, metric, chosen, 72))
            rows.append(row("glue", system, dataset, split, "cut", 31, 1000))
            rows.append(row("glue", system, dataset, split, "in-train", 2, 1000))
    return rows


def page(rows: list[Result]) -> str:
    text, report = shown(rows, "glue")
    assert report.rest("glue") == [], "every figure is shown"
    return text


def entries(text: str, name: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    return [entry.strip() for entry in line.split("|")[2:-1]]


def test_the_papers_form_with_its_rows_below_ours() -> None:
    text = page([*measured("segabert", 0.6), *measured("majority", 0.5, 0.02, 0)])
    ours = ["60.0", "60.0", "68.0", "60.0", "60.0", "68.0", "60.0", "68.0", "63.0"]
    assert entries(text, "`segabert`") == ours
    assert entries(text, "paper: `segabert`")[:3] == ["83.8", "91.5", "87.0"]
    assert entries(text, "paper: `bert-large-best-of-3`")[-1] == "85.3"
    assert "MNLI-m, accuracy | QNLI, accuracy | QQP, F1 |" in text


def test_only_a_whole_row_has_an_average() -> None:
    rows = [one for one in measured("tta", 0.6) if one.dataset != "rte"]
    assert entries(page([*rows, *measured("segabert", 0.7)]), "`tta`")[3] == "–"
    assert entries(page([*rows, *measured("segabert", 0.7)]), "`tta`")[-1] == "–"


def test_a_sets_table_has_every_metric_its_range_and_the_choice() -> None:
    text = page([*measured("segabert", 0.6), *measured("bag-of-words", 0.5, 0.02, 0)])
    mrpc = text.split("**`mrpc`** dev, × 100:")[1].split("**`")[0]
    assert entries(mrpc, "`segabert`") == [
        "60.0 [55.0, 65.0]", "58.0 to 61.0 (3)", "68.0 [63.0, 73.0]", "66.0 to 69.0 (3)", "16 / 3e-05 / 4 (of 72)",
        "31", "2",
    ]  # fmt: skip
    assert entries(mrpc, "`bag-of-words`")[:2] == ["50.0 [48.0, 52.0]", "–"]
    assert "n = 1,000 examples" in mrpc
    alone = page(measured("segabert", 0.6, seeds=1))
    assert "of seeds" not in alone.split("**`mrpc`**")[1] and " (1)" not in alone


def test_test_sets_and_others_stand_apart() -> None:
    rows = [
        row("glue", "segabert", "mrpc", "test", "accuracy", 0.7, 1725, 0.03),
        row("glue", "segabert", "mrpc", "test", "f1", 0.8, 1725, 0.03),
        row("glue", "segabert", "wnli", "dev", "accuracy", 0.5, 71, 0.1),
        row("glue", "segabert", "quora", "dev", "accuracy", 0.5, 10_000, 0.01),
    ]
    text = page(rows)
    assert "Table 4" in text and "Table 3**" not in text and "dev, in the form" not in text
    assert entries(text, "`segabert`")[5] == "80.0"
    assert entries(text.split("**`quora`**")[1], "`segabert`") == ["50.0 [49.0, 51.0]"]


@pytest.mark.parametrize("name", ["segatron-glue-dev", "segatron-glue-test"])
def test_the_papers_average_is_the_plain_mean_of_its_eight_columns(name: str) -> None:
    table = published_figures().tables[name]
    (spec,) = (part for part in sections()["glue"].body if isinstance(part, AverageSpec))
    assert table.columns == (*(column.dataset for column in spec.average), "average")
    for printed in table.rows.values():
        numbers = [number for number in printed if number is not None]
        assert sum(numbers[:8]) / 8 == pytest.approx(numbers[8], abs=0.0501)
