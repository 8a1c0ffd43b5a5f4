"""The stages, each with what is known of it beside dvc.yaml: one entry for everyone who treats stages alike.

Which instances there are, what settings they depend on and what they make stands in dvc.yaml and is read from there
(:mod:`pipeline.dvc_yaml`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline import dvc_yaml
from pipeline.layout import MANIFEST, REPORT, TOKENIZER, Layout, pairs
from pipeline.params import Params
from quartet.results import Result, read_results

InstanceFile = Callable[[Layout, Params, str], Path]
"""A file of the instance of that name."""
InstanceFiles = Callable[[Layout, str], Mapping[Path, str | None]]
"""Files of an instance, and below which folder of its run MLflow keeps each (None: at the root)."""


@dataclass(frozen=True)
class Headline:
    """The figures of a stage that are shown where there is room for one: in ``dvc metrics`` and MLflow's view.

    Attributes:
        table: of the results, where they stand.
        metrics: a set of data has the first of these that its rows have.
        beside: metrics that MLflow's view shows beside it.
        by_metric: in ``dvc metrics`` it is called by its metric, and not by the stage.
    """

    table: str
    metrics: tuple[str, ...]
    beside: tuple[str, ...] = ()
    by_metric: bool = False


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What is known of a stage.

    Attributes:
        record: says what an instance made, the same bytes for the same result; None: its rows of results.
        headline: what of its rows is shown first.
        models: the sections of params.yaml whose entries its variants are, where these are models.
        evaluates: its variants are a list under ``evaluate:`` of params.yaml. Where it has `sets`, at least one set of
            these kinds must be there.
        live: it takes minutes, and MLflow sees it while it runs. All others start without importing MLflow.
        lists: it reads the N-best lists.
        sets: the kinds of evaluation sets that it reads, names of `quartet.tasks.kinds.KINDS`.
        manifest: a manifest beside its record.
        curve: the validation losses of its training.
        files: what of its outputs MLflow keeps beside the record.
        tag: the text of its manifest under the first name is a tag in MLflow, under the second.
        alone: it measures time, so nothing may run beside it.
    """

    record: InstanceFile | None = None
    headline: Headline | None = None
    models: tuple[str, ...] = ()
    evaluates: bool = False
    live: bool = False
    lists: bool = False
    sets: tuple[str, ...] = ()
    manifest: InstanceFile | None = None
    curve: InstanceFile | None = None
    files: InstanceFiles | None = None
    tag: tuple[str, str] | None = None
    alone: bool = False

    @property
    def tunes(self) -> bool:
        """Whether it tunes models on its sets, and keeps them under names of the code while it runs."""
        return self.live and bool(self.sets)


#: The trained models alone; with those that come trained; with n-gram models too.
TRAINED = ("models",)
VECTORS = (*TRAINED, "pretrained")
SCORERS = (*VECTORS, "ngrams")

#: The evaluations that run on sets. Their readers are not imported here, so that an edit of one re-runs no stage that
#: does not read with it.
ON_SETS: dict[str, Stage] = {
    "sts": Stage(
        headline=Headline("sts", ("pearson",)),
        models=VECTORS,
        evaluates=True,
        sets=("documents-similarity", "sts"),
    ),
    "wordsim": Stage(
        headline=Headline("wordsim", ("spearman",)), models=TRAINED, evaluates=True, sets=("word-similarity",)
    ),
    "finetune": Stage(
        headline=Headline("classification", ("accuracy",)),
        models=TRAINED,
        evaluates=True,
        sets=("classification",),
    ),
    "glue": Stage(
        headline=Headline("glue", ("matthews", "f1", "spearman", "accuracy")),
        models=TRAINED,
        evaluates=True,
        live=True,
        sets=("glue",),
        files=lambda layout, name: {layout.glue(name): "glue"},
    ),
    "nli": Stage(
        headline=Headline("nli", ("accuracy",)), models=TRAINED, evaluates=True, live=True, sets=("nli",)
    ),
    "squad": Stage(
        headline=Headline("squad", ("f1",)),
        models=TRAINED,
        evaluates=True,
        live=True,
        sets=("squad",),
        files=lambda layout, name: {layout.predictions("squad", name): "squad"},
    ),
    "race": Stage(
        headline=Headline("race", ("accuracy",)),
        models=TRAINED,
        evaluates=True,
        live=True,
        sets=("race",),
        files=lambda layout, name: {layout.predictions("race", name): "race"},
    ),
    "blimp": Stage(
        headline=Headline("blimp", ("accuracy",)), models=SCORERS, evaluates=True, sets=("blimp",)
    ),
}
#: The kinds of sets that some evaluation runs on.
KINDS = tuple(dict.fromkeys(kind for one in ON_SETS.values() for kind in one.sets))

