"""The section ``translators:`` of params.yaml, typed."""

from __future__ import annotations

import dataclasses

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from quartet.config.training import TrainingConfig
from quartet.config.types import Fraction, Size, Text
from quartet.nbest.generate.config import BeamConfig, TranslatorConfig, VocabularyConfig

#: Settings of a training that no translator reads.
_LANGUAGE_MODELS_ONLY = ("batch_by", "mask_probability", "max_selected", "loss_on_specials")


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid", validate_default=True))
class Translator(TranslatorConfig):
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
    seed: Size = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in dataclasses.fields(TrainingConfig):
            if field.name in _LANGUAGE_MODELS_ONLY and getattr(self.training, field.name) != field.default:
                raise ValueError(f"training.{field.name} means nothing for a translator: take it out")

    @property
    def config(self) -> TranslatorConfig:
        """The network alone, as a translator's folder keeps it."""
        return TranslatorConfig(
            **{field.name: getattr(self, field.name) for field in dataclasses.fields(TranslatorConfig)}
        )
