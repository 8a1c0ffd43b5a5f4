"""Estimation by lmplz, KenLM's program, where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

from quartet.config.ngram import NgramConfig
from quartet.errors import InputError
from quartet.ngram.arpa import create_arpa_file
from quartet.ngram.kneser_ney import no_discounts

#: The share of the machine's memory that it may sort in; its own default is 80 %.
MEMORY = "50%"

_REFUSED = re.compile(r"(?:discounts for |ERROR: )(\d+)-gram")
_DISCOUNTS = re.compile(r"^\d+ \S+ D1=(\S+) D2=(\S+) D3\+=(\S+)$", re.MULTILINE)


def find_lmplz() -> str | None:
    """The program's path, or None where there is none on the PATH."""
    return shutil.which("lmplz")


def run_lmplz(
    program: str, sentences: Iterable[Sequence[str]], path: Path, config: NgramConfig
) -> list[tuple[float, ...]]:
    """Feed the sentences to lmplz and keep what it writes.

    Args:
        program: the path of lmplz.
        sentences: as `tokens.countable_sentences` yields them.
        path: of the ARPA file; ``.gz`` compresses it.

    Returns:
        The discounts of counts 1, 2, and 3 or more, of each order.

    Raises:
        InputError: lmplz cannot be started, or refuses the text (an order's discounts cannot be computed).
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unfinished-lmplz-", dir=path.parent) as folder:
        arpa, log = Path(folder) / "model.arpa", Path(folder) / "log"
        options = ["--order", str(config.order), "--memory", MEMORY, "--temp_prefix", f"{folder}/"]
        options += ["--arpa", str(arpa), "--prune", *map(str, config.thresholds)]
        if config.discount_fallback is not None:
            options += ["--discount_fallback", *map(str, config.discount_fallback)]
        with open(log, "wb") as said:
            try:
                process = subprocess.Popen(
                    [program, *options], stdin=subprocess.PIPE, stdout=said, stderr=said
                )
            except OSError as error:
                raise InputError(
                    program, f"cannot be started ({error.strerror})", "set estimator: own"
                ) from error
            try:
                assert process.stdin is not None
                _feed(process.stdin, sentences)
                process.wait()
            finally:
                process.kill()
                process.wait()
        text = log.read_text(encoding="utf-8", errors="replace")
        if process.returncode:
            raise _complaint(program, process.returncode, text)
        with open(arpa, "rb") as source, create_arpa_file(path) as target:
            shutil.copyfileobj(source, target, 1 << 20)
    return [tuple(map(float, found)) for found in _DISCOUNTS.findall(text)]


def _feed(pipe: IO[bytes], sentences: Iterable[Sequence[str]]) -> None:
    """A line a sentence; where lmplz has ended before, its exit code and log say why."""
    try:
        with pipe:
            for sentence in sentences:
                pipe.write(" ".join(sentence).encode("utf-8") + b"\n")
    except BrokenPipeError:
        pass


def _complaint(program: str, code: int, text: str) -> InputError:
    refused = _REFUSED.search(text)
    if refused:
        return no_discounts(int(refused[1]), "lmplz finds too few counts, or odd ones")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("=", "-", "*"))]
    return InputError(program, f"ended with code {code}: {lines[-1] if lines else 'it says nothing'}")
