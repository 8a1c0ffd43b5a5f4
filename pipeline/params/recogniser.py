"""The section ``recognisers:`` of params.yaml, typed."""

from __future__ import annotations

import dataclasses

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from quartet.config.types import Text
from quartet.nbest.generate.config import RecogniserConfig


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Audio:
    """What is recognised; see :mod:`quartet.nbest.generate.utterances` for the formats.

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


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid", validate_default=True))
class Recogniser(RecogniserConfig):
    """An entry of ``recognisers:``: a :class:`RecogniserConfig` and the audio that it makes lists of."""

    audio: Audio

    @property
    def config(self) -> RecogniserConfig:
        """The recogniser alone."""
        return RecogniserConfig(
            **{field.name: getattr(self, field.name) for field in dataclasses.fields(RecogniserConfig)}
        )
