"""The fields of a stage instance's run in MLflow: its name, its tags, its settings, what it reads, its curve.

The same thing has one name everywhere.
"""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import dvc_yaml
from pipeline.layout import MANIFEST, Layout, pairs
from pipeline.params import Params
from pipeline.settings import CONTENT
from pipeline.stages import STAGES, stage_named
from pipeline.tracking.mlflow import clone
from quartet.files import read_json, sha256
from quartet.results import Result

MetricPoint = tuple[str, float, int]
"""A metric's name, its value and its step."""

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
        "clone": clone(),
        "mlflow.source.name": f"stages.{stage.replace('-', '_')}",
        "mlflow.source.git.commit": commit.removesuffix("+"),
    }
    if stage_named(stage).models:
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
    keys = dvc_yaml.settings_keys(stage) if stage in STAGES else REPORT_PARAMS
    for key in keys:
        if key.startswith(CONTENT):
            continue  # digests, which are no setting of the user's
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


# ---------------------------------------------------------------------- what an instance reads

#: What is said of an input, of what its manifest counts.
COUNTED = ("bytes", "documents", "sentences", "tokens", "lists", "hypotheses", "items")


@dataclass(frozen=True)
class ArtifactInput:
    """A part of an artifact that a stage read.

    Attributes:
        name: ``wikipedia-sample/wordpiece-3k train``.
        context: what it was read for, ``train``, ``valid``, ``dev`` or ``test``; ``all`` for a whole.
        sha256: of the artifact's manifest, which holds the hashes of its files.
        folder: where it lies.
        counts: what the manifest says of the part.
    """

    name: str
    context: str
    sha256: str
    folder: Path
    counts: dict[str, Any]


def inputs(params: Params, layout: Layout, stage: str, variant: str) -> list[ArtifactInput]:
    """The corpora, N-best lists and evaluation sets of a stage instance that are there."""
    return list(_inputs(params, layout, stage, variant))


def in_words(found: Iterable[ArtifactInput]) -> str:
    """``lee (1,225 items), sample-speech dev (150 lists, 7,488 hypotheses)``."""
    return ", ".join(f"{each.name} ({_counted(each.counts)})" for each in found)


def _counted(counts: dict[str, Any]) -> str:
    numbers = {key: counts[key] for key in COUNTED if key in counts}
    if isinstance(roles := numbers.get("items"), dict):
        numbers = {"items": sum(roles.values())}
    return ", ".join(f"{number:,} {key}" for key, number in numbers.items())


def _inputs(params: Params, layout: Layout, stage: str, variant: str) -> Iterator[ArtifactInput]:
    if stage == "segment":
        yield from _parts(variant, layout.raw(variant), ("all",))
    elif stage == "tokenizer":
        settings = params.tokenizers[variant]
        if settings.kind != "pretrained":
            yield from _parts(settings.corpus, layout.segments(settings.corpus), ("train",))
    elif stage == "encode":
        corpus = pairs(params)[variant][0]
        yield from _parts(corpus, layout.segments(corpus), ("train", "valid", "test"))
    elif stage == "ngram":
        corpus = params.ngrams[variant].corpus
        yield from _parts(corpus, layout.segments(corpus), ("train", "test"))
    elif stage in ("pretrain", "perplexity", "attention") and variant in params.models:
        model = params.models[variant]
        read = ("train", "valid") if stage == "pretrain" else ("test",)
        folder = layout.encoded(model.corpus, model.tokenizer)
        yield from _parts(f"{model.corpus}/{model.tokenizer}", folder, read)
    elif stage == "compare-losses":
        for corpus, tokenizer in dict.fromkeys((one.corpus, one.tokenizer) for one in params.models.values()):
            yield from _parts(f"{corpus}/{tokenizer}", layout.encoded(corpus, tokenizer), ("test",))
    if stage_named(stage).lists:
        for name in params.nbest:
            yield from _parts(name, layout.nbest(name), ("dev", "test"))
    for kind in stage_named(stage).sets:
        for name, task in params.tasks.items():
            if task.kind == kind:
                yield from _parts(name, layout.task(kind, name), ("all",))


def _parts(name: str, folder: Path, contexts: tuple[str, ...]) -> Iterator[ArtifactInput]:
    path = folder / MANIFEST
    if not path.is_file():
        return
    manifest = read_json(path)
    if not manifest.get("available", True):
        return
    digest = sha256(path)
    for context in contexts:
        counts = manifest if context == "all" else manifest.get("splits", manifest)[context]
        whole = name if context == "all" else f"{name} {context}"
        yield ArtifactInput(whole, context, digest, folder, counts)


# ---------------------------------------------------------------------- its curve


def curve_points(path: Path) -> list[MetricPoint]:
    """The validation losses of a training, a metric a seed, as a live training reports them; none without the file."""
    if not path.is_file():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return [
            (f"validation_loss/seed-{point['seed']}", float(point["loss"]), int(point["step"]))
            for point in csv.DictReader(file)
        ]
