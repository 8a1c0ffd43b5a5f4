"""What makes N-best lists and how it searches: the entries of ``translators:`` and ``recognisers:``."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from quartet.config.training import TrainingConfig
from quartet.config.types import STRICT, Count, Fraction, NotNegative, Positive, Seed, Size, Text, part

#: Ids that no text decides: the special tokens, and one for each byte.
RESERVED = 7 + 256
#: Settings of a training that no translator reads.
_LANGUAGE_MODELS_ONLY = ("batch_by", "mask_probability", "max_selected", "loss_on_specials")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class VocabularyConfig:
    """The pieces that both languages share.

    Attributes:
        kind: ``bpe``: merges of characters, with a mark for the space before a word. The library's Unigram is no
            choice: the same text gave it another vocabulary in each run.
        vocab_size: ids at most, the special tokens and the 256 bytes included.
        character_coverage: share of the running text whose characters get a piece; the others are written as bytes.
    """

    kind: Literal["bpe"] = "bpe"
    vocab_size: Annotated[int, Field(gt=RESERVED)]
    character_coverage: Annotated[float, Field(gt=0.0, le=1.0)] = 0.9995


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TranslatorConfig:
    """An encoder and a decoder as Marian builds them: normalised after each part, fixed sinusoidal positions.

    Attributes:
        layers: of the encoder, and again of the decoder.
        dim, heads, inner: width, attention heads and feed-forward width.
        dropout: probability, on embeddings, attention outputs and feed-forward outputs.
        attention_dropout, inner_dropout: probability, on attention weights and inside the feed-forward part.
        activation: inside the feed-forward part.
        max_length: tokens of a source with its [EOS], and of a target with its [BOS].
        init_std: standard deviation of the initial weights.
        tie_embeddings: whether the output layer is the embedding. Source and target share theirs in any case.
    """

    layers: Count
    dim: Count
    heads: Count
    inner: Count
    dropout: Fraction = 0.1
    attention_dropout: Fraction = 0.0
    inner_dropout: Fraction = 0.0
    activation: Literal["relu", "gelu"] = "relu"
    max_length: Annotated[int, Field(ge=4)] = 256
    init_std: Positive = 0.02
    tie_embeddings: bool = True

    def __post_init__(self) -> None:
        if self.dim % self.heads:
            raise ValueError(f"heads must divide dim: {self.dim} / {self.heads} is not whole")
        if self.dim % 2:
            raise ValueError(f"dim {self.dim} must be even: the positions are pairs of sine and cosine")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class BeamConfig:
    """How hypotheses are searched; see :mod:`quartet.recognise.beam` for what the scores are.

    Attributes:
        size: running hypotheses, and those that are kept (N of an N-best list).
        length_penalty: hypotheses are ranked by log-probability / tokens ** this; 0 ranks by the log-probability.
        extra_tokens: a hypothesis has at most so many tokens more than its source.
        batch_tokens: tokens of hypotheses that are searched together, which bounds the memory (one sentence is
            searched in any case).
    """

    size: Annotated[int, Field(ge=2)] = 50
    length_penalty: NotNegative = 0.0
    extra_tokens: Size = 50
    batch_tokens: Count = 32_768


#: What runs a Whisper.
Engine = Literal["transformers", "ctranslate2"]
#: What a Whisper may compute in, by engine; the eight-bit kinds keep weights in eight bits and the rest as named.
PRECISIONS: dict[Engine, tuple[str, ...]] = {
    "transformers": ("float32", "float16", "bfloat16"),
    "ctranslate2": (
        *("float32", "float16", "bfloat16", "int16"),
        *("int8", "int8_float32", "int8_float16", "int8_bfloat16"),
    ),
}


@dataclass(frozen=True, kw_only=True, config=STRICT)
class SpeechBeamConfig:
    """How transcripts are searched; see :mod:`quartet.recognise.speech` for what the scores are.

    Attributes:
        size: running hypotheses, and those that are kept at most (N of an N-best list).
        max_tokens: tokens of a transcript at most, its end included.
        words_only: tokens with any character but letters, apostrophe, hyphen and space are no choice, so that the
            hypotheses differ in their words, and not in punctuation and digits.
    """

    size: Annotated[int, Field(ge=2)] = 50
    max_tokens: Annotated[int, Field(ge=4)] = 224
    words_only: bool = False


@dataclass(frozen=True, kw_only=True, config=STRICT)
class RecogniserConfig:
    """A Whisper and how it is run.

    Attributes:
        engine: ``transformers`` for models as the hub has them, ``ctranslate2`` for those converted for it.
        source: a folder, or ``owner/name@revision``.
        language: its code, e.g. ``en``; needed by models of several languages, whose guess would differ from one
            utterance to the next.
        precision: what it computes in; the scores depend on it.
        batch: utterances that are recognised together.
    """

    engine: Engine
    source: Text
    language: Annotated[str, Field(pattern="^[a-z]{2,3}$")] | None = None
    precision: str = "float32"
    batch: Count = 8
    beam: SpeechBeamConfig = Field(default_factory=SpeechBeamConfig)

    def __post_init__(self) -> None:
        known = PRECISIONS[self.engine]
        if self.precision not in known:
            raise ValueError(
                f"precision {self.precision!r}: with {self.engine} it is one of {', '.join(known)}"
            )


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TranslatorEntry(TranslatorConfig):
    """An entry of ``translators:``: a :class:`TranslatorConfig`, the parallel text it is trained on, and its search.

    Attributes:
        languages: of the source and the target.
        train, dev, test: a file of source sentences and a file of their translations each, plain or gzipped.
        training: ``batch_size`` counts tokens of the longer side, padding included; what only language models use is
            refused.
        label_smoothing: share of each target's probability that is spread over all ids.
        seed: of initialisation, data order and dropout; lists are data, and do not change with ``seeds``.
    """

    languages: tuple[Text, Text]
    train: tuple[Text, Text]
    dev: tuple[Text, Text]
    test: tuple[Text, Text]
    tokenizer: VocabularyConfig
    training: TrainingConfig
    label_smoothing: Fraction = 0.1
    beam: BeamConfig = Field(default_factory=BeamConfig)
    seed: Seed = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in dataclasses.fields(TrainingConfig):
            if field.name in _LANGUAGE_MODELS_ONLY and getattr(self.training, field.name) != field.default:
                raise ValueError(f"training.{field.name} means nothing for a translator: take it out")

    @property
    def config(self) -> TranslatorConfig:
        """The network alone, as a translator's folder keeps it."""
        return part(TranslatorConfig, self)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class AudioSettings:
    """What is recognised; see :mod:`quartet.recognise.utterances` for the formats.

    Attributes:
        folder: where `dev` and `test` lie, itself below ``data.root``. All of it is one dependency, so the audio that
            a list names should lie in it too.
        dev, test: a list, or a folder of a corpus.
        skip_long: audio longer than the model takes is left out and named in the manifest; else it ends the stage.
    """

    format: Text
    folder: Text
    dev: Text
    test: Text
    skip_long: bool = False


@dataclass(frozen=True, kw_only=True, config=STRICT)
class RecogniserEntry(RecogniserConfig):
    """An entry of ``recognisers:``: a :class:`RecogniserConfig` and the audio that it makes lists of."""

    audio: AudioSettings

    @property
    def config(self) -> RecogniserConfig:
        """The recogniser alone."""
        return part(RecogniserConfig, self)
