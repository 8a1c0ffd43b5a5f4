"""What defines a model: its objective, architecture, the text it reads, the positions it sees, and its sizes."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field
from pydantic.dataclasses import dataclass

from quartet.config.choices import WeightsChoice
from quartet.config.objectives import OBJECTIVES, PARTICULAR, ObjectiveFacts, ObjectiveName
from quartet.config.training import TrainingConfig
from quartet.config.types import STRICT, Count, Fraction, Positive, Size, Text, part

#: The files of a trained model's folder: what it is, and how it cuts texts.
CONFIG, TOKENIZER = "config.json", "tokenizer.json"
#: The weights after the last step, and those at the lowest point of the validation curve.
WEIGHTS: dict[WeightsChoice, str] = {"last": "model.safetensors", "best": "best.safetensors"}

Architecture = Literal["encoder", "tta", "transformer-xl"]
Reads = Literal["sentences", "spans", "streams"]
#: How the counters of a stream go on, see `RecurrenceConfig`.
Index = Literal["running", "reset"]
#: In the order in which a batch carries their indices, and in which models use them.
Position = Literal["sequence", "token", "sentence", "paragraph"]
POSITIONS: tuple[Position, ...] = get_args(Position)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TTAConfig:
    """What is particular to T-TA (Shin et al. 2020, section 4.2).

    Attributes:
        mask: ``token``: the diagonal, a token does not see itself (the paper); ``word``: blocks on the diagonal, a
            piece sees no piece of its own word, so that the rest of a rare word does not give it away.
        first_query: ``position``: the first layer's query is the position embedding alone (the paper);
            ``mask_token``: it is the sum of the [MASK] and position embeddings (the released code).
        normalise_inputs: layer-normalise what enters the layers, X + P as every layer's key and value and the first
            query, as the released code does. The paper says nothing of it.
    """

    mask: Literal["token", "word"] = "token"
    first_query: Literal["position", "mask_token"] = "position"
    normalise_inputs: bool = True


@dataclass(frozen=True, kw_only=True, config=STRICT)
class RecurrenceConfig:
    """What is particular to Transformer-XL and Segatron-XL (Bai et al. 2021, section "Segatron-XL").

    Attributes:
        memory: hidden states of earlier windows that each layer keeps, in tokens (0: none).
        index: ``running``: token, sentence and paragraph counters run through the stream (the released code);
            ``reset``: they restart with each sentence, paragraph and document (the paper's text).
        offset: ``exact``: the offset of a query to a key is the difference of their indices (Eq. 3);
            ``released``: what the released code computes instead, which lets the future in. For comparison only: see
            :class:`quartet.models.relative_scores.ReleasedScores`.
    """

    memory: Size = 64
    index: Index = "running"
    offset: Literal["exact", "released"] = "exact"


@dataclass(frozen=True, kw_only=True, config=STRICT)
class MaximaConfig:
    """Sizes of the absolute tables of segment positions; Segatron's are 256, 100 and 50.

    Attributes:
        token, sentence, paragraph: rows of each table.
        overflow: how an index over its maximum is brought down: ``paper``: by subtracting from all indices of the
            example; ``released``: they stop at the last row, those of paragraphs after some subtracting;
            ``restart``: those of paragraphs count from the example's first, whatever they are, and then as the paper,
            so that an input of the middle of a book uses the rows that one of a single text uses. See
            :func:`quartet.models.positions.fit_maximum`, :func:`~quartet.models.positions.released_maximum` and
            :func:`~quartet.models.positions.from_first`. In a causal model every index over its maximum becomes the
            last row, whatever this says: to subtract what later tokens need would tell earlier ones of them.
    """

    token: Count = 256
    sentence: Count = 100
    paragraph: Count = 50
    overflow: Literal["paper", "released", "restart"] = "paper"


@dataclass(frozen=True, kw_only=True, config=STRICT)
class SpanConfig:
    """How document spans become inputs in training (Bai et al. 2021, section "Data preparation").

    Attributes:
        form: ``paper``: [CLS] span [SEP], the specials with their neighbours' indices; ``released``: the span is split
            at a random sentence, [CLS] A [SEP] B [SEP], see :mod:`quartet.data.released_spans`.
    """

    form: Literal["paper", "released"] = "paper"


@dataclass(frozen=True, kw_only=True, config=STRICT)
class AdaptiveConfig:
    """Adaptive input and softmax (Baevski and Auli 2019; Grave et al. 2017), tied, as Transformer-XL has them.

    Attributes:
        cutoffs: ids at which the vocabulary is cut into a head and tails, rising; none: one full softmax.
        div_val: the width of a tail's embeddings is divided by it once more for each tail.
    """

    cutoffs: tuple[Count, ...] = ()
    div_val: Count = 1

    def __post_init__(self) -> None:
        if list(self.cutoffs) != sorted(set(self.cutoffs)):
            raise ValueError(f"cutoffs {list(self.cutoffs)} must rise")
        if self.div_val > 1 and not self.cutoffs:
            raise ValueError(f"div_val {self.div_val} divides nothing without cutoffs")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class ModelConfig:
    """A model as an entry of ``models:`` in params.yaml describes it, without its training.

    Attributes:
        objective: ``clm`` (next token), ``mlm`` (masked token) or ``lae`` (language autoencoding): a key of
            `quartet.config.objectives.OBJECTIVES`.
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
            al. 2017, scaled to `init_std`), in which neighbours are alike from the start. Several kinds then start as
            the same one, so that which is which is to be learned; ``split-sinusoid`` gives each kind a share of the
            width, as Segatron-XL has it (Eq. 3), and nothing elsewhere.
        head: ``transform``: dense, GELU, normalisation, then the tied embedding (BERT's); ``tied``: the embedding
            alone.
        norm_epsilon: what layer normalisation adds to the variance; BERT's is 1e-12.
        init_from: a BERT of Hugging Face whose weights the training starts from: a folder, or a name on the hub with
            its revision, ``name@revision``. See :mod:`quartet.training.from_bert`.
    """

    objective: ObjectiveName
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
    init_std: Positive = 0.02
    position_init: Literal["normal", "sinusoid", "split-sinusoid"] = "normal"
    head: Literal["transform", "tied"] = "transform"
    norm_epsilon: Positive = 1e-5
    init_from: Text | None = None
    tta: TTAConfig = Field(default_factory=TTAConfig)
    recurrence: RecurrenceConfig = Field(default_factory=RecurrenceConfig)
    maxima: MaximaConfig = Field(default_factory=MaximaConfig)
    spans: SpanConfig = Field(default_factory=SpanConfig)
    adaptive: AdaptiveConfig = Field(default_factory=AdaptiveConfig)

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise ValueError(problem)

    def _problem(self) -> str | None:
        """The first thing that makes no sense in this combination, naming the keys."""
        if self.architecture not in self.facts.architectures:
            others = [name for name, one in OBJECTIVES.items() if self.architecture in one.architectures]
            return (
                f"objective {self.objective} needs architecture {' or '.join(self.facts.architectures)}, and "
                f"architecture {self.architecture} needs objective {' or '.join(others)}"
            )
        if (self.architecture == "transformer-xl") != (self.reads == "streams"):
            return "architecture transformer-xl reads streams, and nothing else does: its memory needs running text"
        if not self.positions or len(set(self.positions)) != len(self.positions):
            return f"positions must name at least one of {', '.join(POSITIONS)}, each once"
        if {"sequence", "token"} <= set(self.positions) and self._running:
            return "positions has both sequence and token, which are the same with recurrence.index running: take one"
        segments = {"sentence", "paragraph"} & set(self.positions)
        if segments and self.reads == "sentences":
            return f"positions {sorted(segments)} mean nothing in single sentences: set reads to spans"
        if self.dim % self.heads:
            return f"heads must divide dim: {self.dim} / {self.heads} is not whole"
        if self.architecture == "transformer-xl" and self.dim % 2:
            return "dim must be even: the relative positions are pairs of sine and cosine"
        return self._unused() or self._unfit()

    @property
    def causal(self) -> bool:
        """Whether a token sees nothing of later ones."""
        return self.facts.causal

    @property
    def facts(self) -> ObjectiveFacts:
        """What is known of the objective."""
        return OBJECTIVES[self.objective]

    @property
    def leaks(self) -> bool:
        """Whether a causal model gets to know something of the tokens that it is to predict."""
        # These rise by one a token, whatever it is.
        even = {"sequence", "token"} if self._running else {"sequence"}
        return self.recurrence.offset == "released" and not set(self.positions) <= even

    @property
    def _running(self) -> bool:
        return self.architecture == "transformer-xl" and self.recurrence.index == "running"

    def _unused(self) -> str | None:
        """A setting that would change nothing: more likely a mistake than a wish."""
        recurrent = self.architecture == "transformer-xl"
        if self.tta != TTAConfig() and self.architecture != "tta":
            return f"tta has settings, and architecture is {self.architecture}: only tta reads them"
        if self.recurrence != RecurrenceConfig() and not recurrent:
            return f"recurrence has settings, and architecture is {self.architecture}: only transformer-xl has memory"
        if self.spans != SpanConfig() and self.reads != "spans":
            return f"spans has settings, and reads is {self.reads}: only spans uses them"
        if self.maxima != MaximaConfig() and (recurrent or self.positions == ("sequence",)):
            return "maxima has settings, and there are no absolute positions that read them: leave it out"
        if self.maxima.overflow == "restart" and "paragraph" not in self.positions:
            return "maxima.overflow restart is of paragraphs, and positions has none: add paragraph, or leave it out"
        if self.position_init != "normal" and recurrent:
            return "position_init means nothing for transformer-xl: its relative positions are not trained"
        if self.position_init == "split-sinusoid" and len(self.positions) == 1:
            return "position_init split-sinusoid divides the width among kinds, and positions has one: take sinusoid"
        return None

    def _unfit(self) -> str | None:
        """Settings that cannot go together."""
        if self.adaptive.cutoffs and self.head != "tied":
            return "adaptive.cutoffs needs head tied: the softmax shares the embeddings of its clusters"
        narrowest = self.dim // self.adaptive.div_val ** len(self.adaptive.cutoffs)
        if narrowest < 1:
            return f"adaptive.div_val {self.adaptive.div_val} leaves no width for the last tail of dim {self.dim}"
        if self.init_from is not None:
            if self.architecture == "transformer-xl" or self.causal:
                return "init_from fills no causal model: BERT is a masked language model"
            if "sequence" not in self.positions or self.adaptive.cutoffs or self.head != "transform":
                return (
                    "init_from needs sequence among the positions, head transform and no cutoffs, as BERT has"
                )
        return None


@dataclass(frozen=True, kw_only=True, config=STRICT)
class ModelEntry(ModelConfig):
    """An entry of ``models:``: a :class:`ModelConfig` with what it is trained on and how."""

    corpus: Text
    tokenizer: Text
    training: TrainingConfig

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in PARTICULAR:
            idle = key not in self.facts.settings
            if idle and getattr(self.training, key) != getattr(TrainingConfig, key):
                raise ValueError(f"training.{key} means nothing for objective {self.objective}: remove it")
        if self.training.batch_by != TrainingConfig.batch_by and self.reads != "sentences":
            raise ValueError(f"training.batch_by means nothing where reads is {self.reads}: remove it")

    @property
    def config(self) -> ModelConfig:
        """The model alone, as a checkpoint keeps it."""
        return part(ModelConfig, self)
