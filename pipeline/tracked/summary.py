"""One run a system with all its results, and the view of MLflow's pages that puts them beside one another.

A stage instance has a run, so what is known of one model lies in a dozen of them. The report, which has read every
row, logs a run for each model and each baseline: these are the rows that MLflow can sort, filter and draw.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean

from pipeline.layout import Layout, instances
from pipeline.mlflow_store import Store
from pipeline.params import Params
from pipeline.tracked import models
from pipeline.tracked.inputs import Input, inputs
from pipeline.tracked.names import is_reading, metric_name, model_tags, run_tags, stage_params
from quartet.results import Result

STAGE = "model"
#: The name of the view: :mod:`pipeline.ui` opens it.
VIEW = "models"
#: Tables whose rows are of pairs of systems, or of parts of what another table has whole.
ASIDE = ("perplexity-pairs", "rerank-pairs", "rerank-length")
#: What the view shows of a table; of one that is not named here, the first of OTHERS that it has.
HEADLINES: dict[str, tuple[str, ...]] = {
    "perplexity": ("loss", "gain"),
    "rerank": ("wer", "bleu"),
    "sts": ("pearson",),
    "wordsim": ("spearman",),
    "training": (),
    "attention": (),
    "reference-perplexity": (),
}
OTHERS = ("accuracy", "f1", "em", "matthews")
#: Readings that the view shows: the model's own, and for vectors its last layer's mean.
READINGS = ("", "context")
#: Columns of the view at most; MLflow's own picker offers the others.
COLUMNS = 14
#: Significant digits of a model's results in its own run.
DIGITS = 5
#: Widths in the view, in pixels: a heading shows its whole name.
CHARACTER, PADDING = 6, 24
#: Characters that MLflow keeps of a run's description.
LONGEST = 8000


def summarise(
    store: Store,
    params: Params,
    rows: Iterable[Result],
    known: Mapping[tuple[str, str], str],
    parent: str | None,
) -> list[str]:
    """Log a run for each system whose results no run stands for, and set the experiment's view and description.

    Returns:
        the names of the systems that were new.
    """
    by_system = grouped(params, rows)
    logged = []
    for system, own in reversed(by_system.items()):  # the newest stands on top: the first model
        content = hashlib.sha256(json.dumps([asdict(row) for row in own]).encode()).hexdigest()
        if (system, content) in known:
            continue
        tags = {**run_tags(params, STAGE, system), **model_tags(params, system), "system": system}
        if parent is not None:  # no child of it: MLflow folds children away
            tags["repro"] = parent
        run_id = store.create(system, {**tags, "mlflow.source.name": "stages.report"})
        if system in params.models:
            store.params(run_id, stage_params(params, "pretrain", system))
        model_id = _model_of(store, params, system)
        points = [(metric_name(row, system), shown(row.value), _step(params, row)) for row in own]
        store.metrics(run_id, points, model_id)
        if model_id is not None:
            store.reads_model(run_id, model_id)
        store.inputs(run_id, _inputs(params, system))
        store.tags(run_id, {"content": content})
        store.end(run_id, "FINISHED")
        logged.append(system)
    columns = headlines(by_system)
    text = description(params, by_system, columns, True)
    if len(text) > LONGEST:
        text = description(params, by_system, columns, False)
    store.describe(text, {VIEW: view(columns, [model_tags(params, name) for name in params.models])})
    if parent is not None:
        store.tags(parent, {"mlflow.note.content": text})
    return logged


def grouped(params: Params, rows: Iterable[Result]) -> dict[str, list[Result]]:
    """The rows of each model with those of its readings, models first, in the order of params.yaml."""
    named = [*params.models, *params.pretrained, *params.ngrams, *params.vectors]
    longest = sorted(named, key=len, reverse=True)
    found: defaultdict[str, list[Result]] = defaultdict(list, {name: [] for name in named})
    for row in rows:
        if row.table not in ASIDE:
            owner = next((n for n in longest if row.system == n or is_reading(row.system, n)), row.system)
            found[owner].append(row)
    return {name: own for name, own in found.items() if own}


def headlines(by_system: Mapping[str, Sequence[Result]]) -> list[str]:
    """The names of the metrics that the view shows, in the order of the tables."""
    tables = list(dict.fromkeys(row.table for own in by_system.values() for row in own))
    order = sorted(tables, key=lambda table: (*HEADLINES, table).index(table))
    names: list[str] = []
    for table in order:
        rows = [(system, row) for system, own in by_system.items() for row in own if row.table == table]
        there = {row.metric for _, row in rows}
        wanted = HEADLINES.get(table, tuple(metric for metric in OTHERS if metric in there)[:1])
        for metric in wanted:
            for system, row in rows:
                name = metric_name(row, system)
                reading = name.removeprefix(f"{row.table}/{row.dataset}/{row.split}/{row.metric}").lstrip("/")
                if row.metric == metric and row.split != "dev" and reading in READINGS and name not in names:
                    names.append(name)
    return names[:COLUMNS]


def shown(value: float) -> float:
    """A value as the table of runs can show it, which shows every digit; the runs of stages have it whole."""
    return float(f"{value:.{DIGITS}g}")


def view(columns: Sequence[str], tags: Sequence[Mapping[str, str]]) -> str:
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
            "searchFilter": f"tags.stage = '{STAGE}'",
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
    params: Params, by_system: Mapping[str, Sequence[Result]], columns: Sequence[str], intervals: bool
) -> str:
    """The newest report's figures as a Markdown table, with what the runs here are."""
    lines = [
        f"Preset **{params.experiment}**: one run for each stage instance (`sts/tta`), above them one for each "
        "`dvc repro`, and one for each model and baseline with all its results (tag `stage` = `model`).",
        "",
        "| model | objective | positions | " + " | ".join(map(_heading, columns)) + " |",
        "|:--|:--|:--|" + "--:|" * len(columns),
    ]
    for system, own in by_system.items():
        values: defaultdict[str, list[Result]] = defaultdict(list)
        for row in own:
            values[metric_name(row, system)].append(row)
        tags = model_tags(params, system)
        cells = [
            tags.get("objective", "–"),
            tags.get("positions", "–"),
            *(_cell(values[name], intervals) for name in columns),
        ]
        if any(values[name] for name in columns):
            lines.append(f"| `{system}` | " + " | ".join(cells) + " |")
    lines += [
        "",
        "`loss` is nats a token on the test documents (of mlm and lae a pseudo-log-likelihood: not to be compared with "
        "clm), `gain` what it is better than the unigram; in brackets 95 % intervals. The report has every table: see "
        "the run `report`, under Artifacts.",
    ]
    return "\n".join(lines)


