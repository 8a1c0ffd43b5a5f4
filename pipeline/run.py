"""How a stage runs: its command line, its errors, its random state, its device and its threads."""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from collections.abc import Callable

from quartet.errors import USER_ERROR, InputError, system_error
from quartet.hardware.memory import keep_freed_memory
from quartet.hardware.processor import computing, model_name

#: OpenMP's variable: whoever runs several processes side by side says by it how many threads each may have.
OMP_NUM_THREADS = "OMP_NUM_THREADS"
#: DVC sets it for every command that it runs: the stage's address.
DVC_STAGE = "DVC_STAGE"


def main(function: Callable[..., None], arguments: list[str] | None = None) -> None:
    """Run a stage and leave the process: code 0, or 2 with one clear line for a user's mistake.

    Args:
        function: takes the command line's arguments, all texts, by position.
        arguments: the command line; ``--debug`` (or ``QUARTET_DEBUG=1``) shows where an error came from.
    """
    keep_freed_memory()
    given = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in given or os.environ.get("QUARTET_DEBUG", "") not in ("", "0")
    given = [argument for argument in given if argument != "--debug"]
    stage = function.__module__.rsplit(".", 1)[-1] if function.__module__ != "__main__" else function.__name__
    try:
        inspect.signature(function).bind(*given)
    except TypeError:
        names = " ".join(f"<{name}>" for name in inspect.signature(function).parameters)
        sys.exit(_complain(f"{stage}: the arguments are {names} [--debug], not {' '.join(given) or 'none'}"))
    try:
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
    return computing(torch.get_num_threads())


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
