"""Where tuned weights outlive the run: an interrupted evaluation does not train again what it had trained."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from quartet import code
from quartet.files import keep_only

#: What reads the examples of a tuning and what judges it. Neither decides the weights beside the examples.
EVALUATION = ("quartet.tasks", "quartet.statistics")


def tuning_code(*modules: str) -> str:
    """A name for the code that decides what a tuning of these modules does, part of the name of what is kept of it.

    Of a task's own modules those count that are named. Readers of sets and measures are left out, so that a changed
    evaluation tunes nothing again: whoever keeps a tuning names it by its examples too, as they reach the training.
    """
    return code.fingerprint(*modules, without=EVALUATION)


def tuning_name(module: str, examples: Iterable[Any], *others: object) -> str:
    """A name for tuned weights: equal only where the examples, the others and the code are; see `KeptTunings`.

    Args:
        module: of the training, which tunes.
        examples: what is trained on, each a dataclass.
        others: what else decides: the fingerprint of the model, the seed.
    """
    digest = hashlib.sha256(json.dumps([others, tuning_code(module)]).encode())
    for example in examples:
        digest.update(json.dumps(dataclasses.astuple(example)).encode())
    return digest.hexdigest()[:16]


class KeptTunings:
    """What an evaluation keeps of its tunings, so that a changed evaluation does not tune again.

    When the block ends without an error, what lies beside the asked files (of earlier settings or code) is removed.

    Args:
        folder: where those of a seed are kept.
        settings: a text that is the same only where all settings that decide tuned weights are, the threads and the
            device too. It is part of all names.
    """

    def __init__(self, folder: Callable[[int], Path], settings: str) -> None:
        self._folder = folder
        self._settings = hashlib.sha256(settings.encode()).hexdigest()[:16]
        self._asked: list[Path] = []

    def path(self, seed: int, *parts: str) -> Path:
        """The file or folder of a tuning, by the folders above it and its name."""
        *above, name = parts
        path = self._folder(seed).joinpath(*above, f"{self._settings}-{name}")
        self._asked.append(path)
        return path

    def __enter__(self) -> KeptTunings:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            keep_only(self._asked)
