"""The section ``vectors:`` of params.yaml, typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

if TYPE_CHECKING:
    from pipeline.params.sections import Source


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Vectors:
    """An entry of ``vectors:``: a file of word vectors, a baseline of semantic similarity under the entry's name.

    Attributes:
        source, sha256: of the file, as of every source.
        format: see :data:`quartet.evaluation.word_vectors.VectorFormat`; a pickle of gensim's needs its ``sha256``.
        lowercase: texts are lower-cased before they are looked up.
    """

    source: Annotated[str, Field(min_length=1)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None
    format: Literal["glove", "word2vec", "word2vec-binary", "gensim"]
    lowercase: bool

    def __post_init__(self) -> None:
        if self.format == "gensim" and self.sha256 is None:
            raise ValueError("sha256 is needed for format gensim: a pickle runs what it holds")
        assert self.file  # it checks its own fields

    @property
    def file(self) -> Source:
        """What is to be fetched."""
        from pipeline.params.sections import Source  # which holds the whole file, this section too

        return Source(source=self.source, sha256=self.sha256)
