"""All settings that any figure of a system depends on, so that MLflow's "Show diff only" names an ablation."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.layout import pairs
from pipeline.lists import combined_name
from pipeline.params import Params
from pipeline.stages import instances, stage_named
from pipeline.tracked.names import settings_under, stage_params

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
    for instance in own:
        found |= stage_params(params, *instance)
    return found


def stages_of(params: Params, system: str) -> Iterator[Instance]:
    """The stage instances that figures of a system come from."""
    entries = [*params.models, *params.pretrained, *params.ngrams]
    if system in entries:
        yield from ((s, v) for s, v in instances(params) if v == system and stage_named(s).of_models)
    elif system in params.vectors:
        yield "vectors", system
    elif system in params.translators:
        yield "translate", system
    elif system in map(combined_name, params.rerank.combine):
        yield "combine", ""
        for name in params.evaluate.rerank:
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
