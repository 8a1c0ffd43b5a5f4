"""From audio to N-best lists: what a recogniser is, and the way of utterances through one.

**Scores.** The score of a transcript is log P(tokens, end of text | audio, prompt): the natural logarithm, summed over
the tokens and the end of the text, of the model as it is run (``precision``), its distribution restricted to the tokens
that are a choice (see :mod:`quartet.recognise.whisper`). It is not divided by any length: both engines search with
a length penalty of 0, so that transcripts are searched and ranked by the sum itself, as language models' scores are.

**The engines** differ in when a search ends, and so in the last hypotheses of a list: `transformers` goes on until
nothing that runs can become better than the worst that is kept, `ctranslate2` until as many as the beam have ended.

**The end.** Transcripts that have not ended at ``max_tokens`` are left out and counted. Where none of an utterance's
has ended (a model in a loop), they stay, each with the sum over the tokens that it has, and the list is counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from quartet.config.recognise import RecogniserConfig
from quartet.errors import InputError
from quartet.recognise.audio import RATE, Samples, length, read_samples
from quartet.recognise.hypotheses import Transcript, best_of_each_text
from quartet.recognise.utterances import Utterance


class Recogniser(Protocol):
    """A model of speech.

    Attributes:
        seconds: the longest audio that it takes.
        content: SHA-256 of the model's files.

    >>> recogniser.recognise([samples])  # doctest: +SKIP
    [[Transcript("a cat sat", -2.31, (64, 3797, 3332, 50256)), Transcript("a cat said", -3.02, (64, 3797, 531, 50256))]]
    """

    @property
    def seconds(self) -> int: ...

    @property
    def content(self) -> str: ...

    def recognise(self, samples: Sequence[Samples]) -> list[list[Transcript]]:
        """Everything that the search found for each utterance: at least one, in any order, texts perhaps twice.

        Args:
            samples: for each utterance (N,) samples at 16 kHz, at least one, at most `seconds` long.
        """
        ...


@dataclass(frozen=True)
class AdmittedUtterances:
    """Utterances whose audio can be recognised.

    Attributes:
        samples: of each utterance, by its file's header.
        too_long: names of those that were left out because they are longer than the model takes.
    """

    utterances: list[Utterance]
    samples: list[int]
    too_long: list[str]

    @property
    def hours(self) -> float:
        """Of audio, all utterances together."""
        return sum(self.samples) / RATE / 3600


@dataclass(frozen=True)
class RecognitionResult:
    """What a recogniser made of utterances.

    Attributes:
        lists: for each utterance its transcripts, best first, no text twice; at least one.
        merged: transcripts that read like a better one of their list, and were left out for it.
        unended: transcripts that had not ended at the limit, and were left out for others that had.
        lists_unended: lists none of whose transcripts has ended.
    """

    lists: list[list[Transcript]]
    merged: int
    unended: int
    lists_unended: int


def open_recogniser(config: RecogniserConfig, device: str, threads: int = 0) -> Recogniser:
    """The recogniser of a setting.

    Args:
        device: ``cpu`` or ``cuda``.
        threads: of the CPU, for `ctranslate2` (0: its own choice); `transformers` has torch's.

    Raises:
        InputError: a library is not installed, the model cannot be had, or it is no Whisper.
    """
    if config.engine == "ctranslate2":
        from quartet.recognise.whisper_ctranslate2 import CTranslate2Whisper

        return CTranslate2Whisper(config, device, threads)
    from quartet.recognise.whisper_transformers import TransformersWhisper

    return TransformersWhisper(config, device)


def admit(utterances: Sequence[Utterance], seconds: int, skip_long: bool = False) -> AdmittedUtterances:
    """Look at the header of every audio file before anything is recognised.

    Args:
        seconds: the longest audio that the recogniser takes.
        skip_long: longer audio is left out and named; else the first ends it.

    Raises:
        InputError: audio is missing, broken, empty or too long; it names the utterance.
    """
    kept, samples, too_long = [], [], []
    for utterance in utterances:
        count = length(utterance.audio, utterance.place)
        if count > seconds * RATE:
            if not skip_long:
                raise InputError(
                    utterance.place,
                    f"{utterance.audio} has {count / RATE:.2f} s, and the model takes {seconds} s at most",
                    "cut it into shorter utterances, or set skip_long to leave it out",
                )
            too_long.append(utterance.name)
            continue
        kept.append(utterance)
        samples.append(count)
    if not kept:
        raise InputError(Path(utterances[0].audio).parent, f"all audio is longer than {seconds} s")
    return AdmittedUtterances(kept, samples, too_long)


def recognise(
    recogniser: Recogniser,
    utterances: Sequence[Utterance],
    config: RecogniserConfig,
    advance: Callable[[int], None] | None = None,
) -> RecognitionResult:
    """Recognise utterances; at most `config.batch` of them are in memory.

    Args:
        advance: called with the number of utterances of each finished batch.

    Raises:
        InputError: audio cannot be read, or a score is no finite number.
    """
    lists: list[list[Transcript]] = []
    merged, unended, lists_unended = 0, 0, 0
    for start in range(0, len(utterances), config.batch):
        group = utterances[start : start + config.batch]
        samples = [read_samples(each.audio, each.place) for each in group]
        for utterance, found in zip(group, recogniser.recognise(samples), strict=True):
            assert found, "a search gives at least one transcript"
            for each in found:
                if not math.isfinite(each.score):
                    raise InputError(
                        utterance.place,
                        f'the score of "{each.text}" is {each.score}',
                        "set precision: float32, or check the model",
                    )
            ended = [each for each in found if each.ended]
            lists_unended += not ended
            unended += len(found) - len(ended) if ended else 0
            lists.append(best_of_each_text(ended or found)[: config.beam.size])
            merged += len(ended or found) - len(lists[-1])
        if advance is not None:
            advance(len(group))
    return RecognitionResult(lists, merged, unended, lists_unended)
