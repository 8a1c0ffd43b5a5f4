"""Inputs that must be refused, made by generators, one file a kind of input.

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
    hugging_face,
    label_sets,
    list_files,
    lists,
    ngrams,
    params,
    question_sets,
    similarity_sets,
    sources,
    tokenizers,
    vectors,
)
from tests.reliability.malformed.case import Case

__all__ = ["GENERATORS", "Case", "every_case"]

GENERATORS: dict[str, Callable[[], Iterator[Case]]] = {
    "params": params.cases,
    "corpora": corpora.cases,
    "lists": lists.cases,
    "list_files": list_files.cases,
    "similarity_sets": similarity_sets.cases,
    "label_sets": label_sets.cases,
    "question_sets": question_sets.cases,
    "vectors": vectors.cases,
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
