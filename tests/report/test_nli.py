"""The section of entailment: accuracies, Table 5's form, and nothing of it among the untrained similarities."""

from __future__ import annotations

from quartet.report.published import published_figures
from quartet.results import Result
from quartet.tasks.nli.metrics import AVERAGE, SEVEN
from tests.report.rendered import shown, table_row
from tests.report.synthetic import row


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


def test_accuracies_and_the_form_of_table_5() -> None:
    text, _ = shown(tuned_rows(), "nli")
    accuracies, ours = text.split("| system |")[1], text.split("| system |")[2]
    assert accuracies.startswith(" snli dev | hans test |")
    assert table_row(accuracies, "majority") == ["33.0 [32.0, 34.0]", "–"]
    assert table_row(accuracies, "segabert/random")[0] == "44.0 [43.0, 45.0]"
    assert ours.startswith(" STS-12 | STS-13 | STS-14 | STS-15 | STS-16 | STS-B | SICK-R | average |")
    assert table_row(ours, "segabert/nli") == [*["45.0 [43.0, 47.0]"] * 7, "45.0 [44.0, 46.0]"]
    assert published_figures().tables["segatron-sts"].columns == (*SEVEN, "average")


def test_without_all_seven_there_is_no_average() -> None:
    text, _ = shown(tuned_rows(missing="sts13"), "nli")
    ours = text.split("| system |")[2].split("\n")[0]
    assert "STS-13" not in ours and "average" not in ours


def test_similarities_without_training_are_kept_apart() -> None:
    rows = [*tuned_rows(), row("sts", "segabert/context", "stsb", "test", "spearman", 0.3, 1379, 0.03)]
    text, report = shown(rows, "sts")
    assert "`segabert/context`" in text
    assert "segabert/nli" not in text
    _, report = shown([each for each in rows if each.table == "sts"], "sts")
    assert "segabert/nli" in "\n".join(report.rest("sts")), "without a section of entailment nothing is lost"
