"""The section ``executor:`` of params.yaml, typed."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid", validate_default=True))
class Executor:
    """Who segments and encodes text, and nothing about what comes out: no stage tracks it.

    Attributes:
        kind: ``local``: processes of this machine, as many as ``workers`` says; ``dask``: a cluster's workers.
        address: of the cluster's scheduler, such as ``tcp://node0:8786``.
    """

    kind: Literal["local", "dask"] = "local"
    address: str = ""

    def __post_init__(self) -> None:
        if self.kind == "dask" and not self.address:
            raise ValueError(
                "kind dask needs the address of the cluster's scheduler, such as tcp://node0:8786"
            )
        if self.kind == "local" and self.address:
            raise ValueError("address means nothing for kind local: take it out, or write kind: dask")

    @property
    def scheduler(self) -> str | None:
        """The cluster's scheduler; None for local processes."""
        return self.address or None
