"""The sections of params.yaml, typed: the only place that knows its keys.

A class below is a section of the file and a field a key; ``presets/sample.yaml`` explains each to the user.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer
from pydantic.dataclasses import dataclass

from pipeline.params.attention import Attention
from pipeline.params.blimp import Blimp
from pipeline.params.evaluation import Evaluate, Finetune, Perplexity, Rerank, Runtime, Word2Vec
from pipeline.params.executor import Executor
from pipeline.params.glue import Glue
from pipeline.params.kind import Kind
from pipeline.params.lists import NBestLists
from pipeline.params.nli import Nli
from pipeline.params.qa import Race, Squad
from pipeline.params.recogniser import Recogniser
from pipeline.params.segmentation import Segmentation
from pipeline.params.source import Source
from pipeline.params.trainer import Trainer
from pipeline.params.translator import Translator
from pipeline.params.vectors import Vectors
from quartet.config.training import TrainingConfig
from quartet.config.types import Count, ProperShare, Size, Text
from quartet.models.config import ModelConfig
from quartet.ngram.config import NgramConfig, TokenConfig

TaskKind = Literal[
    "documents-similarity",
    "word-similarity",
    "classification",
    "sts",
    "glue",
    "nli",
    "squad",
    "race",
    "blimp",
]
#: Which kinds of tasks a list under ``evaluate:`` runs; one of them at least must be there.
TASK_STAGES: dict[str, tuple[TaskKind, ...]] = {
    "sts": ("documents-similarity", "sts"),
    "wordsim": ("word-similarity",),
    "finetune": ("classification",),
    "glue": ("glue",),
    "nli": ("nli",),
    "squad": ("squad",),
    "race": ("race",),
    "blimp": ("blimp",),
}
_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Data:
    """Where the relative paths of ``source``, ``dev`` and ``test`` start."""

    root: Text


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Split:
    """Shares of the documents that are kept for validation and test."""

    valid: ProperShare
    test: ProperShare

    def __post_init__(self) -> None:
        if self.valid + self.test >= 1:
            raise ValueError(f"valid {self.valid} and test {self.test} leave nothing to train on")


def _shares_or_given(value: object) -> object:
    """``given`` as None, which nobody can write."""
    if not isinstance(value, dict) and value != "given":
        raise ValueError("shares, {valid: ..., test: ...}, or given were expected")
    return None if value == "given" else value


def _as_written(split: Split | None) -> object:
    return "given" if split is None else dataclasses.asdict(split)


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Corpus(Source):
    """An entry of ``corpora:``.

    Attributes:
        kind: a word, or for a data set in the shape of those on the hub what its rows are.
        split: None where the file says ``given``: the corpus brings its splits, as ``wikitext`` always does and a
            folder of texts does in its folders ``train``, ``valid`` and ``test``.
        limit: the number of documents that are read (0: all); of each split where they are given.
    """

    kind: Kind
    language: Text
    license: Text
    split: Annotated[Split | None, BeforeValidator(_shares_or_given), PlainSerializer(_as_written)]
    limit: Size

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind == "wikitext" and self.split is not None:
            raise ValueError("kind wikitext brings its own splits: write split: given")
        if self.kind in ("wikipedia", "lines") and self.split is None:
            raise ValueError(f"kind {self.kind} has no splits: write their shares")


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Tokenizer:
    """An entry of ``tokenizers:``: trained on the training split of ``corpus``, or the vocabulary of a BERT.

    ``vocab_size`` and ``lowercase`` are for what is trained. ``source`` is for kind ``pretrained``: a folder or
    ``owner/name@revision``; ``corpus`` is then the one that the vocabulary is used with, and decides nothing.
    """

    kind: Literal["wordpiece", "word", "whitespace", "pretrained"]
    corpus: Text
    vocab_size: Annotated[int, Field(ge=32)] | None = None
    lowercase: bool | None = None
    source: Text | None = None

    def __post_init__(self) -> None:
        trained = {"vocab_size": self.vocab_size, "lowercase": self.lowercase}
        taken = {"source": self.source}
        wanted, unwanted = (taken, trained) if self.kind == "pretrained" else (trained, taken)
        for key, value in wanted.items():
            if value is None:
                raise ValueError(f"kind {self.kind} needs {key}")
        for key, value in unwanted.items():
            if value is not None:
                raise ValueError(f"{key} means nothing for kind {self.kind}: take it out")


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid", validate_default=True))
class Model(ModelConfig):
    """An entry of ``models:``: a :class:`ModelConfig` with what it is trained on and how."""

    corpus: Text
    tokenizer: Text
    training: TrainingConfig

    def __post_init__(self) -> None:
        super().__post_init__()
        unused = {
            "mask_probability": self.objective != "mlm",
            "max_selected": self.objective != "mlm",
            "loss_on_specials": self.objective == "clm",
        }
        for key, idle in unused.items():
            if idle and getattr(self.training, key) != getattr(TrainingConfig, key):
                raise ValueError(f"training.{key} means nothing for objective {self.objective}: remove it")
        if self.training.batch_by != TrainingConfig.batch_by and self.reads != "sentences":
            raise ValueError(f"training.batch_by means nothing where reads is {self.reads}: remove it")

    @property
    def config(self) -> ModelConfig:
        """The model alone, as a checkpoint keeps it."""
        return ModelConfig(
            **{field.name: getattr(self, field.name) for field in dataclasses.fields(ModelConfig)}
        )


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid", validate_default=True))
class Ngram(TokenConfig, NgramConfig):
    """An entry of ``ngrams:``, estimated from the training split of ``corpus``.

    Attributes:
        tokenizer: what the models of the same table read: its tokens measure how much of each test document is scored
            (``perplexity.tokens_per_document``), and with ``units: pieces`` they are what is counted.
    """

    corpus: Text
    tokenizer: Text

    def __post_init__(self) -> None:
        TokenConfig.__post_init__(self)
        NgramConfig.__post_init__(self)

    @property
    def tokens(self) -> TokenConfig:
        """How texts become tokens, as a model's folder keeps it."""
        return TokenConfig(units=self.units, lowercase=self.lowercase, punctuation=self.punctuation)

    @property
    def config(self) -> NgramConfig:
        """The estimation alone, as a model's folder keeps it."""
        return NgramConfig(
            **{field.name: getattr(self, field.name) for field in dataclasses.fields(NgramConfig)}
        )


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Pretrained:
    """An entry of ``pretrained:``: a model that is trained already, on whatever text.

    ``source`` is the folder of a model that was trained here, of an export of one, or of a causal or masked language
    model of Hugging Face; or ``owner/name@revision`` on the hub (see :mod:`quartet.pretrained`).
    """

    source: Text


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Task:
    """An entry of ``tasks:``; ``files`` maps the roles that the kind's reader wants to what is fetched.

    Attributes:
        format: which published set it is, for the kinds that have several (see src/quartet/evaluation/sets).
    """

    kind: TaskKind
    format: Text | None = None
    license: Text
    files: dict[str, Source]


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Params:
    """The whole file.

    ``threads`` 0 means all cores, ``device`` auto CUDA where there is one: both leave the rounding to the machine.
    ``bootstrap`` is the number of resamplings behind each interval. ``trainer``, ``workers`` (the processes that
    segment and encode text, 0: one a core) and ``executor`` are no stage's: they change no outcome.
    """

    experiment: str
    seeds: list[Size]
    device: Literal["auto", "cpu", "cuda"]
    threads: Size
    workers: Size = 0
    executor: Executor = dataclasses.field(default_factory=Executor)
    data: Data
    trainer: Trainer = dataclasses.field(default_factory=Trainer)
    corpora: dict[str, Corpus]
    segmentation: Segmentation
    tokenizers: dict[str, Tokenizer]
    models: dict[str, Model]
    pretrained: dict[str, Pretrained]
    ngrams: dict[str, Ngram]
    translators: dict[str, Translator]
    recognisers: dict[str, Recogniser]
    vectors: dict[str, Vectors]
    nbest: dict[str, NBestLists]
    tasks: dict[str, Task]
    evaluate: Evaluate
    bootstrap: Count
    perplexity: Perplexity
    rerank: Rerank
    finetune: Finetune
    word2vec: Word2Vec
    runtime: Runtime
    glue: Glue
    nli: Nli
    squad: Squad
    race: Race
    blimp: Blimp
    attention: Attention

    @property
    def names(self) -> dict[str, list[str]]:
        """By section what its entries are called, tasks behind their kind."""
        sections = (
            "corpora",
            "tokenizers",
            "models",
            "pretrained",
            "ngrams",
            "translators",
            "recognisers",
            "vectors",
            "nbest",
        )
        tasks = [f"{task.kind}/{name}" for name, task in self.tasks.items()]
        return {**{section: list(getattr(self, section)) for section in sections}, "tasks": tasks}

    @property
    def judging(self) -> dict[str, dict[str, object]]:
        """By set of N-best lists how it is judged and reranked, without where it comes from and what is said of it."""
        keys = ("metric", "bleu", "normalise", "score", "weights")
        return {name: {key: getattr(one, key) for key in keys} for name, one in self.nbest.items()}
