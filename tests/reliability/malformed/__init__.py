"""Inputs that must be refused: tables of files (``*.yaml``), and generators of what no table shows.

python -m tests.reliability.malformed            make all, have the program read each, print the counts
python -m tests.reliability.malformed FOLDER     write them into a folder, to look at
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from tests.reliability.malformed import (
    checkpoints,
    corpora,
    encoded,
    glue,
    hugging_face,
    list_files,
    ngrams,
    packed,
    params,
    rows,
    sources,
    tokenizers,
)
from tests.reliability.malformed.case import Case

__all__ = ["GENERATORS", "Case", "every_case"]

GENERATORS: dict[str, Callable[[], Iterator[Case]]] = {
    **{name: functools.partial(rows.cases, name) for name in rows.TABLES},
    "params": params.cases,
    "corpora": corpora.cases,
    "list_files": list_files.cases,
    "glue": glue.cases,
    "packed": packed.cases,
    "ngrams": ngrams.cases,
    "tokenizers": tokenizers.cases,
    "checkpoints": checkpoints.cases,
    "hugging_face": hugging_face.cases,
    "encoded": encoded.cases,
    "sources": sources.cases,
}


@functools.cache
def every_case(*generators: str) -> tuple[Case, ...]:
    """All of them, or those of some generators, in a fixed order."""
    return tuple(case for name in generators or GENERATORS for case in GENERATORS[name]())
