"""The kinds of evaluation sets, and how the files of each are read.

A kind is a folder beside this file, whose `data` has the example's type and its readers, and a line in `KINDS`. Which
evaluations run on it is a line of `pipeline/stages.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from quartet.tasks.blimp import data as blimp
from quartet.tasks.classification.data import read_labelled
from quartet.tasks.glue import data as glue
from quartet.tasks.nli import data as nli
from quartet.tasks.race import data as race
from quartet.tasks.set_files import SetFormat
from quartet.tasks.squad import data as squad
from quartet.tasks.sts import data as sts
from quartet.tasks.wordsim.data import read_word_pairs


@dataclass(frozen=True)
class SetKind:
    """A kind of set: either published ones, each file of which is read by itself, or files that are read together.

    Attributes:
        formats: how the published sets of this kind are written; none: its files are read together.
        roles: of the files, in the order in which `read` takes them.
    """

    formats: Mapping[str, SetFormat[Any]] = dataclasses.field(default_factory=dict)
    roles: tuple[str, ...] = ()
    read: Callable[..., Any] | None = None


KINDS: dict[str, SetKind] = {
    "documents-similarity": SetKind(roles=("texts", "similarities"), read=sts.read_lee),
    "word-similarity": SetKind(roles=("pairs",), read=read_word_pairs),
    "classification": SetKind(roles=("texts",), read=read_labelled),
    "sts": SetKind(sts.FORMATS),
    "glue": SetKind(glue.FORMATS),
    "nli": SetKind(nli.FORMATS),
    "squad": SetKind(squad.FORMATS),
    "race": SetKind(race.FORMATS),
    "blimp": SetKind(blimp.FORMATS),
}
