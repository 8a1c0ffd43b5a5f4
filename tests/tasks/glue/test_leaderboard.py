"""The leaderboard's files: their names and their exact bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from quartet.tasks.glue.data import TASKS, GlueExample
from quartet.tasks.glue.metrics import file_name, write_predictions

HIDDEN = [GlueExample(index, "a", "b", None) for index in (0, 1, 7)]


def test_every_test_set_has_its_file() -> None:
    names = [file_name(task, "test") for task in TASKS if task != "mnli"]
    names += [file_name("mnli", split) for split in ("test_matched", "test_mismatched", "diagnostic")]
    assert sorted(map(str, names)) == [
        "AX.tsv", "CoLA.tsv", "MNLI-m.tsv", "MNLI-mm.tsv", "MRPC.tsv", "QNLI.tsv", "QQP.tsv", "RTE.tsv", "SST-2.tsv",
        "STS-B.tsv", "WNLI.tsv",
    ]  # fmt: skip
    assert file_name("rte", "dev") is file_name("mnli", "dev_matched") is file_name("mnli", "test") is None


def test_bytes(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.tsv"
    for task, said, expected in (
        ("rte", [1.0, 0.0, 1.0], b"0\tnot_entailment\n1\tentailment\n7\tnot_entailment\n"),
        ("mnli", [0.0, 1.0, 2.0], b"0\tentailment\n1\tneutral\n7\tcontradiction\n"),
        ("cola", [0.0, 1.0, 1.0], b"0\t0\n1\t1\n7\t1\n"),
        ("stsb", [-0.2, 3.14159, 5.01], b"0\t0.000\n1\t3.142\n7\t5.000\n"),
    ):
        write_predictions(path, task, HIDDEN, np.array(said))
        assert path.read_bytes() == b"index\tprediction\n" + expected
    with pytest.raises(ValueError, match="3 examples"):
        write_predictions(path, "rte", HIDDEN, np.array([1.0]))
