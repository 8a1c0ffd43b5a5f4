"""DVC, which waits for its lock as long as another command has it, and looks for it twenty times a second.

    python -m pipeline.quick_lock ...

is ``dvc --wait-for-lock ...``, which looks twice a second: commands side by side would stand still for a good part of
what a short stage takes.
"""

from __future__ import annotations

import sys

from dvc import lock
from dvc.cli import main

#: DVC looks again after a sixth of so many seconds.
lock.DEFAULT_TIMEOUT = 0.3


def wait_and_run(*arguments: str) -> int:
    """Run a command of DVC; the code of its end."""
    code: int = main(["--wait-for-lock", *arguments])
    return code


if __name__ == "__main__":
    sys.exit(wait_and_run(*sys.argv[1:]))
