"""The processes of one training: started by the words that the settings say, by Lightning, or by whoever runs this."""

from __future__ import annotations

import os
import shlex
import sys

from quartet.config.training import Trainer
from quartet.errors import InputError

#: Set for the processes that the launcher starts, which must not start it again.
LAUNCHED = "QUARTET_LAUNCHED"
#: Where torchrun, SLURM and Lightning each say which process this is; the first one is 0 in all that are there.
RANKS = ("RANK", "SLURM_PROCID", "LOCAL_RANK")


def launch(trainer: Trainer) -> None:
    """Become the launcher, which runs this command again on every device; return where that was done or is not asked.

    Raises:
        InputError: the launcher cannot be started.
    """
    words = shlex.split(trainer.launch)
    if not words or trainer.devices * trainer.nodes == 1 or LAUNCHED in os.environ:
        return
    command = [*words, sys.executable, *sys.orig_argv[1:]]
    try:
        os.execvpe(command[0], command, {**os.environ, LAUNCHED: "1"})  # noqa: S606  # nosec B606
    except OSError as error:
        raise InputError(
            "params.yaml: trainer.launch", f"{words[0]} cannot be started ({error.strerror})"
        ) from error


def follows(trainer: Trainer) -> bool:
    """Whether this process only computes: the first one writes files, talks to MLflow and shows the progress."""
    if trainer.devices * trainer.nodes == 1:
        return False
    return any(int(os.environ.get(name, 0)) > 0 for name in RANKS)
