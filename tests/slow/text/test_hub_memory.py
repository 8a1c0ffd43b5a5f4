"""Data sets of the hub in flat memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.imports import ROOT
from tests.text import corpus

#: Prints the growth of the peak memory, in MiB, over a set ten times as large as the one before.
SCRIPT = """
import resource, sys
from pathlib import Path
from quartet.text.hub import HubReader
from quartet.config.text import HubConfig
peaks = []
for name in ("small", "large"):
    assert sum(1 for _ in HubReader(HubConfig())(Path(sys.argv[1]) / name)) > 900
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
print(peaks[1] - peaks[0])
"""


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    text = " ".join(corpus.sentences(120, seed=1))
    for name, files in (("small", 1), ("large", 20)):
        for number in range(files):
            path = tmp_path / name / f"train-{number:05}-of-{files:05}.parquet"
            path.parent.mkdir(exist_ok=True)
            table = pa.table({"text": [f"{number} {row} {text}" for row in range(1000)]})
            pq.write_table(table, path, row_group_size=100, compression="none", use_dictionary=False)
    assert sum(file.stat().st_size for file in (tmp_path / "large").iterdir()) > 60e6
    modules = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": modules, "HF_HOME": str(tmp_path / "home")},
    )
    assert float(done.stdout) < 20
