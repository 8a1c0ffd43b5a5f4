"""What defines a model: its objective, architecture, the text it reads, the positions it sees, and its sizes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

Objective = Literal["clm", "mlm", "lae"]
Architecture = Literal["encoder", "tta", "transformer-xl"]
Reads = Literal["sentences", "spans", "streams"]
Position = Literal["sequence", "token", "sentence", "paragraph"]

#: The order in which a batch carries its position indices, and in which models use them.
POSITIONS: tuple[Position, ...] = ("sequence", "token", "sentence", "paragraph")

Count = Annotated[int, Field(ge=1)]
Size = Annotated[int, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0.0, lt=1.0)]

_STRICT = ConfigDict(extra="forbid", validate_default=True)


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class TTAConfig:
    """What is particular to T-TA (Shin et al. 2020, section 4.2).

    Attributes:
        first_query: ``position``: the first layer's query is the position embedding alone (the paper);
            ``mask_token``: it is the sum of the [MASK] and position embeddings (the released code).
        normalise_inputs: layer-normalise what enters the layers, X + P as every layer's key and value and the first
            query, as the released code does. The paper says nothing of it.
    """

    first_query: Literal["position", "mask_token"] = "position"
    normalise_inputs: bool = True


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class RecurrenceConfig:
    """What is particular to Transformer-XL and Segatron-XL (Bai et al. 2021, section "Segatron-XL").

    Attributes:
        memory: hidden states of earlier windows that each layer keeps, in tokens (0: none).
        index: ``running``: token, sentence and paragraph counters run through the stream (the released code);
            ``reset``: they restart with each sentence, paragraph and document (the paper's text).
    """

    memory: Size = 64
    index: Literal["running", "reset"] = "running"


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class MaximaConfig:
    """Sizes of the absolute tables of segment positions; Segatron's are 256, 100 and 50.

    An index over its maximum is brought down as the paper says: see :func:`quartet.models.positions.fit_maximum`.
    """

    token: Count = 256
    sentence: Count = 100
    paragraph: Count = 50


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class ModelConfig:
    """A model as an entry of ``models:`` in params.yaml describes it, without its training.

    Attributes:
        objective: ``clm`` (next token), ``mlm`` (masked token) or ``lae`` (language autoencoding).
        architecture: ``encoder`` (uniLM, biLM, BERT, SegaBERT), ``tta`` or ``transformer-xl``.
        reads: one input is a single ``sentences`` item, a document ``spans`` item or a window of ``streams``.
        positions: which position indices the model sees; ``sequence`` counts the input's tokens, ``token``,
            ``sentence`` and ``paragraph`` are Segatron's three.
        layers, dim, heads, inner: depth, width, attention heads and feed-forward width.
        dropout: probability, on embeddings, attention outputs and feed-forward outputs.
        attention_dropout: probability, on attention weights (it costs the fused attention on a CPU).
        max_length: tokens of one input, special tokens included (for streams: of one window).
        init_std: standard deviation of the initial weights. BERT's is 0.02, for a width of 768; narrow models need
            more.
        position_init: trained absolute positions start as ``normal`` noise (BERT), or as a ``sinusoid`` (Vaswani et
            al. 2017, scaled to `init_std`), in which neighbours are alike from the start.
        head: ``transform``: dense, GELU, normalisation, then the tied embedding (BERT's); ``tied``: the embedding
            alone.
    """

    objective: Objective
    architecture: Architecture
    reads: Reads
    positions: tuple[Position, ...]
    layers: Count
    dim: Count
    heads: Count
    inner: Count
    dropout: Fraction = 0.1
    attention_dropout: Fraction = 0.0
    max_length: Annotated[int, Field(ge=4)] = 128
    init_std: Annotated[float, Field(gt=0.0)] = 0.02
    position_init: Literal["normal", "sinusoid"] = "normal"
    head: Literal["transform", "tied"] = "transform"
    tta: TTAConfig = Field(default_factory=TTAConfig)
    recurrence: RecurrenceConfig = Field(default_factory=RecurrenceConfig)
    maxima: MaximaConfig = Field(default_factory=MaximaConfig)

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise ValueError(problem)

    def _problem(self) -> str | None:
        """The first thing that makes no sense in this combination, naming the keys."""
        if (self.objective == "lae") != (self.architecture == "tta"):
            return "objective lae needs architecture tta, and the other way round: only T-TA hides a token from itself"
        if (self.architecture == "transformer-xl") != (self.reads == "streams"):
            return "architecture transformer-xl reads streams, and nothing else does: its memory needs running text"
        if self.architecture == "transformer-xl" and self.objective != "clm":
            return f"architecture transformer-xl is causal: objective must be clm, not {self.objective}"
        if not self.positions or len(set(self.positions)) != len(self.positions):
            return "positions must name at least one of sequence, token, sentence, paragraph, each once"
        if "sequence" in self.positions and "token" in self.positions:
            return "positions has both sequence (counts the input) and token (counts each sentence): take one"
        segments = {"sentence", "paragraph"} & set(self.positions)
        if segments and self.reads == "sentences":
            return f"positions {sorted(segments)} mean nothing in single sentences: set reads to spans"
        if self.architecture != "transformer-xl" and not {"sequence", "token"} & set(self.positions):
            return "positions must include sequence or token: without either the order of words is unknown"
        if self.dim % self.heads:
            return f"heads must divide dim: {self.dim} / {self.heads} is not whole"
        if self.architecture == "transformer-xl" and self.dim % 2:
            return "dim must be even: the relative positions are pairs of sine and cosine"
        return None