#: The stages that leave a record, in the pipeline's order, and the report, which comes last.
STAGES: dict[str, Stage] = {
    "download": Stage(record=lambda layout, _, corpus: layout.raw(corpus) / MANIFEST),
    "segment": Stage(
        record=lambda layout, _, corpus: layout.segments(corpus) / MANIFEST, tag=("segmenter", "segmenter")
    ),
    "tokenizer": Stage(
        record=lambda layout, _, name: layout.tokenizer(name) / MANIFEST,
        files=lambda layout, name: {layout.tokenizer(name) / TOKENIZER: None},
    ),
    "encode": Stage(record=lambda layout, params, pair: layout.encoded(*pairs(params)[pair]) / MANIFEST),
    "tasks": Stage(record=lambda layout, *_: layout.all_tasks / MANIFEST),
    "translate": Stage(
        live=True,
        manifest=lambda layout, _, name: layout.translations(name) / MANIFEST,
        curve=lambda layout, _, name: layout.translator_curve(name),
        files=lambda layout, name: {
            layout.translator_curve(name): None,
            layout.translations(name) / MANIFEST: None,
        },
    ),
    "recognise": Stage(record=lambda layout, _, name: layout.recognised(name) / MANIFEST, live=True),
    "nbest": Stage(
        record=lambda layout, _, name: layout.nbest(name) / MANIFEST,
        files=lambda layout, name: {
            layout.nbest(name) / f"{what}.jsonl": None for what in ("refused", "missing")
        },
    ),
    "pretrain": Stage(
        headline=Headline("training", ("loss",), by_metric=True),
        models=TRAINED,
        live=True,
        curve=lambda layout, _, name: layout.curve(name),
        files=lambda layout, name: {layout.curve(name): None},
    ),
    "perplexity": Stage(
        headline=Headline("perplexity", ("loss",), beside=("gain",), by_metric=True), models=TRAINED
    ),
    "compare-losses": Stage(),
    "pretrained": Stage(
        record=lambda layout, _, name: layout.pretrained(name) / MANIFEST, models=("pretrained",)
    ),
    "ngram": Stage(
        models=("ngrams",),
        manifest=lambda layout, _, name: layout.ngram(name) / MANIFEST,
        tag=("made_by", "estimator"),
    ),
    "rerank": Stage(
        headline=Headline("rerank", ("wer", "cer", "bleu"), by_metric=True),
        models=SCORERS,
        evaluates=True,
        lists=True,
        files=lambda layout, name: {layout.wer_curve(name): None},
    ),
    "combine": Stage(lists=True),
    **ON_SETS,
    "attention": Stage(
        models=TRAINED, evaluates=True, files=lambda layout, name: {layout.attention(name): None}
    ),
    "baselines": Stage(lists=True, sets=KINDS),
    "vectors": Stage(
        sets=ON_SETS["sts"].sets, manifest=lambda layout, _, name: layout.vectors(name) / MANIFEST
    ),
    "compare": Stage(lists=True),
    "runtime": Stage(record=lambda layout, *_: layout.timed, alone=True),
}
#: It leaves no record for others, and logs the settings that it shows. MLflow keeps its folders as folders, since the
#: pages of the times are called as the report's own.
REPORT_STAGE = Stage(
    live=True,
    files=lambda layout, _: {
        path: path.name if path.is_dir() else None
        for path in (*(layout.report / name for name in REPORT), layout.times)
    },
)
#: What there is a list for under ``evaluate:`` of params.yaml.
EVALUATIONS: dict[str, Stage] = {name: one for name, one in STAGES.items() if one.evaluates}

#: By the table of the results, the stage that writes it and what of it is shown first.
HEADLINES: dict[str, tuple[str, Headline]] = {
    one.headline.table: (name, one.headline) for name, one in STAGES.items() if one.headline is not None
}


def stage_named(name: str) -> Stage:
    """What is known of a stage."""
    return STAGES.get(name, REPORT_STAGE)


def instances(params: Params) -> list[tuple[str, str]]:
    """Every (stage, variant) that the settings ask for, in the pipeline's order, the report apart."""
    return [(stage, variant) for stage in STAGES for variant in dvc_yaml.variants(params, stage)]


def record(params: Params, stage: str, variant: str) -> Path:
    """The file that says what a stage instance made."""
    layout = Layout(params.experiment)
    place = STAGES[stage].record
    return layout.rows(stage, variant) if place is None else place(layout, params, variant)


def results(params: Params) -> list[Result]:
    """What results.jsonl holds: the rows of every stage that leaves some, the same in each run.

    Raises:
        InputError: a file is absent or malformed.
    """
    layout = Layout(params.experiment)
    return [
        row
        for stage, variant in instances(params)
        if STAGES[stage].record is None
        for row in read_results(layout.rows(stage, variant))
    ]
