"""One run a system with all its results, and the view of MLflow's pages that puts them beside one another.

A stage instance has a run, so what is known of one model lies in a dozen of them. The report, which has read every
row, logs a run for each model and each baseline: these are the rows that MLflow can sort, filter and draw.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from statistics import fmean
from typing import TYPE_CHECKING

from pipeline.layout import Layout, pairs
from pipeline.params import Params
from pipeline.stages import HEADLINES, instances, stage_named
from pipeline.tracking import models, repro
from pipeline.tracking.mlflow import ExperimentStore, clone, in_copy, open_store
from pipeline.tracking.run_fields import (
    ArtifactInput,
    MetricPoint,
    curve_points,
    inputs,
    model_tags,
    run_tags,
    settings_under,
    stage_params,
)
from quartet.results import Result, combined_name, read_results

if TYPE_CHECKING:
    from mlflow.entities import Run

STAGE = "model"
#: How the names of the views begin: :mod:`pipeline.ui` opens this clone's.
VIEW = "models"
#: A table whose rows are of parts of what another one has whole.
PARTS = "rerank-length"
#: Readings that the view shows: the model's own, and for vectors its last layer's mean.
READINGS = ("", "context")
#: Columns of the view at most; MLflow's own picker offers the others.
COLUMNS = 14
#: The tags of a row with the states that it belongs to and DVC's experiments that it was logged for, the newest last.
STATES, EXPERIMENTS = "states", "dvc.experiment"
#: How many settings the name of another state's row has, and how many characters.
NAMED, MOST_NAME = 2, 100
#: Widths in the view, in pixels: a heading shows its whole name.
CHARACTER, PADDING = 6, 24
#: Characters that MLflow keeps of a tag, as a run's description is.
LONGEST = 8000


def summarise(
    store: ExperimentStore, params: Params, rows: Iterable[Result], parent: str | None
) -> list[str]:
    """Log a row for each system whose figures or settings no row has, and show this state: see :func:`show`.

    Returns:
        the names of the systems that were new.
    """
    by_system = grouped(params, rows)
    contents = contents_of(params, by_system)
    known = known_rows(store)
    logged = [system for system in by_system if (system, contents[system]) not in known]
    for system in reversed(logged):  # the newest stands on top: the first model
        run_id = _log(store, params, system, by_system[system], parent)
        store.tags(run_id, {"content": contents[system]})
    show(store, params, by_system, parent)
    return logged


def show(
    store: ExperimentStore,
    params: Params,
    by_system: Mapping[str, Sequence[Result]],
    parent: str | None = None,
) -> str:
    """Tag the rows of the state that has these figures by these settings, and let MLflow show it.

    It is shown by this clone's view, the description of the experiment and of the run `parent`, and the names of rows.
    An experiment that DVC runs in a copy is tagged, but the repository's state stays shown.

    Returns:
        the state's name; empty where MLflow lacks a row, and then nothing is done.
    """
    contents = contents_of(params, by_system)
    known = known_rows(store)
    if not contents or not contents.items() <= known.keys():
        return ""
    present = {system: known[system, content] for system, content in contents.items()}
    state = hashlib.sha256(json.dumps(sorted(contents.items())).encode()).hexdigest()[:8]
    with repro.one_at_a_time():
        for run in present.values():
            had = store.client.get_run(run.info.run_id).data.tags
            words = {STATES: state, EXPERIMENTS: os.environ.get(repro.DVC_EXP_NAME, "")}
            store.tags(
                run.info.run_id, {tag: _with(had.get(tag, ""), word) for tag, word in words.items() if word}
            )
    named = {system: run for (system, _), run in known.items() if run.info.run_name == system}
    rename(store, known, {**present, **named} if in_copy() else present)
    if in_copy():
        return state
    columns = headlines(by_system)
    texts = [description(params, by_system, columns, state, intervals) for intervals in (True, False)]
    text = texts[len(texts[0]) > LONGEST]
    tags = [model_tags(params, name) for name in params.models]
    store.describe(text, {view_name(): view(columns, tags, state)})
    if parent is not None:
        store.tags(parent, {"mlflow.note.content": text})
    return state


def show_present(params: Params) -> str:
    """Let MLflow show the state of params.yaml and the report; its name, or empty where MLflow has no rows of it."""
    path = Layout(params.experiment).results
    rows = read_results(path) if path.is_file() else []
    return show(open_store(params.experiment), params, grouped(params, rows))


def known_rows(store: ExperimentStore) -> dict[tuple[str, str], Run]:
    """The whole rows by system and content; of equal ones, which two clones can log at once, the oldest."""
    return {
        (run.data.tags["system"], run.data.tags["content"]): run
        for run in store.search(f"tags.stage = '{STAGE}'")
        if "content" in run.data.tags
    }


def contents_of(params: Params, by_system: Mapping[str, Sequence[Result]]) -> dict[str, str]:
    """By system, a hash of all that its row says: its figures, and the settings that they depend on."""
    return {
        system: hashlib.sha256(
            json.dumps([[asdict(row) for row in own], sorted(settings_of(params, system).items())]).encode()
        ).hexdigest()
        for system, own in by_system.items()
    }


def state_filter(state: str) -> str:
    """MLflow's filter for the rows of a state."""
    return f"tags.{STATES} LIKE '%{state}%'"


