"""How a stage runs: its command line, its errors, its device and threads, its processes, and the files it reads."""

from __future__ import annotations

import gc
import inspect
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

from quartet.config.training import TrainerSettings
from quartet.errors import USER_ERROR, InputError, system_error
from quartet.hardware.memory import keep_freed_memory
from quartet.hardware.processor import describe_processor, model_name, set_kind
from quartet.user_files import flushed_stdout

#: OpenMP's variable: whoever runs several processes side by side says by it how many threads each may have.
OMP_NUM_THREADS = "OMP_NUM_THREADS"
#: DVC sets it for every command that it runs: the stage's address.
DVC_STAGE = "DVC_STAGE"
#: `make repro` sets it for its commands of DVC, which belong together as the stages of one `dvc repro` do: its process.
REPRO = "QUARTET_REPRO"


def main(function: Callable[..., None], arguments: list[str] | None = None) -> None:
    """Run a stage and leave the process: code 0, or 2 with one clear line for a user's mistake.

    Args:
        function: takes the command line's arguments, all texts, by position.
        arguments: the command line; ``--debug`` (or ``QUARTET_DEBUG=1``) shows where an error came from, and ``--help``
            what its module says of itself.
    """
    if not gc.isenabled():  # see stages/__init__.py
        gc.freeze()
        gc.enable()
    keep_freed_memory()
    given = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in given or os.environ.get("QUARTET_DEBUG", "") not in ("", "0")
    given = [argument for argument in given if argument != "--debug"]
    stage = function.__module__.rsplit(".", 1)[-1] if function.__module__ != "__main__" else function.__name__
    taken = f"{_arguments(function)} [--debug]".lstrip()
    if {"-h", "--help"}.intersection(given):
        module = sys.modules[function.__module__]
        name = module.__spec__.name if module.__spec__ is not None else stage
        print(f"usage: python -m {name} {taken}\n\n{(module.__doc__ or '').rstrip()}")
        return
    try:
        inspect.signature(function).bind(*given)
    except TypeError:
        sys.exit(_complain(f"{stage}: the arguments are {taken}, not {' '.join(given) or 'none'}"))
    if DVC_STAGE in os.environ:
        from pipeline.dvc_process import end_with_dvc

        end_with_dvc()
    try:
        set_kind()
        with flushed_stdout():
            function(*given)
    except InputError as error:
        sys.exit(_fail(f"{stage}: {error}", debug))
    except OSError as error:
        known = system_error(error)
        if known is None:
            raise
        sys.exit(_fail(f"{stage}: {known}", debug))
    except KeyboardInterrupt:
        print(f"{stage}: interrupted", file=sys.stderr)
        sys.exit(130)


def _arguments(function: Callable[..., None]) -> str:
    """What a function takes, in a usage line's words: ``<name> [<port>] [<others> ...]``."""
    words = []
    for name, one in inspect.signature(function).parameters.items():
        if one.kind is inspect.Parameter.VAR_POSITIONAL:
            words.append(f"[<{name}> ...]")
        else:
            words.append(f"<{name}>" if one.default is inspect.Parameter.empty else f"[<{name}>]")
    return " ".join(words)


def _fail(line: str, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    return _complain(line)


def _complain(line: str) -> int:
    print(f"error: {line}", file=sys.stderr, flush=True)
    return USER_ERROR


def choose_device(wanted: str) -> str:
    """``cpu`` or ``cuda`` for ``device:`` auto, cpu or cuda.

    Raises:
        InputError: cuda is asked for and not there.
    """
    if wanted == "cpu":
        return "cpu"
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if wanted == "cuda":
        raise InputError("params.yaml: device", "cuda is not available here", "set device to auto or cpu")
    return "cpu"


def device_name(device: str) -> str:
    """What computes, in words, for the timings: ``cpu (2 threads, <model>)`` or the GPU's name."""
    import torch

    if device == "cuda":
        return f"cuda ({torch.cuda.get_device_name()})"
    return describe_processor(torch.get_num_threads())


def hardware() -> str:
    """What this process has computed on so far, in words: the GPU where it used one, else the processor."""
    torch = sys.modules.get("torch")  # who has not imported it has no threads of its
    if torch is None:
        return f"cpu ({model_name()})"
    return device_name("cuda" if torch.cuda.is_initialized() else "cpu")


def set_threads(threads: int) -> None:
    """Let torch use so many CPU threads; 0: what `OMP_NUM_THREADS` says, and unset as many as this process may run on.

    Raises:
        InputError: `OMP_NUM_THREADS` is no number of threads.
    """
    import torch

    torch.set_num_threads(threads or _threads_of_the_environment() or len(os.sched_getaffinity(0)))


def _threads_of_the_environment() -> int:
    """Of a list, one number a level of nesting, the outermost; 0: nothing is said."""
    said = os.environ.get(OMP_NUM_THREADS, "").strip()
    outermost = said.partition(",")[0].strip()
    if said and not (outermost.isdecimal() and int(outermost)):
        raise InputError(
            OMP_NUM_THREADS, f"{said!r} is no number of threads", "unset it, or set a number from 1"
        )
    return int(outermost or 0)


#: Set for the processes that the launcher starts, which must not start it again.
LAUNCHED = "QUARTET_LAUNCHED"
#: Where torchrun, SLURM and Lightning each say which process this is; the first one is 0 in all that are there.
RANKS = ("RANK", "SLURM_PROCID", "LOCAL_RANK")


def launch(trainer: TrainerSettings) -> None:
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


def is_follower(trainer: TrainerSettings) -> bool:
    """Whether this process only computes: the first one writes files, talks to MLflow and shows the progress."""
    if trainer.devices * trainer.nodes == 1:
        return False
    return any(int(os.environ.get(name, 0)) > 0 for name in RANKS)


class InputSnapshot:
    """Files of the user's that a stage reads for a while, as they are at its start.

    DVC notes the hash of an input when the stage has ended. What is stored would else count as made from files that
    came while the stage ran, for good.

    Args:
        places: files and folders; of a folder every file below it counts.
    """

    def __init__(self, places: Iterable[Path]) -> None:
        self._places = tuple(places)
        self._before = self._state()

    def check(self) -> None:
        """Compare them with what is there now.

        Raises:
            InputError: one has been changed, added or removed.
        """
        now = self._state()
        for path in sorted({*self._before, *now}):
            if self._before.get(path) != now.get(path):
                raise InputError(path, "changed while the stage read it", "run `dvc repro` again")

    def _state(self) -> dict[Path, tuple[int, int, int]]:
        found = {}
        for place in self._places:
            for path in [place, *place.rglob("*")]:
                if path.is_file():
                    facts = path.stat()
                    found[path] = (facts.st_size, facts.st_mtime_ns, facts.st_ino)
        return found
