"""The kinds of evaluation sets.

A kind is a folder beside this file, whose `data` has the example's type, its readers, and a `SetKind` that is listed
here. Which evaluations run on it is a line of `pipeline/stages.py`. Who evaluates on one kind imports its `data` alone,
so that an edit of another kind's reader repeats nothing.
"""

from __future__ import annotations

from quartet.tasks.blimp import data as blimp
from quartet.tasks.classification import data as classification
from quartet.tasks.glue import data as glue
from quartet.tasks.nli import data as nli
from quartet.tasks.race import data as race
from quartet.tasks.set_files import SetKind
from quartet.tasks.squad import data as squad
from quartet.tasks.sts import data as sts
from quartet.tasks.wordsim import data as wordsim

#: By their names in params.yaml.
KINDS: dict[str, SetKind] = {
    kind.name: kind
    for kind in (
        sts.DOCUMENTS,
        wordsim.KIND,
        classification.KIND,
        sts.KIND,
        glue.KIND,
        nli.KIND,
        squad.KIND,
        race.KIND,
        blimp.KIND,
    )
}
