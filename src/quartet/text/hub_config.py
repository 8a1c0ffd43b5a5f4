"""What the rows of a data set are, see `quartet.text.hub`; imports nothing that reads one."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from quartet.config.types import Text

Split = Literal["train", "valid", "test"]


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid", validate_default=True))
class HubConfig:
    """The key ``kind`` of a corpus that is a data set in the shape of those on the hub.

    Attributes:
        rows: ``documents``: each row is one, blank lines separate its paragraphs; ``wikitext``: each is a line of
            WikiText (see `wikitext_corpus`); ``lines``: each is a sentence (see `plain.draft_lines`).
        text: the column that is read.
        title, id: columns of a document; without them its number in its split.
        config: the configuration, where the data set's README.md gives several.
        splits: which split of the data set is which of ours; others are not read. None: all are, by their own names.
    """

    name: Literal["hub"] = "hub"
    rows: Literal["documents", "wikitext", "lines"] = "documents"
    text: Text = "text"
    title: Text | None = None
    id: Text | None = None
    config: Text | None = None
    splits: dict[Split, Text] | None = None

    def __post_init__(self) -> None:
        for key in ("title", "id"):
            if self.rows != "documents" and getattr(self, key) is not None:
                raise ValueError(f"{key} means nothing where rows are {self.rows}: take it out")
