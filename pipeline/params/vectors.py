"""The section ``vectors:`` of params.yaml, typed."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from pipeline.params.source import Source


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Vectors(Source):
    """An entry of ``vectors:``: a file of word vectors, a baseline of semantic similarity under the entry's name.

    Attributes:
        format: see :data:`quartet.evaluation.word_vectors.VectorFormat`.
        lowercase: texts are lower-cased before they are looked up.
    """

    format: Literal["glove", "word2vec", "word2vec-binary"]
    lowercase: bool
