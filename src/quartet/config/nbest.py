"""N-best lists, how their choices are judged, and how they are reranked."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag
from pydantic.dataclasses import dataclass

from quartet.config.choices import BleuTokenization, MetricName, ScoreMeaning, ScoreReduction, UnknownHandling
from quartet.config.types import STRICT, Count, Positive, Share, Text

#: Of a grid: each is tried on all lists.
MOST_WEIGHTS = 100_000


@dataclass(frozen=True, kw_only=True, config=STRICT)
class WeightGrid:
    """A grid of interpolation weights."""

    start: Share
    stop: Share
    step: Positive

    def __post_init__(self) -> None:
        if self.start > self.stop:
            raise ValueError(f"start {self.start} is larger than stop {self.stop}")
        if (self.stop - self.start) / self.step >= MOST_WEIGHTS:
            raise ValueError(f"step {self.step} makes more than {MOST_WEIGHTS:,} weights")


def _exact_or_grid(value: object) -> object:
    if not isinstance(value, dict | WeightGrid) and value != "exact":
        raise ValueError("exact, or a grid {start: ..., stop: ..., step: ...}, was expected")
    return value


#: The weights that are tried: a grid, or all that there are.
TriedWeights = Annotated[
    Annotated[WeightGrid, Tag("[grid]")] | Annotated[Literal["exact"], Tag("[exact]")],
    Discriminator(lambda value: "[exact]" if value == "exact" else "[grid]"),
    BeforeValidator(_exact_or_grid),
]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class RerankSettings:
    """Which weights are tried, and how token log-probabilities make a score.

    Attributes:
        lengths: the most reference words of each range but the last, for errors by length; none: no such table.
        combine: pairs of systems to weigh together: names under ``evaluate.rerank``, or those of their readings.
        unknown: what is done with tokens that a model does not know, see `quartet.scoring.unknown`.
    """

    weights: TriedWeights
    score: ScoreReduction
    lengths: tuple[Count, ...]
    combine: tuple[tuple[Text, Text], ...]
    unknown: UnknownHandling = "spread"

    def __post_init__(self) -> None:
        if list(self.lengths) != sorted(set(self.lengths)):
            raise ValueError(f"lengths {list(self.lengths)} do not ascend")
        for pair in self.combine:
            if pair[0] == pair[1] or list(self.combine).count(pair) > 1:
                raise ValueError(f"combine holds {list(pair)} twice or a system with itself")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class NormaliseSettings:
    """How hypotheses and references are made comparable."""

    lowercase: bool
    strip_punctuation: bool


@dataclass(frozen=True, kw_only=True, config=STRICT)
class CostFile:
    """A file of costs beside the texts (Kaldi); the score is minus the weighted sum of such files."""

    file: Text
    weight: Annotated[float, Field(allow_inf_nan=False)] = 1.0


@dataclass(frozen=True, kw_only=True, config=STRICT)
class ListFiles:
    """The files of one split, where they are more than one.

    Attributes:
        references: a file of references, in the place of any that the lists hold.
    """

    hypotheses: Text
    scores: list[CostFile] = Field(default_factory=list)
    references: Text | None = None

    @property
    def paths(self) -> list[str]:
        """Of all files, as they are written."""
        return [self.hypotheses, *(one.file for one in self.scores), *filter(None, [self.references])]


def _one_or_several(value: object) -> object:
    """The path of lists that hold everything as the one file that there is."""
    if not isinstance(value, str | dict):
        raise ValueError("a path, or {hypotheses: ..., references: ...}, was expected")
    return {"hypotheses": value} if isinstance(value, str) else value


OneOrSeveral = Annotated[ListFiles, BeforeValidator(_one_or_several)]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class BleuSettings:
    """sacrebleu's settings of ``metric: bleu``."""

    lowercase: bool = False
    tokenize: BleuTokenization = "13a"


#: What is resampled of lists: each by itself, or those of one speaker together, whose name is the first part of the
#: utterance's, as in LibriSpeech (1089-134686-0000) and Kaldi.
UTTERANCE, SPEAKER = "utterance", "speaker"
SPEAKER_PATTERN = r"^([^-_]+)[-_]"


def unit_pattern(unit: str) -> re.Pattern[str]:
    """The pattern of a unit that is not the utterance; its group is the unit's name.

    Raises:
        ValueError: it is none, or has not one group.
    """
    try:
        pattern = re.compile(SPEAKER_PATTERN if unit == SPEAKER else unit)
    except re.error as error:
        raise ValueError(f"{unit!r} is no regular expression ({error})") from error
    if pattern.groups != 1:
        raise ValueError(f"{unit!r} is not {UTTERANCE}, {SPEAKER}, or a regular expression with one group")
    return pattern


@dataclass(frozen=True, kw_only=True, config=STRICT)
class NBestEntry:
    """An entry of ``nbest:``: the weight is tuned on ``dev`` and applied to ``test``; ``origin`` is for the report.

    Attributes:
        folder: where the paths of ``dev`` and ``test`` start and stay, itself below ``data.root``; a translator's lists
            are at ``../artifacts/…`` of a root in the project. All of it is one dependency.
        dev, test: a file of lists, or several files by their role.
        beam: hypotheses a list, for formats that only count.
        hypotheses: how many of each list are kept, the first pass's best; None: all.
        score, weights: of these lists, in the place of ``rerank.score`` and ``rerank.weights``. A first pass that is a
            mean over tokens (a translator's ``beam.length_penalty: 1``) wants means beside it.
        skip_missing: utterances with a reference and without a list are left out, which else count as an empty
            hypothesis.
        unit: what intervals resample: ``utterance``, ``speaker`` (utterances whose names begin alike, up to the first -
            or _), or a regular expression whose one group is the unit's name in that of the utterance.
        scores_are: what the first pass's numbers are; None: what the format says, unless the lists contradict.
        skip_malformed: malformed entries are counted, listed and left out; else the first one ends the stage.
    """

    format: Text
    folder: Text
    dev: OneOrSeveral
    test: OneOrSeveral
    metric: MetricName
    bleu: BleuSettings = Field(default_factory=BleuSettings)
    normalise: NormaliseSettings
    beam: Count | None = None
    hypotheses: Count | None = None
    score: ScoreReduction | None = None
    weights: TriedWeights | None = None
    skip_malformed: bool = False
    skip_missing: bool = False
    scores_are: ScoreMeaning | None = None
    unit: Text = UTTERANCE
    origin: str = ""

    def __post_init__(self) -> None:
        for path in (*self.dev.paths, *self.test.paths):
            if PurePath(path).is_absolute() or ".." in PurePath(path).parts:
                raise ValueError(
                    f"{path} is not inside {self.folder}, and an edit of it would go unnoticed: "
                    "let folder be one that all files are in"
                )
        if self.unit != UTTERANCE:
            unit_pattern(self.unit)
        if self.metric != "bleu" and self.bleu != BleuSettings():
            raise ValueError(f"bleu means nothing with metric: {self.metric}: take it out")
