"""The order in which systems, sets and splits stand in every table and picture."""

from __future__ import annotations

from quartet.report.facts import RunFacts
from quartet.results import INTACT, ONE_BY_ONE

#: Baselines that a model is measured against stand above the models, upper bounds at the very end.
BEFORE = ("first-pass", "majority", "bag-of-words", "random-span", "no-answer", "unigram", "ngram")
AFTER = ("word2vec", "glove")
LAST = ("oracle",)
#: The order of models that the facts do not list: the T-TA paper's, then the Segatron paper's.
MODELS = ("unilm", "bilm", "tta", "bert-", "segabert", "tta-segments", "transformer-xl", "segatron-xl")
READINGS = (
    "",
    "context",
    "embed",
    "table",
    "cls",
    "eos",
    "untuned",
    "random",
    "random-nli",
    "nli",
    "sts",
    "rerank",
    INTACT,
    f"{INTACT}/context",
    f"{ONE_BY_ONE}/sts",
    f"{ONE_BY_ONE}/rerank",
)
SETS = (
    "lee",
    "stsb",
    "sick",
    "sts12",
    "sts13",
    "sts14",
    "sts15",
    "sts16",
    "semeval",
    "snli",
    "mnli",
    "anli",
    "hans",
    "wordsim353",
    "simlex999",
)
SPLITS = ("train", "valid", "dev", "test")

Rank = tuple[int, int, int, str]


def system_rank(system: str, model: str, reading: str, facts: RunFacts) -> Rank:
    """A sort key: baselines, models as params.yaml lists them with their readings, the rest.

    Args:
        system: the shown name.
        model, reading: what it is made of.
    """
    names = [one.name for one in facts.models]
    names += [one for one in MODELS if one not in names]
    names += [one.name for one in facts.pretrained]
    place = READINGS.index(reading) if reading in READINGS else len(READINGS)
    for group, members in enumerate((BEFORE, tuple(names), AFTER)):
        if model in members:
            return (group, members.index(model), place, system)
    return (4 if model in LAST else 3, 0, place, system)


def _listed(name: str, names: tuple[str, ...]) -> tuple[int, str]:
    return (names.index(name) if name in names else len(names), name)


def set_rank(dataset: str, facts: RunFacts) -> tuple[int, str]:
    """A sort key: corpora and lists as params.yaml has them, then the known sets, then the others by name."""
    own = tuple(one.name for one in facts.corpora) + tuple(one.name for one in facts.lists)
    return _listed(dataset, own + SETS)


def split_rank(split: str) -> tuple[int, str]:
    """A sort key: train, valid, dev, test, then the others by name."""
    return _listed(split, SPLITS)
