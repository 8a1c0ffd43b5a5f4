"""The kinds of published evaluation sets, each with its formats.

A kind is a folder beside this file, whose `data` has the example type and the formats, and a line in `KINDS`.
"""

from __future__ import annotations

from typing import Any

from quartet.tasks.blimp import data as blimp
from quartet.tasks.files import Format
from quartet.tasks.glue import data as glue
from quartet.tasks.nli import data as nli
from quartet.tasks.race import data as race
from quartet.tasks.squad import data as squad
from quartet.tasks.sts import data as sts

KINDS: dict[str, dict[str, Format[Any]]] = {
    "sts": dict(sts.FORMATS),
    "glue": dict(glue.FORMATS),
    "nli": dict(nli.FORMATS),
    "squad": dict(squad.FORMATS),
    "race": dict(race.FORMATS),
    "blimp": dict(blimp.FORMATS),
}
