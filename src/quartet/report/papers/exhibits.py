"""Every table and figure of results in the two papers, in their order: a new one is one entry of one of the two."""

from __future__ import annotations

from quartet.report.papers.exhibit import Exhibit
from quartet.report.papers.exhibits_segatron import SEGATRON
from quartet.report.papers.exhibits_tta import TTA

EXHIBITS: tuple[Exhibit, ...] = (*TTA, *SEGATRON)
