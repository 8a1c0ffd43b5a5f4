"""Reading params.yaml: every section, and what the sections say of each other.

Whatever this does ends in the settings themselves, so it is no part of the code that a stage depends on.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from pathlib import Path

from pipeline.params import NAMED, TASK_STAGES, Params
from quartet.config.loading import checked, nearest, read_yaml
from quartet.errors import InputError
from quartet.results import INTACT, system_name

#: How the name of a block begins that holds YAML anchors for others, and is no setting itself.
ANCHORS = "x-"
#: Names become file names, stage names of DVC and keys of DVC's params, where a dot would cut them in two.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def load(path: str | Path = "params.yaml") -> Params:
    """The settings in a file, complete and consistent.

    Raises:
        InputError: the first mistake, with the file and the key or line.
    """
    written = {key: value for key, value in read_yaml(path).items() if not key.startswith(ANCHORS)}
    params = checked(Params, written, str(path))
    _check_names(params, str(path))
    _check_references(params, str(path))
    return params


def _check_names(params: Params, place: str) -> None:
    named = [("experiment", params.experiment)]
    for section in (*NAMED, "tasks"):
        named += [(f"{section}.{name}", name) for name in getattr(params, section)]
    for where, name in named:
        if not NAME.fullmatch(name):
            raise InputError(
                f"{place}: {where}",
                f"{name!r} cannot be a name",
                "use letters, digits, - and _, no dots, first a letter or digit",
            )
    for section, least in (("corpora", 1), ("tokenizers", 1), ("models", 1), ("seeds", 1)):
        if len(getattr(params, section)) < least:
            raise InputError(f"{place}: {section}", "empty", "at least one is needed")
    if len(set(params.seeds)) < len(params.seeds):
        raise InputError(f"{place}: seeds", f"{params.seeds} holds a seed twice")
    pairs = [f"{corpus}-{tokenizer}" for corpus in params.corpora for tokenizer in params.tokenizers]
    for pair in pairs:
        if pairs.count(pair) > 1:
            raise InputError(
                f"{place}: tokenizers", f"two pairs of corpus and tokenizer are called {pair}", "rename one"
            )


def others_of(params: Params) -> dict[str, list[str]]:
    """The evaluations that others than the trained models may go through, with those others."""
    scorers = [*params.pretrained, *params.ngrams]
    return {"rerank": scorers, "blimp": scorers, "sts": list(params.pretrained)}


def _check_references(params: Params, place: str) -> None:
    """Every name that an entry mentions must be an entry."""

    def known(where: str, name: str, among: dict[str, object], what: str) -> None:
        if name not in among:
            raise InputError(f"{place}: {where}", f"unknown {what} {name!r}", nearest(name, among, what))

    for key, tokenizer in params.tokenizers.items():
        known(f"tokenizers.{key}.corpus", tokenizer.corpus, {**params.corpora}, "corpus")
    for key, model in params.models.items():
        known(f"models.{key}.corpus", model.corpus, {**params.corpora}, "corpus")
        known(f"models.{key}.tokenizer", model.tokenizer, {**params.tokenizers}, "tokenizer")
    scorers = [*params.models, *params.pretrained, *params.ngrams]
    for section in ("pretrained", "ngrams"):
        for key in getattr(params, section):
            if scorers.count(key) > 1:
                raise InputError(f"{place}: {section}.{key}", "another model has this name too", "rename one")
    for key, ngram in params.ngrams.items():
        known(f"ngrams.{key}.corpus", ngram.corpus, {**params.corpora}, "corpus")
        known(f"ngrams.{key}.tokenizer", ngram.tokenizer, {**params.tokenizers}, "tokenizer")
    lists = {f"evaluate.{stage}": names for stage, names in dataclasses.asdict(params.evaluate).items()}
    lists["runtime.models"] = params.runtime.models
    for where, names in lists.items():
        for name in names:
            others = [entries for stage, entries in others_of(params).items() if where == f"evaluate.{stage}"]
            known(where, name, {**params.models, **dict.fromkeys(itertools.chain(*others))}, "model")
            if names.count(name) > 1:
                raise InputError(f"{place}: {where}", f"{name!r} is listed twice")
    for pair in params.rerank.combine:
        alone = {**dict.fromkeys(params.evaluate.rerank)}
        intact = {system_name(name, INTACT): name for name in alone}
        for name in pair:
            known("rerank.combine", intact.get(name, name), alone, "system")
    if params.evaluate.rerank and not params.nbest:
        raise InputError(
            f"{place}: evaluate.rerank", "there are no lists to rerank", "fill nbest, or empty this list"
        )
    kinds = {task.kind for task in params.tasks.values()}
    for stage, wanted in TASK_STAGES.items():
        if lists[f"evaluate.{stage}"] and not kinds.intersection(wanted):
            raise InputError(
                f"{place}: evaluate.{stage}",
                f"no task is of the kind {' or '.join(wanted)}",
                "add one under tasks, or empty this list",
            )
