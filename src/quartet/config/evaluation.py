"""How much is evaluated, of what, and by which baselines: what needs no tuning."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from quartet.config.choices import UnknownHandling
from quartet.config.text import Source
from quartet.config.types import STRICT, Count, Size, Text

#: ``glove``: a line a word, the word first; ``word2vec``: the same below a line with their number and length;
#: ``word2vec-binary``: its binary form (.bin). gensim's own form is a pickle: not read.
VectorFormat = Literal["glove", "word2vec", "word2vec-binary"]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class PretrainedEntry:
    """An entry of ``pretrained:``: a model that is trained already, on whatever text.

    ``source`` is the folder of a model that was trained here, of an export of one, or of a causal or masked language
    model of Hugging Face; or ``owner/name@revision`` on the hub (see :mod:`quartet.hugging_face`).
    """

    source: Text


@dataclass(frozen=True, kw_only=True, config=STRICT)
class PerplexitySettings:
    """How test documents are scored.

    Attributes:
        tokens_per_document: how much of each is scored (0: all): bidirectional models run once a token.
        carry_memory: models with memory read all documents as one stream; False: each on its own.
        input_lengths: models with memory read the same tokens again with window and memory of each of these lengths.
    """

    tokens_per_document: Size
    carry_memory: bool = False
    input_lengths: tuple[Count, ...] = ()

    def __post_init__(self) -> None:
        if list(self.input_lengths) != sorted(set(self.input_lengths)):
            raise ValueError(f"input_lengths {list(self.input_lengths)} do not ascend")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Word2VecSettings:
    """The baseline of word and text similarity, trained on the models' own tokens."""

    dimension: Count
    window: Count
    epochs: Count
    negative: Count
    skip_gram: bool
    minimum_count: Count


@dataclass(frozen=True, kw_only=True, config=STRICT)
class VectorsEntry(Source):
    """An entry of ``vectors:``: a file of word vectors, a baseline of semantic similarity under the entry's name.

    Attributes:
        format: see `VectorFormat`.
        lowercase: texts are lower-cased before they are looked up.
    """

    format: VectorFormat
    lowercase: bool


@dataclass(frozen=True, kw_only=True, config=STRICT)
class RuntimeSettings:
    """The speed benchmark of the first seed's models, all timed in turns.

    Attributes:
        words: of the sentences that are timed.
        repeats: calls of each that count.
        hypotheses: texts of the list that is timed, of 20 words each; 0: none.
        bert: time a BERT of transformers too, with random weights and the sizes of the first masked model.
    """

    models: list[str]
    words: list[Count]
    repeats: Count
    hypotheses: Size = 0
    bert: bool = False


@dataclass(frozen=True, kw_only=True, config=STRICT)
class BlimpSettings:
    """How much of BLiMP is scored.

    Attributes:
        limit: pairs of each paradigm, the first ones (0: all 1,000).
        unknown: how tokens that a model does not know are scored, see `quartet.scoring.unknown`. ``warn`` is the
            paper's way: the probability of [UNK] as it is.
    """

    limit: Size
    unknown: UnknownHandling = "spread"


@dataclass(frozen=True, kw_only=True, config=STRICT)
class AttentionSettings:
    """Where the models' attention goes on test documents.

    Attributes:
        layers: numbers from 1, ``first`` and ``last``.
        head: a head's number from 1, or the ``mean`` over all.
        tokens: of a document's beginning that are read, special tokens included; a model's own maximum where that is
            less.
        documents: how many are measured, the first ones (0: all).
        document: the number of the one that is drawn, from 0.
    """

    layers: Annotated[list[Literal["first", "last"] | Count], Field(min_length=1)]
    head: Literal["mean"] | Count
    tokens: Annotated[int, Field(ge=4)]
    documents: Size
    document: Size

    def numbers(self, layers: int) -> list[int]:
        """The layers of a network that has so many, rising, none twice."""
        named = {"first": 1, "last": layers}
        return sorted({named[one] if isinstance(one, str) else one for one in self.layers})
