"""What is fetched: the key ``source`` of params.yaml with its checksum."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from quartet.config.types import Text

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Source:
    """One thing to fetch: ``package://…``, ``https://…``, ``hub://owner/name@revision/path`` or a path.

    ``sha256`` may be null for a path, and on the hub, where the revision stands for the content.
    """

    source: Text
    sha256: Sha256 | None

    def __post_init__(self) -> None:
        if self.sha256 is None and "://" in self.source and not self.source.startswith("hub://"):
            raise ValueError(
                f"sha256 is needed for {self.source}: only local files, folders and the hub may go without"
            )
