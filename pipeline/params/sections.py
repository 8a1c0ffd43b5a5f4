"""The sections of params.yaml, typed: the only place that knows its keys.

A class below is a section of the file and a field a key; ``presets/sample.yaml`` explains each to the user.
DVC compares the values that stand in the file, so the keys that dvc.yaml tracks one by one have no default here.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

from pipeline.params.lists import NBestLists
from pipeline.params.translator import Translator
from quartet.models.config import ModelConfig
from quartet.ngram.config import NgramConfig, TokenConfig
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


def _shares_or_given(value: object) -> object:
    """``given`` as None, which nobody can write."""
    if not isinstance(value, dict) and value != "given":
        raise ValueError("shares, {valid: ..., test: ...}, or given were expected")
    return None if value == "given" else value


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
    """An entry of ``corpora:``.

    Attributes:
        split: None where the file says ``given``: a corpus of the kind ``wikitext`` brings its splits, and only that.
        limit: the number of documents that are read (0: all); of each split where they are given.
    """

    kind: Literal["wikipedia", "text", "wikitext"]
    language: Text
    license: Text
    split: Annotated[Split | None, BeforeValidator(_shares_or_given)]
    limit: Size

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.kind == "wikitext") != (self.split is None):
            raise ValueError(
                "split: given goes with kind: wikitext, which brings its own splits, and with no other kind"
            )


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Segmentation:
    """How NLTK's Punkt gets its model: the installed or downloaded ``punkt_tab``, ``train``, or ``auto`` (either)."""

    punkt: Literal["auto", "punkt_tab", "train"]


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
    """An entry of ``pretrained:``: a causal or masked language model of Hugging Face, see :mod:`quartet.pretrained`."""

    source: Text


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
    """How test documents are scored.

    Attributes:
        tokens_per_document: how much of each is scored (0: all): bidirectional models run once a token.
        carry_memory: models with memory read all documents as one stream; False: each on its own.
    """

    tokens_per_document: Size
    carry_memory: bool = False


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
    """The grid, and how token log-probabilities make a score.

    Attributes:
        lengths: the most reference words of each range but the last, for errors by length; none: no such table.
        combine: pairs of systems to weigh together: names under ``evaluate.rerank``, or those of their readings.
    """

    weights: Weights
    score: Literal["sum", "mean"]
    lengths: tuple[Count, ...]
    combine: tuple[tuple[Text, Text], ...]

    def __post_init__(self) -> None:
        if list(self.lengths) != sorted(set(self.lengths)):
            raise ValueError(f"lengths {list(self.lengths)} do not ascend")
        for pair in self.combine:
            if pair[0] == pair[1] or list(self.combine).count(pair) > 1:
                raise ValueError(f"combine holds {list(pair)} twice or a system with itself")


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
    pretrained: dict[str, Pretrained]
    ngrams: dict[str, Ngram]
    translators: dict[str, Translator]
    nbest: dict[str, NBestLists]
    tasks: dict[str, Task]
    evaluate: Evaluate
    bootstrap: Count
    perplexity: Perplexity
    rerank: Rerank
    finetune: Finetune
    word2vec: Word2Vec
    runtime: Runtime
