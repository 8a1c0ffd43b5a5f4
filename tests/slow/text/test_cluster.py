"""Work on a Dask cluster: order, little read ahead, lost workers, and a line for what goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from quartet.errors import InputError
from quartet.text import encoding, segmentation
from quartet.text.encoding import encode_corpus
from quartet.text.parallel import AHEAD, in_order
from quartet.text.plain import draft_text
from quartet.text.segmentation import segment_corpus
from quartet.text.split import HeldOutShares
from quartet.text.tokenizer import train_tokenizer
from tests.imports import ROOT
from tests.slow.text.test_segmented_processes import FILES
from tests.text import corpus
from tests.text.test_parallel import work
from tests.text.test_segmentation import contents


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers, processes of this machine, at an address as a cluster has it."""
    distributed = pytest.importorskip("distributed", reason="the extra cluster (Dask) is not installed")
    import dask

    quick = {
        "distributed.nanny.pre-spawn-environ.PYTHONPATH": os.pathsep.join(
            [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
        ),
        "distributed.logging.distributed": "critical",
    }
    with (
        dask.config.set(quick),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as running,
    ):
        yield running


def test_results_come_in_order_and_little_is_read_ahead(cluster: Any) -> None:
    read = []

    def items() -> Iterator[int]:
        for number in range(100, 160):
            read.append(number)
            yield number

    found = []
    for result in in_order(work, items(), scheduler=cluster.scheduler_address):
        found.append(result)
        assert len(read) - len(found) <= 2 * AHEAD
    assert [item for item, _ in found] == list(range(100, 160))
    assert len({process for _, process in found} - {os.getpid()}) == 2, "both workers had some"


def test_a_mistake_and_a_failure_of_the_source_come_in_their_place(cluster: Any) -> None:
    found = []
    with pytest.raises(InputError) as error:
        for item, _ in in_order(work, range(10, 40), scheduler=cluster.scheduler_address):
            found.append(item)
    assert found == [10, 11, 12]
    assert str(error.value) == "item 13: brings bad luck; leave it out"

    def items() -> Iterator[int]:
        yield from range(4)
        raise InputError("source", "is cut short")

    found = []
    with pytest.raises(InputError, match="source: is cut short"):
        for item, _ in in_order(work, items(), scheduler=cluster.scheduler_address):
            found.append(item)
    assert found == [0, 1, 2, 3]


def test_an_iterator_that_is_closed_leaves_nothing_on_the_cluster(cluster: Any) -> None:
    with closing(in_order(work, range(100, 1000), scheduler=cluster.scheduler_address)) as results:
        next(results)
    ends = time.monotonic() + 20
    while cluster.scheduler.tasks or any("quartet" in name for name in cluster.scheduler.worker_plugins):
        assert time.monotonic() < ends, "tasks or the work stay there"
        time.sleep(0.05)


def test_the_work_of_a_lost_worker_is_done_by_another(cluster: Any) -> None:
    found, killed = [], 0
    for item, process in in_order(work, range(100, 200), scheduler=cluster.scheduler_address):
        found.append(item)
        if len(found) == 20:
            killed = process
            os.kill(killed, signal.SIGKILL)
    assert killed
    assert found == list(range(100, 200))


def test_a_part_that_ends_every_worker_is_a_line_that_says_so(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(InputError, match=r"ended at the same part of the text \(killed, or out of memory\)"):
        list(in_order(work, [0, 1, 17, 2], scheduler=cluster.scheduler_address))


def test_a_cluster_changes_no_byte(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmentation, "BATCH_CHARACTERS", 2000)
    monkeypatch.setattr(encoding, "BATCH_BYTES", 2000)
    monkeypatch.chdir(tmp_path)
    for number, document in enumerate(corpus.documents(12)):
        file = tmp_path / "tales" / f"{number}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n\n".join(p.text for p in document.paragraphs))
    tokenizer = train_tokenizer("wordpiece", corpus.sentences(300, seed=2), 200, lowercase=True)
    found = []
    for name, scheduler in (("here", None), ("there", cluster.scheduler_address)):
        out = tmp_path / name
        segment_corpus(
            *(draft_text, "tales", out / "segmented"),  # a path that the workers have to be told in full
            shares=HeldOutShares(0.2, 0.2),
            punkt="trained",
            workers=1,
            scheduler=scheduler,
        )
        encode_corpus(out / "segmented", tokenizer, out / "encoded", workers=1, scheduler=scheduler)
        found.append(contents(out))
    assert found[0] == found[1]
    assert len(found[0]) == FILES
    (tmp_path / "tales" / "5.txt").write_bytes(b"One.\n\nTwo \xff.\n")
    with pytest.raises(InputError, match=r"tales/5\.txt:1: not UTF-8 \(invalid start byte\)"):
        segment_corpus(
            *(draft_text, tmp_path / "tales", tmp_path / "out"),
            shares=HeldOutShares(0.2, 0.2),
            punkt="trained",
            training_characters=100,
            scheduler=cluster.scheduler_address,
        )


def test_a_worker_of_another_version_does_no_work(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quartet.text.cluster.code_and_libraries", lambda: "another")
    with pytest.raises(
        InputError, match="this Dask worker has other versions of Quartet, Python or the libraries"
    ):
        list(in_order(work, range(4), scheduler=cluster.scheduler_address))


def test_a_scheduler_that_is_not_there_is_named(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quartet.text.cluster.PATIENCE", 0.5)
    for address in ("tcp://127.0.0.1:9", "nowhere at all"):
        with pytest.raises(InputError, match=f"{address}: no Dask scheduler answers"):
            list(in_order(work, range(4), scheduler=address))


def test_a_cluster_without_workers_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra cluster (Dask) is not installed")
    monkeypatch.setattr("quartet.text.cluster.PATIENCE", 1.0)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0", processes=False) as empty,
        pytest.raises(InputError, match="the Dask cluster has no workers; start some"),
    ):
        list(in_order(work, range(4), scheduler=empty.scheduler_address))


SCHEDULER = """
import asyncio
from distributed import Scheduler, Worker
async def main():
    async with Scheduler(port=0, dashboard_address=":0") as scheduler, Worker(scheduler.address, nthreads=1):
        print(scheduler.address, flush=True)
        await scheduler.finished()
asyncio.run(main())
"""


def test_a_scheduler_that_ends_is_a_line_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra cluster (Dask) is not installed")
    monkeypatch.setattr("quartet.text.cluster.PATIENCE", 1.0)
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-c", SCHEDULER],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    ) as scheduler:
        assert scheduler.stdout is not None
        with pytest.raises(InputError, match="the Dask scheduler ended, or cannot be reached any more"):
            for item, _ in in_order(work, range(100, 1000), scheduler=scheduler.stdout.readline().strip()):
                if item == 110:
                    scheduler.kill()


def test_without_dask_a_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "quartet.text.cluster", raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        InputError, match=r"Dask is not installed; in Quartet's folder run `pip install -e '\.\[cluster\]'`"
    ):
        list(in_order(work, range(4), scheduler="tcp://127.0.0.1:8786"))
