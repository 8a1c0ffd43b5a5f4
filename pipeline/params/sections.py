"""The sections of params.yaml, typed: the only place that knows its keys.

A class below is a section of the file and a field a key; ``presets/sample.yaml`` explains each to the user.
DVC compares the values that stand in the file, so the keys that dvc.yaml tracks one by one have no default here.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from quartet.models.config import ModelConfig
from quartet.training.config import TrainingConfig

Count = Annotated[int, Field(ge=1)]
Size = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(gt=0.0, lt=1.0)]
Weight = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[float, Field(gt=0.0)]
Text = Annotated[str, Field(min_length=1)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]

TaskKind = Literal["documents-similarity", "word-similarity", "classification"]
_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Data:
    """Where the relative paths of ``source``, ``dev`` and ``test`` start."""

    root: Text


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Split:
    """Shares of the documents that are kept for validation and test."""

    valid: Share
    test: Share

    def __post_init__(self) -> None:
        if self.valid + self.test >= 1:
            raise ValueError(f"valid {self.valid} and test {self.test} leave nothing to train on")


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Source:
    """One thing to fetch: ``package://…``, ``https://…`` or a path; ``sha256`` may be null for a path only."""

    source: Text
    sha256: Sha256 | None

    def __post_init__(self) -> None:
        if self.sha256 is None and "://" in self.source:
            raise ValueError(
                f"sha256 is needed for {self.source}: only local files and folders may go without"
            )


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Corpus(Source):
    """An entry of ``corpora:``; ``limit`` is the number of documents that are read (0: all)."""

    kind: Literal["wikipedia", "text"]
    language: Text
    license: Text
    split: Split
    limit: Size


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Segmentation:
    """How NLTK's Punkt gets its model: the installed or downloaded ``punkt_tab``, ``train``, or ``auto`` (either)."""

    punkt: Literal["auto", "punkt_tab", "train"]


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Tokenizer:
    """An entry of ``tokenizers:``, trained on the training split of ``corpus``."""

    kind: Literal["wordpiece", "word"]
    corpus: Text
    vocab_size: Annotated[int, Field(ge=32)]
    lowercase: bool


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

    @property
    def config(self) -> ModelConfig:
        """The model alone, as a checkpoint keeps it."""
        return ModelConfig(
            **{field.name: getattr(self, field.name) for field in dataclasses.fields(ModelConfig)}
        )


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Normalise:
    """How hypotheses and references are made comparable."""

    lowercase: bool
    strip_punctuation: bool


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class NBestLists:
    """An entry of ``nbest:``: the weight is tuned on ``dev`` and applied to ``test``; ``origin`` is for the report."""

    format: Text
    dev: Text
    test: Text
    metric: Literal["wer"]
    normalise: Normalise
    origin: str = ""


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Task:
    """An entry of ``tasks:``; ``files`` maps the roles that the kind's reader wants to what is fetched."""

    kind: TaskKind
    license: Text
    files: dict[str, Source]


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Evaluate:
    """Which models go through which evaluation."""

    rerank: list[str]
    sts: list[str]
    wordsim: list[str]
    finetune: list[str]


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Perplexity:
    """How much of each test document is scored (0: all): bidirectional models run once a token."""

    tokens_per_document: Size


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Weights:
    """The grid of interpolation weights."""

    start: Weight
    stop: Weight
    step: Positive

    def __post_init__(self) -> None:
        if self.start > self.stop:
            raise ValueError(f"start {self.start} is larger than stop {self.stop}")


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Rerank:
    """The grid, and how token log-probabilities make a score."""

    weights: Weights
    score: Literal["sum", "mean"]


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Finetune:
    """Fine-tuning a pre-trained model on a classification task, judged by cross-validation."""

    folds: Annotated[int, Field(ge=2)]
    epochs: Count
    batch_size: Count
    learning_rate: Positive
    warmup: Weight = 0.1


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Word2Vec:
    """The baseline of word and text similarity, trained on the models' own tokens."""

    dimension: Count
    window: Count
    epochs: Count
    negative: Count
    skip_gram: bool
    minimum_count: Count


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Runtime:
    """The speed benchmark: texts of so many words, each timed so many times."""

    models: list[str]
    words: list[Count]
    repeats: Count


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Params:
    """The whole file.

    ``threads`` 0 means all cores, ``device`` auto CUDA where there is one; ``bootstrap`` is the number of resamplings
    behind each interval.
    """

    experiment: str
    seeds: list[Size]
    device: Literal["auto", "cpu", "cuda"]
    threads: Size
    data: Data
    corpora: dict[str, Corpus]
    segmentation: Segmentation
    tokenizers: dict[str, Tokenizer]
    models: dict[str, Model]
    nbest: dict[str, NBestLists]
    tasks: dict[str, Task]
    evaluate: Evaluate
    bootstrap: Count
    perplexity: Perplexity
    rerank: Rerank
    finetune: Finetune
    word2vec: Word2Vec
    runtime: Runtime