def _heading(column: str) -> str:
    """``pearson on lee, context`` for ``sts/lee/test/pearson/context``."""
    _, dataset, _, metric, *reading = column.split("/")
    return ", ".join([f"{metric} on {dataset}", *reading])


def _cell(rows: Sequence[Result], intervals: bool) -> str:
    """The mean over seeds; of one seed with its interval."""
    if not rows:
        return "–"
    text = f"{fmean(row.value for row in rows):.4g}"
    if intervals and len(rows) == 1 and rows[0].ci_low is not None and rows[0].ci_high is not None:
        text += f" [{rows[0].ci_low:.4g}, {rows[0].ci_high:.4g}]"
    return text


def _step(params: Params, row: Result) -> int:
    """The place of the row's seed among the seeds: MLflow draws bars where a metric has step 0 alone, else lines."""
    return params.seeds.index(row.seed) if row.seed in params.seeds else 0


def _inputs(params: Params, system: str) -> list[Input]:
    """What the stages of a system read, each once."""
    layout = Layout(params.experiment)
    found = [
        each
        for stage, variant in instances(params)
        if variant == system
        for each in inputs(params, layout, stage, variant)
    ]
    return list({each.name: each for each in found}.values())


def _model_of(store: Store, params: Params, system: str) -> str | None:
    """MLflow's id of the logged model of the first seed; None for what we did not train, or is not there."""
    if system not in params.models:
        return None
    folder = Layout(params.experiment).model(system, params, params.seeds[0])
    if not (folder / "config.json").is_file():
        return None
    return models.find(store, models.logged_name(params, system, params.seeds[0]), models.content_of(folder))