def view_name() -> str:
    """The name of the view of this clone: others at the same server have theirs."""
    return f"{VIEW}-{hashlib.sha256(clone().encode()).hexdigest()[:8]}"


def _with(words: str, new: str) -> str:
    """Words with another one at their end; where there are too many for a tag, the first are left out."""
    every = [*(word for word in words.split() if word != new), new]
    while len(" ".join(every)) > LONGEST:
        every.pop(0)
    return " ".join(every)


def _log(
    store: ExperimentStore,
    params: Params,
    system: str,
    own: Sequence[Result],
    parent: str | None,
) -> str:
    """The id of a new row with a system's figures, settings, data sets, and the curve of its training."""
    tags = {**run_tags(params, STAGE, system), **model_tags(params, system), "system": system}
    if parent is not None:  # no child of it: MLflow folds children away
        tags["repro"] = parent
    run_id = store.create(system, {**tags, "mlflow.source.name": "stages.report"})
    store.params(run_id, settings_of(params, system))
    model_id = _model_of(store, params, system)
    store.metrics(run_id, points_of(columns_of(own, system)), model_id)
    curve = Layout(params.experiment).curve(system)
    if system in params.models:
        store.metrics(run_id, curve_points(curve))
    if model_id is not None:
        store.reads_model(run_id, model_id)
    store.inputs(run_id, _inputs(params, system))
    store.end(run_id, "FINISHED")
    return run_id


def rename(store: ExperimentStore, rows: Mapping[tuple[str, str], Run], by_system: Mapping[str, Run]) -> None:
    """Name the rows in `by_system` after their systems, and all others of these by what they have otherwise."""
    for (system, _), run in rows.items():
        now = by_system.get(system, run)
        name = system if now is run else other_name(system, run, now)
        if name != run.info.run_name:
            store.client.update_run(run.info.run_id, name=name)


def other_name(system: str, run: Run, now: Run) -> str:
    """The name of a row beside another one of its system, what differs first: ``layers=1 tta``.

    Where no setting does, it is the clone, the commit, or else all that it says: ``commit=0f63acf6 tta``.
    """
    had, has = (
        {"clone": tags.get("clone", ""), "commit": tags["commit"][:8], "content": tags["content"][:8]}
        for tags in (run.data.tags, now.data.tags)
    )
    words = differing(run.data.params, now.data.params) or differing(had, has)[:1]
    return " ".join([*words, system])[:MOST_NAME]


