"""What a process and those below it hold is seen, each by itself, and let go between two answers."""

from __future__ import annotations

import subprocess
import sys
import time

from quartet.runtime.resident import EVERY, Resident

HOLDS = "held = b'x' * (150 << 20); print('held', flush=True); input()"


def test_what_a_child_holds_is_seen_beside_what_this_process_does() -> None:
    with Resident() as resident:
        alone = resident.taken()
        child = subprocess.Popen(
            [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        time.sleep(3 * EVERY)
        child.communicate("over\n")
        beside = resident.taken()
        after = resident.taken()
    assert alone["the largest other"] == 0
    assert alone["all"] == alone["this process"] > 0
    assert 150 <= beside["the largest other"] < 200
    assert beside["all"] >= beside["this process"] + 149
    assert after["the largest other"] == 0, "what was before is not counted again"
