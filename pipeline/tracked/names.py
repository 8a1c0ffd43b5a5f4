"""What things are called in MLflow: runs, tags, parameters, metrics. The same thing has one name everywhere."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

from pipeline import dvc_yaml
from pipeline.params import Params
from pipeline.stages import STAGES, stage_named
from quartet.results import Result

MOST_KEY, MOST_VALUE = 250, 5000
#: What is logged with the report, which is no entry of STAGES: it leaves no record for others.
REPORT_PARAMS = ("experiment", "seeds", "bootstrap", "evaluate")


def run_name(stage: str, variant: str) -> str:
    """``sts/tta``: sorted by name, the runs of a stage stand together."""
    return f"{stage}/{variant}" if variant else stage


def run_tags(params: Params, stage: str, variant: str) -> dict[str, str]:
    """What a run is of. ``preset`` is the experiment of the settings; MLflow's own tags fill its columns."""
    commit = commit_of_tree()
    tags = {
        "stage": stage,
        "variant": variant,
        "preset": params.experiment,
        "commit": commit,
        "mlflow.source.name": f"stages.{stage.replace('-', '_')}",
        "mlflow.source.git.commit": commit.removesuffix("+"),
    }
    if stage_named(stage).of_models:
        tags |= model_tags(params, variant)
    return tags


def model_tags(params: Params, name: str) -> dict[str, str]:
    """What a model of ours is; nothing for what is none."""
    model = params.models.get(name)
    if model is None:
        return {}
    return {"model": name, "objective": model.objective, "positions": ", ".join(model.positions)}


def metric_name(row: Result, variant: str) -> str:
    """The name of a row's metric; the run's own model is left out, so that runs of models share their names.

    ``rerank/sample-speech/test/wer`` for tta in the run of tta, ``…/wer/context`` for tta/context, ``…/wer/intact``
    for bilm-intact in the run of bilm, ``…/wer/first-pass`` for a baseline.
    """
    own = variant == row.model and not row.versus
    system = row.reading if own else row.system
    return "/".join(part for part in (row.table, row.dataset, row.split, row.metric, system) if part)


def stage_params(params: Params, stage: str, variant: str, named: bool = False) -> dict[str, str]:
    """The settings of one stage instance, flat, within MLflow's lengths.

    The instance's own name is left out unless `named`, so that runs of models share these names too:
    ``models.layers``.
    """
    flat: dict[str, str] = {}
    for key in dvc_yaml.settings_keys(stage) if stage in STAGES else REPORT_PARAMS:
        full = key.replace("{}", variant)
        flat |= settings_under(params, full, full if named else key.replace(".{}", ""))
    return flat


def settings_under(params: Params, key: str, shown: str) -> dict[str, str]:
    """The settings at a key such as ``models.tta``, flat, each under the name `shown` and what is below it."""
    value: Any = params
    for name in key.split("."):
        value = value[name] if isinstance(value, dict) else getattr(value, name)
    return dict(_flat(shown, _plain(value)))


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number in nested mappings with the path of its keys; texts and lists are left out."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from numbers(inner, f"{path}/{name}" if path else str(name))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)


def commit_of_tree() -> str:
    """The commit of the working tree, with + where tracked files differ from it; "unknown" outside git."""
    try:
        commit = _git("rev-parse", "HEAD")
        return commit + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=lambda each: each.__dict__))


def _flat(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(f"{key}.{name}", inner)
    else:
        yield key[:MOST_KEY], (value if isinstance(value, str) else json.dumps(value))[:MOST_VALUE]


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()
