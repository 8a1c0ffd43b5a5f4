"""What a process and those below it hold is seen, each by itself, and let go between two answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.imports import ROOT

#: In a process of its own, which has no other children.
SCRIPT = """
import json, subprocess, sys, time
from benchmarks.memory import EVERY, ResidentMemory
holds = "held = b'x' * (150 << 20); print('held', flush=True); input()"
with ResidentMemory() as resident:
    alone = resident.taken()
    child = subprocess.Popen([sys.executable, "-c", holds], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "held\\n"
    time.sleep(3 * EVERY)
    child.communicate("over\\n")
    beside = resident.taken()
    after = resident.taken()
print(json.dumps([alone, beside, after]))
"""


def test_what_a_child_holds_is_seen_beside_what_this_process_does() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
    )
    alone, beside, after = json.loads(done.stdout)
    assert alone["the largest other"] == 0
    assert alone["all"] == alone["this process"] > 0
    assert 150 <= beside["the largest other"] < 200
    assert beside["all"] >= beside["this process"] + 149
    assert after["the largest other"] == 0, "what was before is not counted again"
