"""The key ``kind`` of a corpus: a word, or what the rows of a data set are."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Tag

from quartet.text.hub_config import HubConfig


def _hub(value: object) -> object:
    """``hub`` alone stands for a data set of which nothing is to be said."""
    return {"name": "hub"} if value == "hub" else value


#: Tags are parts of pydantic's names for places; what begins so is left out of messages, see `checked`.
WORD, HUB = "literal[word]", "literal[hub]"


def _which(value: Any) -> str:
    return HUB if isinstance(value, dict | HubConfig) else WORD


Word = Literal["wikipedia", "text", "lines", "wikitext", "hub"]

Kind: TypeAlias = Annotated[
    Annotated[Word, Tag(WORD)] | Annotated[HubConfig, Tag(HUB)],
    Discriminator(_which),
    BeforeValidator(_hub),
]
