"""The section of entailment: accuracies, Table 5's form, and nothing of it among the untrained similarities."""

from __future__ import annotations

import pytest

from quartet.evaluation.nli import AVERAGE, SEVEN
from quartet.report.cells import Cells
from quartet.report.page import Report
from quartet.report.published import published
from quartet.report.sections import nli, sts
from quartet.results import Result
from tests.report.synthetic import facts, row
from tests.report.test_tables import table_row


def tuned_rows(missing: str = "") -> list[Result]:
    """Two models, one of them with the control, on two sets of entailment and on the seven but one."""
    found = [row("nli", "majority", "snli", "dev", "accuracy", 0.33, 9842, 0.01, None)]
    for system, value in (("segabert", 0.61), ("segabert/random", 0.44), ("bert-", 0.59)):
        found.append(row("nli", system, "snli", "dev", "accuracy", value, 9842, 0.01))
        found.append(row("nli", system, "hans", "test", "accuracy", 0.5, 30_000, 0.01))
    for system, value in (
        ("segabert/untuned", 0.31), ("segabert/nli", 0.45), ("segabert/random-nli", 0.40), ("bert-/nli", 0.44),
        ("bert-/untuned", 0.47),
    ):  # fmt: skip
        found += [
            row("sts", system, name, "test", "spearman", value, 1500, 0.02)
            for name in SEVEN
            if name != missing
        ]
        if not missing:
            found.append(row("sts", system, AVERAGE, "test", "spearman-mean", value, 20_000, 0.01))
    return found


def report(rows: list[Result]) -> Report:
    return Report(Cells(rows), facts())


def test_accuracies_and_the_form_of_table_5() -> None:
    text = "\n".join(nli.body(report(tuned_rows())))
    accuracies, ours, papers = (
        text.split("| system |")[1],
        text.split("| system |")[2],
        text.split("| published |")[1],
    )
    assert accuracies.startswith(" snli dev | hans test |")
    assert table_row(accuracies, "majority") == ["33.0 [32.0, 34.0]", "–"]
    assert table_row(accuracies, "segabert/random")[0] == "44.0 [43.0, 45.0]"
    assert ours.startswith(" STS-12 | STS-13 | STS-14 | STS-15 | STS-16 | STS-B | SICK-R | average |")
    assert table_row(ours, "segabert/nli") == [*["45.0 [43.0, 47.0]"] * 7, "45.0 [44.0, 46.0]"]
    assert table_row(papers, "s-segabert-large") == [
        "74.49", "78.64", "74.88", "83.28", "77.10", "79.42", "73.77", "77.37",
    ]  # fmt: skip
    assert published().tables["segatron-sts"].columns == (*SEVEN, "average")


def test_what_the_tuning_is_shown_to_change() -> None:
    (said,) = nli.findings(report(tuned_rows()))
    assert "the seven sets' average" in said
    assert "`segabert` 45.0 [44.0, 46.0]" in said
    assert "Shown above what the same model has untuned: `segabert`." in said
    assert "Shown below what the same model has untuned: `bert-`." in said
    assert "Shown above the same tuning of random weights: `segabert`." in said


def test_without_all_seven_there_is_no_average() -> None:
    some = report(tuned_rows(missing="sts13"))
    ours = "\n".join(nli.body(some)).split("| system |")[2].split("Segatron paper")[0]
    assert "STS-13" not in ours.split("\n")[0]
    assert "| average |" not in ours
    assert "STS-B, Spearman" in nli.findings(some)[0]
    assert nli.findings(report([])) == []


@pytest.mark.parametrize("shown", [True, False])
def test_similarities_without_training_are_kept_apart(shown: bool) -> None:
    """Unless the section of entailment is not there to show them: nothing is lost."""
    rows = [*tuned_rows(), row("sts", "segabert/context", "stsb", "test", "spearman", 0.3, 1379, 0.03)]
    rows = [each for each in rows if shown or each.table == "sts"]
    one = report(rows)
    text = "\n".join(sts.body(one))
    assert "`segabert/context`" in text
    assert "segabert/nli" not in text
    assert bool(one.rest("sts")) is not shown
