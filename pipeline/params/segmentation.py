"""The section ``segmentation:`` of params.yaml, typed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Tag
from pydantic.dataclasses import dataclass

from pipeline.params.source import Sha256, Source

#: Tags are parts of pydantic's names for places; what begins so is left out of messages, see `checked`.
WORD, MAP = "literal[word]", "literal[map]"


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class PunktSource(Source):
    """A Punkt model of the user's, see :func:`quartet.text.punkt_model.read_model`.

    Its sha256 is needed for a path too: the stages depend on that and not on the file, which may lie anywhere.
    """

    sha256: Sha256 | None = None

    def __post_init__(self) -> None:
        if self.sha256 is None:
            raise ValueError(
                f"sha256 is needed for {self.source}: `sha256sum FILE` prints that of a zip, "
                "`(cd FOLDER && sha256sum * | sha256sum)` that of a folder"
            )


def _which(value: Any) -> str:
    return MAP if isinstance(value, dict | PunktSource) else WORD


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Segmentation:
    """How NLTK's Punkt finds sentences.

    Attributes:
        punkt: ``published``, NLTK's model of the corpus's language; ``trained`` on the corpus; or the user's model.
        curated: add the curated abbreviations of the language to any of them.
    """

    punkt: Annotated[
        Annotated[Literal["published", "trained"], Tag(WORD)] | Annotated[PunktSource, Tag(MAP)],
        Discriminator(_which),
    ] = "published"
    curated: bool = True
