"""params.yaml, checked and complete, as the stages read it: artifacts/settings.json.

The stage ``settings`` reads params.yaml, every section and what the sections say of each other, and writes the file.
Every other stage depends on the keys of it that it reads. So an edit of params.yaml while ``dvc repro`` runs reaches no
stage of that run, and the next run sees it. Whatever is done here ends in the settings themselves: it is no part of the
code that those stages depend on.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from pipeline import dvc_yaml, sources
from pipeline.early_checks import check_values
from pipeline.layout import CATALOGUE
from pipeline.params import NAMED, Params
from pipeline.run import DVC_STAGE
from pipeline.stages import EVALUATIONS, KINDS, TRAINED
from pipeline.task_sets import check_roles
from quartet.config.loading import checked, read_yaml
from quartet.errors import InputError, nearest
from quartet.files import atomic_path
from quartet.nbest.formats import FORMATS
from quartet.results import BASELINES, INTACT, ONE_BY_ONE, combined_name, system_name
from quartet.tasks.kinds import KINDS as SET_KINDS

#: The sections whose entries are systems of the report.
SYSTEMS = ("models", "pretrained", "ngrams", "vectors")
#: The evaluations that join several texts in one input, which models of streams do not have.
JOINING = ("glue", "squad", "race")
#: How the name of a block begins that holds YAML anchors for others, and is no setting itself.
ANCHORS = "x-"
#: Names become file names, stage names of DVC and keys of DVC's params, where a dot would cut them in two.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


def read_params(path: str | Path = "params.yaml") -> Params:
    """The settings in a file, complete and consistent.

    Raises:
        InputError: the first mistake, with the file and the key or line.
    """
    written = {key: value for key, value in read_yaml(path).items() if not key.startswith(ANCHORS)}
    _check_evaluations(written.get("evaluate"), str(path))
    params = checked(Params, written, str(path))
    _check_names(params, str(path))
    _check_references(params, str(path))
    check_values(params, str(path))
    return params


def _check_evaluations(written: object, place: str) -> None:
    """Each evaluation has its list; what is no mapping is left to pydantic."""
    if not isinstance(written, dict):
        return
    for name in written:
        if name not in EVALUATIONS:
            raise InputError(f"{place}: evaluate.{name}", "unknown key", nearest(name, EVALUATIONS, "key"))
    for name in EVALUATIONS:
        if name not in written:
            raise InputError(f"{place}: evaluate.{name}", "missing", "write [] for none")


def _check_names(params: Params, place: str) -> None:
    named = [("experiment", params.experiment)]
    for section in (*NAMED, "tasks"):
        named += [(f"{section}.{name}", name) for name in getattr(params, section)]
    for key, task in params.tasks.items():  # a file is called after its role
        named += [(f"tasks.{key}.files.{role}", role) for role in task.files]
    for where, name in named:
        if not NAME.fullmatch(name):
            raise InputError(
                f"{place}: {where}",
                f"{name!r} cannot be a name",
                "use at most 100 of a to z, A to Z, digits, - and _, no dots, first a letter or digit",
            )
    _check_systems(params, place)
    if CATALOGUE in params.runtime.models:
        raise InputError(
            f"{place}: runtime.models",
            f"{CATALOGUE!r} is the name of the file that lists them",
            "rename the model",
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


def _check_systems(params: Params, place: str) -> None:
    """What can be a system of the report has a name that no other has: rows of one name would count as seeds of one."""
    models = [*params.models, *params.pretrained, *params.ngrams]
    taken = dict.fromkeys(BASELINES, "a baseline")
    taken |= {combined_name(pair): f"the pair {' and '.join(pair)}" for pair in params.rerank.combine}
    for name in models:
        taken |= {system_name(name, how): f"{name}, read another way," for how in (INTACT, ONE_BY_ONE)}
    for section in SYSTEMS:
        for name in getattr(params, section):
            if name in taken:
                raise InputError(f"{place}: {section}.{name}", f"{taken[name]} is called so", "rename it")
            taken[name] = f"an entry of {section}"


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
    for key, ngram in params.ngrams.items():
        known(f"ngrams.{key}.corpus", ngram.corpus, {**params.corpora}, "corpus")
        known(f"ngrams.{key}.tokenizer", ngram.tokenizer, {**params.tokenizers}, "tokenizer")
    for key, task in params.tasks.items():
        known(f"tasks.{key}.kind", task.kind, dict.fromkeys(KINDS), "kind")
        check_roles(key, task, SET_KINDS[task.kind])
    for where, sets in (("glue.tasks", params.glue.tasks), ("nli.sets", params.nli.sets)):
        kind = where.split(".")[0]
        of_kind = {name: 0 for name, task in params.tasks.items() if task.kind == kind}
        for name in sets if of_kind else ():  # without any, the evaluation itself is refused below
            known(where, name, {**of_kind}, f"task of kind {kind}")
    for key, lists_of in params.nbest.items():
        known(f"nbest.{key}.format", lists_of.format, {**FORMATS}, "format")
    lists = [(f"evaluate.{name}", params.evaluate[name], one.models) for name, one in EVALUATIONS.items()]
    for where, names, sections in [*lists, ("runtime.models", params.runtime.models, TRAINED)]:
        for name in names:
            known(where, name, {key: 0 for one in sections for key in getattr(params, one)}, "model")
            if names.count(name) > 1:
                raise InputError(f"{place}: {where}", f"{name!r} is listed twice")
    for name in params.evaluate["attention"]:
        model = params.models[name]
        for where, numbers, most in (
            ("layers", params.attention.numbers(model.layers), model.layers),
            ("head", [params.attention.head], model.heads),
        ):
            if over := [number for number in numbers if isinstance(number, int) and number > most]:
                raise InputError(
                    f"{place}: attention.{where}",
                    f"{over[0]} of {name}, which has {most}",
                    "take a smaller number",
                )
    _check_joined(params, place)
    for pair in params.rerank.combine:
        alone = {**dict.fromkeys(params.evaluate["rerank"])}
        intact = {system_name(name, INTACT): name for name in alone}
        for name in pair:
            known("rerank.combine", intact.get(name, name), alone, "system")
    if params.evaluate["rerank"] and not params.nbest:
        raise InputError(
            f"{place}: evaluate.rerank", "there are no lists to rerank", "fill nbest, or empty this list"
        )
    kinds = {task.kind for task in params.tasks.values()}
    if "nli" in kinds:
        _check_nli(params, place)
    for name, one in EVALUATIONS.items():
        if params.evaluate[name] and one.sets and not kinds.intersection(one.sets):
            raise InputError(
                f"{place}: evaluate.{name}",
                f"no task is of the kind {' or '.join(one.sets)}",
                "add one under tasks, or empty this list",
            )


def _check_joined(params: Params, place: str) -> None:
    """What reads several texts as one input needs models that have such inputs, and as long ones as are asked for."""
    for evaluation in JOINING:
        for name in params.evaluate[evaluation]:
            if params.models[name].reads == "streams":
                raise InputError(
                    f"{place}: evaluate.{evaluation}",
                    f"{name} reads streams, and this is for models of sentences or spans",
                    "take it out",
                )
    for name in params.evaluate["glue"]:
        if params.glue.max_length > params.models[name].max_length:
            raise InputError(
                f"{place}: glue.max_length",
                f"{params.glue.max_length} tokens are more than the {params.models[name].max_length} that {name} reads",
                "write 0 for as many as each model reads",
            )


def _check_nli(params: Params, place: str) -> None:
    """What is tuned on must be there to be tuned on."""
    if params.evaluate["nli"] and not params.nli.sets:
        raise InputError(
            f"{place}: nli.sets", "names no set to tune on", "name entries of tasks with kind: nli"
        )
    for name in params.nli.sets:
        if "train" not in params.tasks[name].files:
            raise InputError(f"{place}: tasks.{name}.files", "no file train, and nli.sets names it")


SETTINGS, PARAMS = Path("artifacts/settings.json"), Path("params.yaml")
#: Parts of the settings that stages depend on in the place of whole entries: see :class:`pipeline.params.Params`.
PARTS = ("names", "judging", "first_seed", "reported")
#: Beside them, what local sources hold: see :mod:`pipeline.sources`.
CONTENT = "content"
WRITE = "run `dvc repro settings`"
AGAIN = "run `dvc repro` again"


def complete(params: Params, known: sources.Known | None = None) -> dict[str, Any]:
    """Every setting with its value, in the order of params.yaml; the defaults are filled in.

    Args:
        known: digests of files, see `pipeline.sources.content`; None: those that are kept.

    Raises:
        InputError: a local source cannot be read.
    """
    settings: dict[str, Any] = TypeAdapter(Params).dump_python(params, mode="json")
    settings |= {part: TypeAdapter(Any).dump_python(getattr(params, part), mode="json") for part in PARTS}
    kept = sources.read_known() if known is None else known
    return settings | {CONTENT: sources.content(params, _content(), kept)}


def write(params: Params) -> list[str]:
    """Write `complete` settings.

    Returns:
        the entries whose local sources are others than those of the last time, such as ``corpora.mine``.

    Raises:
        InputError: a local source cannot be read.
    """
    before, known = _content(), sources.read_known()
    settings = complete(params, known)
    sources.write_known(known)
    with atomic_path(SETTINGS) as temporary:
        temporary.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return [
        f"{section}.{name}"
        for section, entries in settings[CONTENT].items()
        for name, lines in entries.items()
        if lines != before.get(section, {}).get(name, lines)
    ]


def load() -> Params:
    """The settings of this run.

    Raises:
        InputError: the stage ``settings`` has not written them, or, for a stage that was started by hand, params.yaml
            has a mistake or says something else.
    """
    wanted = read_params(PARAMS) if DVC_STAGE not in os.environ and PARAMS.is_file() else None
    try:
        settings = json.loads(read())
        for part in (*PARTS, CONTENT):
            settings.pop(part, None)
        params = TypeAdapter(Params).validate_json(json.dumps(settings), strict=True)
    except FileNotFoundError:
        raise InputError(SETTINGS, "no such file", WRITE) from None
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise InputError(SETTINGS, f"not the settings of this code ({where})", WRITE) from None
    if wanted not in (None, params):
        raise InputError(SETTINGS, f"does not hold what {PARAMS} says now", WRITE)
    return params


def read() -> bytes:
    """The file as it is."""
    return SETTINGS.read_bytes()


def _content() -> sources.Content:
    """What local sources held when the settings were last written; nothing where they never were."""
    try:
        found: sources.Content = json.loads(SETTINGS.read_bytes()).get(CONTENT, {})
    except (OSError, ValueError, AttributeError):
        return {}
    return found


def is_by_dvc() -> bool:
    """Whether DVC runs this process, and notes the settings of it."""
    return DVC_STAGE in os.environ and SETTINGS.is_file()


class StageSettings:
    """The settings that a stage instance depends on, as they are when this is made.

    DVC notes them when the stage has ended. What the stage makes would else count as made from others, for good.

    Args:
        stage, variant: as in dvc.yaml.
    """

    def __init__(self, params: Params, stage: str, variant: str) -> None:
        self._params = params
        self._keys = [key.replace("{}", variant) for key in dvc_yaml.settings_keys(stage)]
        self._values = self._read()

    def check(self) -> None:
        """Compare them with the file as it is now, and the local sources among them with what these hold now.

        Raises:
            InputError: one has changed.
        """
        if self._read() != self._values:
            raise InputError(SETTINGS, "was written by another run meanwhile", AGAIN)
        noted = [key for key in self._keys if key.split(".")[0] == CONTENT]
        if not noted:
            return
        before = _content()
        now = {CONTENT: sources.content(self._params, before, sources.read_known())}
        for key in noted:
            old, new = (json.dumps(_at(one, key)) for one in ({CONTENT: before}, now))
            if old != new:
                raise InputError(
                    f"params.yaml: {key.partition('.')[2]}", "its source has changed meanwhile", AGAIN
                )

    def _read(self) -> list[Any]:
        settings = json.loads(read())
        return [_at(settings, key) for key in self._keys]


def _at(settings: Any, key: str) -> Any:
    """The value at a key such as ``models.tta``; None where there is none."""
    for name in key.split("."):
        settings = settings.get(name) if isinstance(settings, dict) else None
    return settings