def differing(had: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The first settings of a row that differ from another's: ``layers=1``, ``rerank.score=sum``.

    MLflow's column of names is narrow: of a setting there is as little as no other setting ends in.
    """
    differs = [key for key in had if key in now and had[key] != now[key]]
    ends = Counter(key.rpartition(".")[2] for key in had)
    words = []
    for key in differs[:NAMED]:
        end = key.rpartition(".")[2]
        words.append(f"{end if ends[end] == 1 else key.removeprefix('models.')}={had[key]}")
    return [*words, *(["..."] if len(differs) > NAMED else [])]


def grouped(params: Params, rows: Iterable[Result]) -> dict[str, list[Result]]:
    """The rows of each model with those of its readings, models first, in the order of params.yaml."""
    named = [*params.models, *params.pretrained, *params.ngrams, *params.vectors]
    found: defaultdict[str, list[Result]] = defaultdict(list, {name: [] for name in named})
    for row in rows:
        if not row.versus and row.table != PARTS:  # the differences of a model would share one name
            found[row.model if row.model in named else row.system].append(row)
    return {name: own for name, own in found.items() if own}


def headlines(by_system: Mapping[str, Sequence[Result]]) -> list[str]:
    """The names of the metrics that the view shows, in the order of the stages; parts of sets are left out."""
    found: defaultdict[str, dict[str, dict[str, list[str]]]] = defaultdict(dict)  # table, set, metric: names
    for system, own in by_system.items():
        for name, (row, *_) in columns_of(own, system).items():
            if row.split != "dev" and reading_of(row, system) in READINGS and "/" not in row.dataset:
                found[row.table].setdefault(row.dataset, {}).setdefault(row.metric, []).append(name)
    names: list[str] = []
    for table, (_, headline) in HEADLINES.items():
        for there in found[table].values() if table != TRAINING else ():
            first = [metric for metric in headline.metrics if metric in there][:1]
            for metric in (*first, *headline.beside):
                names += there.get(metric, [])
    return list(dict.fromkeys(names))[:COLUMNS]


def view(columns: Sequence[str], tags: Sequence[Mapping[str, str]], state: str) -> str:
    """The state of MLflow's table of runs, as its pages keep the one that somebody shares.

    Args:
        columns: names of metrics.
        tags: of each model; what they are called and what they say must fit.
    """
    lengths = {
        f"tags.`{tag}`": max(len(tag), *(len(each[tag]) for each in tags))
        for tag in ("objective", "positions")
    }
    lengths |= {f"metrics.`{name}`": len(name) for name in columns}
    return json.dumps(
        {
            "searchFilter": state_filter(state),
            "orderByKey": "attributes.start_time",
            "orderByAsc": False,
            "startTime": "ALL",
            "lifecycleFilter": "Active",
            "modelVersionFilter": "All Runs",
            "datasetsFilter": [],
            "selectedColumns": list(lengths),
            "columnOrder": list(lengths),
            "columnWidths": {name: PADDING + CHARACTER * length for name, length in lengths.items()},
            "runsHiddenMode": "FIRST_20_RUNS",
            "isAccordionReordered": True,
            "compareRunSections": [
                {"uuid": VIEW, "name": "Results", "display": True, "isReordered": True, "isGenerated": False}
            ],
            "compareRunCharts": [
                {
                    **{"type": "BAR", "metricKey": name, "dataAccessKey": name, "uuid": name},
                    **{"metricSectionId": VIEW, "deleted": False, "isGenerated": False},
                }
                for name in columns
            ],
        }
    )


def description(
    params: Params,
    by_system: Mapping[str, Sequence[Result]],
    columns: Sequence[str],
    state: str,
    intervals: bool,
) -> str:
    """The figures of a state as a Markdown table, with whose they are and what the runs here are."""
    lines = [
        f"State `{state}` of **{params.experiment}**, of {clone()} on {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC. "
        f"Its rows: `{state_filter(state)}`. `make ui` shows the present state. There is one run for each stage "
        "instance (`sts/tta`), above them one for each `dvc repro`, and one for each model and baseline with all its "
        "results (tag `stage` = `model`).",
        "",
        "| model | objective | positions | " + " | ".join(columns) + " |",
        "|:--|:--|:--|" + "--:|" * len(columns),
    ]
    for system, own in by_system.items():
        values = columns_of(own, system)
        tags = model_tags(params, system)
        cells = [
            tags.get("objective", "–"),
            tags.get("positions", "–"),
            *(_cell(values.get(name, []), intervals) for name in columns),
        ]
        if any(name in values for name in columns):
            lines.append(f"| `{system}` | " + " | ".join(cells) + " |")
    lines += [
        "",
        "`loss` is nats per token on the test documents (of mlm and lae a pseudo-log-likelihood: not to be compared "
        "with clm), `gain` what it is better than the unigram; in brackets 95 % intervals. The report has every table: "
        "see the run `report`, under Artifacts.",
    ]
    return "\n".join(lines)


def _cell(rows: Sequence[Result], intervals: bool) -> str:
    """The mean over seeds; of one seed with its interval."""
    if not rows:
        return "–"
    text = f"{mean(rows):.4g}"
    if intervals and len(rows) == 1 and rows[0].ci_low is not None and rows[0].ci_high is not None:
        text += f" [{rows[0].ci_low:.4g}, {rows[0].ci_high:.4g}]"
    return text


def _inputs(params: Params, system: str) -> list[ArtifactInput]:
    """What the stages of a system read, each once."""
    layout = Layout(params.experiment)
    found = [
        each
        for stage, variant in instances(params)
        if variant == system
        for each in inputs(params, layout, stage, variant)
    ]
    return list({each.name: each for each in found}.values())


def _model_of(store: ExperimentStore, params: Params, system: str) -> str | None:
    """MLflow's id of the logged model of the first seed; None for what we did not train, or is not there."""
    if system not in params.models:
        return None
    folder = Layout(params.experiment).model(system, params, params.seeds[0])
    if not (folder / "config.json").is_file():
        return None
    return models.find(store, models.logged_name(params, system, params.seeds[0]), models.content_of(folder))


# ---------------------------------------------------------------------- its figures, with names for a narrow column

#: The table whose figure is the end of a curve.
TRAINING = "training"
#: Tables of which a metric and a data set say enough; the name of another stands behind them.
KNOWN = frozenset(HEADLINES) - {TRAINING, "nli"}  # a model tuned for nli is judged on the sets of sts
#: Significant digits: the table of runs shows every digit that a value has. The runs of stages have it whole.
DIGITS = 5


def reading_of(row: Result, system: str) -> str:
    """How the model `system` was read; empty for a system that is no model's reading."""
    return row.reading if row.model == system else ""


def column(row: Result, system: str) -> str:
    """The name of a row's metric in the row of its system, what differs first, and ``test`` left out.

    ``wer sample-speech``, ``pearson context lee``, ``loss wikipedia-sample``, ``loss wikipedia-sample valid training``.
    """
    split = "" if row.split == "test" else row.split
    table = "" if row.table in KNOWN else row.table
    return " ".join(filter(None, (row.metric, reading_of(row, system), row.dataset, split, table)))


def columns_of(rows: Iterable[Result], system: str) -> dict[str, list[Result]]:
    """The rows of a system by their columns, a row a seed; two tables in one column are told apart by their names."""
    found: defaultdict[str, list[Result]] = defaultdict(list)
    for row in rows:
        found[column(row, system)].append(row)
    for name, own in list(found.items()):
        if len({row.table for row in own}) > 1:
            del found[name]
            for row in own:
                found[f"{name} {row.table}"].append(row)
    return dict(found)


def mean(rows: Iterable[Result]) -> float:
    """The mean over the seeds."""
    return fmean(row.value for row in rows)


def points_of(columns: dict[str, list[Result]]) -> list[MetricPoint]:
    """Each column's mean over the seeds, and where there are several, each seed's value beside it."""
    points = []
    for name, rows in columns.items():
        points.append((name, shown(mean(rows)), 0))
        if len(rows) > 1:
            points += [(f"{name} seed-{row.seed}", shown(row.value), 0) for row in rows]
    return points


def shown(value: float) -> float:
    """A value as the table of runs can show it."""
    return float(f"{value:.{DIGITS}g}")


# ---------------------------------------------------------------------- the settings that its figures depend on

Instance = tuple[str, str]


def settings_of(params: Params, system: str) -> dict[str, str]:
    """The settings of the stages that a system's figures come from, and of what these read, flat.

    A name that the system alone decides is left out, as in the runs of stages: ``models.layers``. Entries that it may
    share with others keep theirs: ``nbest.sample-speech.format``.
    """
    own = list(dict.fromkeys(stages_of(params, system)))
    found: dict[str, str] = {}
    for instance in dict.fromkeys(each for one in own for each in read_by(params, one)):
        found |= stage_params(params, *instance, named=True)
    for name, task in params.tasks.items():
        if any(task.kind in stage_named(stage).sets for stage, _ in own):
            found |= settings_under(params, f"tasks.{name}", f"tasks.{name}")
            found.pop(f"tasks.{name}.license", None)  # no figure depends on it
    for instance in own:
        found |= stage_params(params, *instance)
    return found


def stages_of(params: Params, system: str) -> Iterator[Instance]:
    """The stage instances that figures of a system come from."""
    entries = [*params.models, *params.pretrained, *params.ngrams]
    if system in entries:
        yield from ((s, v) for s, v in instances(params) if v == system and stage_named(s).models)
    elif system in params.vectors:
        yield "vectors", system
    elif system in params.translators:
        yield "translate", system
    elif system in map(combined_name, params.rerank.combine):
        yield "combine", ""
        for name in params.evaluate["rerank"]:
            if name in system:
                yield from stages_of(params, name)
    else:
        yield "baselines", ""


def read_by(params: Params, instance: Instance) -> Iterator[Instance]:
    """The stage instances that brought the text and the lists that a stage instance reads."""
    stage, variant = instance
    source = params.models.get(variant) or params.ngrams.get(variant)
    if stage in ("pretrain", "ngram") and source is not None:
        yield from _text(source.corpus, source.tokenizer)
    elif stage == "baselines":
        for corpus, tokenizer in pairs(params).values():
            yield from _text(corpus, tokenizer)
    if stage_named(stage).lists:
        yield from (("nbest", name) for name in params.nbest)


def _text(corpus: str, tokenizer: str) -> Iterator[Instance]:
    yield from (("download", corpus), ("segment", corpus), ("tokenizer", tokenizer))
