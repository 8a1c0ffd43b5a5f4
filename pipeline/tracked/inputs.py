"""What a stage instance reads, as MLflow's datasets: names, contents by hash, and counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.layout import MANIFEST, Layout, pairs
from pipeline.params import Params
from pipeline.stages import stage_named
from quartet.files import read_json, sha256

#: What is said of an input, of what its manifest counts.
COUNTED = ("bytes", "documents", "sentences", "tokens", "lists", "hypotheses", "items")


@dataclass(frozen=True)
class Input:
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


def inputs(params: Params, layout: Layout, stage: str, variant: str) -> list[Input]:
    """The corpora, N-best lists and evaluation sets of a stage instance that are there."""
    return list(_inputs(params, layout, stage, variant))


def in_words(found: Iterable[Input]) -> str:
    """``lee (1,225 items), sample-speech dev (150 lists, 7,488 hypotheses)``."""
    return ", ".join(f"{each.name} ({_counted(each.counts)})" for each in found)


def _counted(counts: dict[str, Any]) -> str:
    numbers = {key: counts[key] for key in COUNTED if key in counts}
    if isinstance(roles := numbers.get("items"), dict):
        numbers = {"items": sum(roles.values())}
    return ", ".join(f"{number:,} {key}" for key, number in numbers.items())


def _inputs(params: Params, layout: Layout, stage: str, variant: str) -> Iterator[Input]:
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


def _parts(name: str, folder: Path, contexts: tuple[str, ...]) -> Iterator[Input]:
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
        yield Input(whole, context, digest, folder, counts)
