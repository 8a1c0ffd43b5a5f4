"""An experiment's store, with more than MLflow takes or gives at once."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pipeline.tracking import mlflow
from pipeline.tracking.mlflow import open_store
from quartet.errors import InputError


def test_all_pages_of_the_runs_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store("pages-of-runs")
    made = [store.create(f"run-{n}", {"number": str(n)}, started=1000 + n) for n in range(5)]
    whole, asked = store.client.search_runs, []

    def in_twos(ids: list[str], wanted: str, max_results: int, page_token: str | None = None) -> Any:
        asked.append(page_token)
        assert len(asked) <= 3, "the same page again"
        return whole(ids, wanted, max_results=2, page_token=page_token)

    monkeypatch.setattr(store.client, "search_runs", in_twos, raising=False)
    found = [run.info.run_id for run in store.search("tags.`mlflow.source.type` = 'LOCAL'")]
    assert found == made[::-1], "the newest first"
    assert asked[0] is None and len(asked) == 3


def test_more_settings_and_points_than_one_call_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server refuses more of them in one call; a database of one's own does not."""
    from mlflow.utils.validation import MAX_METRICS_PER_BATCH, MAX_PARAMS_TAGS_PER_BATCH

    store = open_store("many-settings-and-points")
    run_id = store.create("run", {})
    sent: list[tuple[int, int]] = []
    log_batch = store.client.log_batch

    def counted(run: str, metrics: Sequence[Any] = (), params: Sequence[Any] = ()) -> None:
        sent.append((len(params), len(metrics)))
        log_batch(run, metrics=metrics, params=params)

    monkeypatch.setattr(store.client, "log_batch", counted, raising=False)
    settings = {f"key-{n}": str(n) for n in range(205)}
    store.params(run_id, settings)
    store.metrics(run_id, [("loss", 0.5 * n, n) for n in range(2005)])
    assert store.client.get_run(run_id).data.params == settings
    assert store.steps(run_id, "loss") == set(range(2005))
    most = MAX_PARAMS_TAGS_PER_BATCH, MAX_METRICS_PER_BATCH
    assert [max(one) for one in zip(*sent, strict=True)] == list(most), "as many as it takes, and no more"


def test_a_users_error_in_making_the_database_is_told_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    full = InputError("mlflow.db", "no space left")

    def fails(_: object) -> None:
        raise full

    monkeypatch.setattr(mlflow, "_make", fails)
    with pytest.raises(InputError) as told:
        open_store("never-made")
    assert told.value is full


def test_a_database_of_another_mlflow_is_upgraded_or_moved_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLflow compares the version of the tables with its own."""
    address = f"sqlite:///{tmp_path}/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    open_store("one")
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as other:
        other.execute("update alembic_version set version_num = '0123456789ab'")
        other.commit()
    monkeypatch.setenv(
        "MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/./mlflow.db"
    )  # MLflow keeps what it has opened
    with pytest.raises(InputError, match="another version of MLflow") as refused:
        open_store("one")
    assert re.search(r"`mlflow db upgrade sqlite:///\S+/mlflow.db`, or move it away", refused.value.remedy)
