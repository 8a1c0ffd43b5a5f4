"""What the report says of a run beside its results: plain fields, filled from manifests and model cards."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from quartet.errors import InputError, first_mistake
from quartet.files import read_json

#: Position indices that make a model segment-aware.
SEGMENTS = frozenset({"sentence", "paragraph"})


@dataclass(frozen=True, kw_only=True)
class CorpusFacts:
    """A corpus as it was read, all splits together.

    Attributes:
        punkt: which Punkt found the sentences, e.g. "published model, english (...)" or "trained on ...".
        license: a word or two; "" where unknown.
    """

    name: str
    documents: int
    paragraphs: int
    sentences: int
    words: int
    punkt: str
    license: str = ""


@dataclass(frozen=True, kw_only=True)
class TokenizerFacts:
    """A tokenizer: "wordpiece" or "word", with so many entries."""

    name: str
    kind: str
    vocabulary: int


@dataclass(frozen=True, kw_only=True)
class ListFacts:
    """A set of N-best lists.

    Attributes:
        dev, test: their utterances.
        hypotheses: the most that one list holds; 0 where unknown.
        origin: a half-sentence on what recognised what, e.g. "Whisper tiny.en on synthetic speech".
        ranked: the lists have no first-pass scores, and the rank stands for them.
        refused: malformed entries that were left out, of both splits.
        missing: utterances without a list, which count as empty hypotheses, of both splits.
        bleu: sacrebleu's signature, where BLEU is what they are judged by.
    """

    name: str
    dev: int
    test: int
    hypotheses: int = 0
    origin: str = ""
    ranked: bool = False
    refused: int = 0
    missing: int = 0
    bleu: str = ""


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """A model as its card says: see `quartet.config.model.ModelConfig` for the words.

    Attributes:
        corpus_words: words of the corpus that it was trained on.
        targets: the share of the tokens read that it was trained to predict; None: not known.
        variant: the settings that tell it from other models of its kind, in words, e.g. "index running".
        leaks: it predicts a token from what comes after it too, though its objective is causal.
    """

    name: str
    objective: str
    architecture: str
    reads: str
    positions: tuple[str, ...]
    tokenizer: str
    corpus: str
    corpus_words: int
    parameters: int
    steps: int
    variant: tuple[str, ...] = ()
    leaks: bool = False
    targets: float | None = None

    @property
    def segment_aware(self) -> bool:
        """Whether the model sees sentence or paragraph indices."""
        return bool(SEGMENTS & set(self.positions))


@dataclass(frozen=True, kw_only=True)
class PretrainedFacts:
    """A model that came trained: none of the run's own.

    Attributes:
        objective, reads: as in `ModelFacts`; "" where it is no model of ours.
    """

    name: str
    objective: str = ""
    reads: str = ""


@dataclass(frozen=True, kw_only=True)
class AbsentSet:
    """An evaluation set that could not be had: why, and where it is to be had."""

    name: str
    kind: str
    reason: str
    obtain: str


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What was run.

    Attributes:
        experiment: its name in params.yaml.
        device: what trained the models, in words, e.g. "cpu (2 threads, ...)".
        seeds: of training; every model was trained once a seed.
        corpora, tokenizers, lists, models, pretrained: in the order of params.yaml, which the tables keep.
        absent: evaluation sets that params.yaml names and that were not to be had.
        ngrams: the names of the n-gram models.
        draws: the resamples behind each bootstrap interval; None where that is not known.
        processors: the kinds of processor, and GPUs, that computed the results: see `quartet.hardware.processor`.
    """

    experiment: str
    device: str
    seeds: tuple[int, ...]
    corpora: tuple[CorpusFacts, ...] = ()
    tokenizers: tuple[TokenizerFacts, ...] = ()
    lists: tuple[ListFacts, ...] = ()
    models: tuple[ModelFacts, ...] = ()
    pretrained: tuple[PretrainedFacts, ...] = ()
    absent: tuple[AbsentSet, ...] = ()
    ngrams: tuple[str, ...] = ()
    processors: tuple[str, ...] = ()
    draws: int | None = None

    def model(self, name: str) -> ModelFacts | None:
        """The model of that name, if it is one of this run."""
        return next((model for model in self.models if model.name == name), None)


def facts_json(facts: RunFacts) -> str:
    """The facts as facts.json has them: with results.jsonl and the pictures all that the pages are made of."""
    return json.dumps(json.loads(_FACTS.dump_json(facts)), indent=1, ensure_ascii=False) + "\n"


def read_facts(path: Path) -> RunFacts:
    """The facts of a report.

    Raises:
        InputError: the file is absent or holds something else.
    """
    try:
        return _FACTS.validate_python(read_json(path))
    except ValidationError as error:
        key, reason = first_mistake(error)
        raise InputError(
            path, f"not the facts of a report ({key}: {reason})", "make the report again"
        ) from error


_FACTS = TypeAdapter(RunFacts)
