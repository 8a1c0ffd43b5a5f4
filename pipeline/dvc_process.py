"""The DVC that runs this process: which one it is, and that a stage ends with it.

DVC passes no signal on. A stage whose DVC was ended would else train on, and write over what the next run has made.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import psutil

from pipeline.run import DVC_STAGE

#: Seconds between two looks at DVC's process, and the code that a stage ends with behind it, as after SIGTERM.
PERIOD, CODE = 0.2, 143


def dvc_and_above() -> Iterator[psutil.Process]:
    """DVC's process and its ancestors; none where DVC did not start this one, or they are another user's or gone.

    It is the nearest ancestor for which `DVC_STAGE` is not set as it is here: the shell between is passed over.
    """
    stage = os.environ.get(DVC_STAGE)
    if stage is None:
        return
    above = False
    with suppress(psutil.Error):
        for ancestor in psutil.Process().parents():
            above = above or ancestor.environ().get(DVC_STAGE) != stage
            if above:
                yield ancestor


def end_with_dvc() -> None:
    """Let this process, and those that it has started, end as soon as DVC's has; nothing where DVC did not start it."""
    dvc = next(dvc_and_above(), None)
    if dvc is not None:
        threading.Thread(target=_end_behind, args=(dvc,), daemon=True).start()


def _end_behind(dvc: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        while dvc.is_running() and dvc.status() != psutil.STATUS_ZOMBIE:
            time.sleep(PERIOD)
    print(f"{os.environ.get(DVC_STAGE)}: DVC has ended, and so does its stage", file=sys.stderr, flush=True)
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    os._exit(CODE)
