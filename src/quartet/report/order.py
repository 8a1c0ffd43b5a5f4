"""The order in which systems, sets and splits stand in every table and picture."""

from __future__ import annotations

from quartet.report.facts import Facts

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
    "score",
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

Rank = tuple[int, int, str, int, str]


def model_of(system: str, facts: Facts) -> str:
    """The model that a system is a reading or a variant of: "bilm" of "bilm-intact/context"; else its name.

    A model's own name wins over another's variant: "tta-segments" is not a variant of "tta" where both are
    models.
    """
    name = system.partition("/")[0]
    known = [model.name for model in facts.models] + [one.name for one in facts.pretrained] + list(MODELS)
    variants = [model for model in known if name == model or name.startswith(f"{model}-")]
    return max(variants, key=len, default=name)


def system_rank(system: str, facts: Facts) -> Rank:
    """A sort key: baselines, models as params.yaml lists them with their variants and readings, the rest."""
    name, _, reading = system.partition("/")
    names = [model.name for model in facts.models]
    names += [model for model in MODELS if model not in names]
    names += [one.name for one in facts.pretrained]
    model = model_of(system, facts)
    readings = READINGS.index(reading) if reading in READINGS else len(READINGS)
    for group, (members, known) in enumerate(((BEFORE, name), (tuple(names), model), (AFTER, name))):
        if known in members:
            return (group, members.index(known), name.removeprefix(known), readings, system)
    return (4 if name in LAST else 3, 0, name, readings, system)


def _listed(name: str, names: tuple[str, ...]) -> tuple[int, str]:
    return (names.index(name) if name in names else len(names), name)


def set_rank(dataset: str, facts: Facts) -> tuple[int, str]:
    """A sort key: corpora and lists as params.yaml has them, then the known sets, then the others by name."""
    own = tuple(one.name for one in facts.corpora) + tuple(one.name for one in facts.lists)
    return _listed(dataset, own + SETS)


def split_rank(split: str) -> tuple[int, str]:
    """A sort key: train, valid, dev, test, then the others by name."""
    return _listed(split, SPLITS)
