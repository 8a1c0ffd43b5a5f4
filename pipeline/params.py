"""params.yaml, typed: the whole file, and what of it no function of the library is told.

A class is a section of the file and a field a key; ``presets/sample.yaml`` explains each to the user. The other
sections are classes of :mod:`quartet.config`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from quartet.config.evaluation import (
    AttentionSettings,
    BlimpSettings,
    PerplexitySettings,
    PretrainedEntry,
    RuntimeSettings,
    VectorsEntry,
    Word2VecSettings,
)
from quartet.config.finetuning import FinetuneSettings, GlueSettings, NliSettings, RaceSettings, SquadSettings
from quartet.config.model import ModelEntry
from quartet.config.nbest import NBestEntry, RerankSettings
from quartet.config.ngram import NgramEntry
from quartet.config.recognise import RecogniserEntry, TranslatorEntry
from quartet.config.text import CorpusEntry, ExecutorSettings, SegmentationSettings, Source, TokenizerEntry
from quartet.config.training import TrainerSettings
from quartet.config.types import STRICT, Count, Seed, Size, Text
from quartet.errors import InputError, nearest

#: The sections whose keys are names, beside ``tasks``.
NAMED = (
    *("corpora", "tokenizers", "models", "pretrained", "ngrams"),
    *("translators", "recognisers", "vectors", "nbest"),
)

Entry = TypeVar("Entry")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class DataSettings:
    """Where the relative paths of ``source``, ``dev`` and ``test`` start."""

    root: Text


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TaskEntry:
    """An entry of ``tasks:``; ``files`` maps the roles that the kind's reader wants to what is fetched.

    Attributes:
        kind: a name of `quartet.tasks.kinds.KINDS`.
        format: which published set it is, for the kinds that have several (see src/quartet/tasks).
    """

    kind: Text
    format: Text | None = None
    license: Text
    files: dict[str, Source]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Params:
    """The whole file.

    ``threads`` 0 means all cores, ``device`` auto CUDA where there is one: both leave the rounding to the machine.
    ``bootstrap`` is the number of resamplings behind each interval. ``trainer``, ``workers`` (the processes that
    segment and encode text, 0: one a core) and ``executor`` are no stage's: they change no outcome. ``evaluate`` has a
    list for each of `pipeline.stages.EVALUATIONS`: the models that go through it.
    """

    experiment: str
    seeds: list[Seed]
    device: Literal["auto", "cpu", "cuda"]
    threads: Size
    workers: Size = 0
    executor: ExecutorSettings = dataclasses.field(default_factory=ExecutorSettings)
    data: DataSettings
    trainer: TrainerSettings = dataclasses.field(default_factory=TrainerSettings)
    corpora: dict[str, CorpusEntry]
    segmentation: SegmentationSettings
    tokenizers: dict[str, TokenizerEntry]
    models: dict[str, ModelEntry]
    pretrained: dict[str, PretrainedEntry]
    ngrams: dict[str, NgramEntry]
    translators: dict[str, TranslatorEntry]
    recognisers: dict[str, RecogniserEntry]
    vectors: dict[str, VectorsEntry]
    nbest: dict[str, NBestEntry]
    tasks: dict[str, TaskEntry]
    evaluate: dict[str, list[str]]
    bootstrap: Count
    perplexity: PerplexitySettings
    rerank: RerankSettings
    finetune: FinetuneSettings
    word2vec: Word2VecSettings
    runtime: RuntimeSettings
    glue: GlueSettings
    nli: NliSettings
    squad: SquadSettings
    race: RaceSettings
    blimp: BlimpSettings
    attention: AttentionSettings

    @property
    def names(self) -> dict[str, list[str]]:
        """By section what its entries are called, tasks behind their kind."""
        tasks = [f"{task.kind}/{name}" for name, task in self.tasks.items()]
        return {**{section: list(getattr(self, section)) for section in NAMED}, "tasks": tasks}

    @property
    def judging(self) -> dict[str, dict[str, object]]:
        """By set of N-best lists how it is judged and reranked, without where it comes from and what is said of it."""
        keys = ("metric", "bleu", "normalise", "score", "weights", "unit")
        return {name: {key: getattr(one, key) for key in keys} for name, one in self.nbest.items()}

    @property
    def first_seed(self) -> int:
        """That of the models that are timed, and of what is drawn where there is no model."""
        return self.seeds[0]

    @property
    def reported(self) -> str:
        """A digest of all that the report says or draws of the settings: dvc.lock would repeat every model there."""
        sections = (
            *(self.names, self.experiment, self.seeds, self.bootstrap, self.corpora),
            *(self.models, self.nbest, self.evaluate, self.runtime.models),
        )
        text = json.dumps(TypeAdapter(list[Any]).dump_python(list(sections), mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def entry(entries: Mapping[str, Entry], name: str, section: str) -> Entry:
    """The entry `name` of a map, for a stage that is told its variant on the command line.

    Raises:
        InputError: there is none.
    """
    if name not in entries:
        raise InputError(f"params.yaml: {section}", f"has no entry {name!r}", nearest(name, entries, "name"))
    return entries[name]
