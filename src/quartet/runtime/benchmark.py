"""Milliseconds of a sentence against its number of words, and of a list (Shin et al. 2020, Figures 4 to 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from quartet.config.objectives import OBJECTIVES
from quartet.errors import InputError
from quartet.results import Measure, system_name
from quartet.runtime.clock import (
    Seconds,
    device_timer,
    exponent,
    in_turns,
    median_interval,
    quartile_range,
    times_as_long,
)
from quartet.runtime.systems import TimedSystem, Use

USES: tuple[Use, ...] = get_args(Use)
#: Words of each text of a list: the paper's standard sentence.
LIST_WORDS = 20
#: Growth is fitted to sentences of so many words or more: a single word is all fixed cost.
GROWS_FROM = 2


@dataclass(frozen=True)
class TimedTexts:
    """What is read in one call.

    Attributes:
        name: of the dataset, e.g. ``20-words``.
        words: of each text.
        texts: a sentence, or all texts of a list.
    """

    name: str
    words: int
    texts: tuple[str, ...]

    @property
    def is_list(self) -> bool:
        return len(self.texts) > 1


@dataclass(frozen=True)
class Timing:
    """One system for one use on one input.

    Attributes:
        tokens: of all texts together.
        seconds: (repeats,); the same index is the same round for all systems on these texts.
    """

    system: TimedSystem
    use: Use
    texts: TimedTexts
    tokens: int
    seconds: Seconds

    @property
    def name(self) -> str:
        """The shown name of the system and its use."""
        return system_name(self.system.of, self.system.reading(self.use))

    @property
    def milliseconds(self) -> Measure:
        """The median over the repeats with its interval."""
        return median_interval(1000 * self.seconds)

    @property
    def spread(self) -> Measure:
        """The interquartile range over the repeats, in milliseconds."""
        return quartile_range(1000 * self.seconds)


def cut_texts(running: Sequence[str], words: Sequence[int], hypotheses: int) -> list[TimedTexts]:
    """A sentence of each number of words, and a list of different texts of 20 words each.

    Args:
        running: words of a text.
        hypotheses: texts of the list; 0: no list.

    Raises:
        InputError: the text has too few words.
    """
    for place, wanted in (
        ("runtime.words", max(words, default=0)),
        ("runtime.hypotheses", LIST_WORDS * hypotheses),
    ):
        if len(running) < wanted:
            raise InputError(
                f"params.yaml: {place}",
                f"{wanted} words are needed and the test text has {len(running)}",
                "make it less",
            )
    found = [
        TimedTexts(f"{count}-words", count, (" ".join(running[:count]),)) for count in dict.fromkeys(words)
    ]
    if hypotheses:
        parts = [running[at : at + LIST_WORDS] for at in range(0, hypotheses * LIST_WORDS, LIST_WORDS)]
        name = f"{hypotheses}-best-of-{LIST_WORDS}-words"
        found.append(TimedTexts(name, LIST_WORDS, tuple(" ".join(part) for part in parts)))
    return found


def benchmark(
    systems: Sequence[TimedSystem],
    inputs: Sequence[TimedTexts],
    repeats: int,
    done: Callable[[], None] | None = None,
) -> Iterator[Timing]:
    """Time all systems for both uses, tokenisation included, input by input and in turns.

    Args:
        repeats: calls of each that count, after the warm-up.
        done: called after each round, of which an input has `repeats` + 1.

    Raises:
        InputError: a text does not fit into one input, so that its time would be that of two.
    """
    for system in systems:
        for texts in inputs:
            longest = max(system.tokens(text) for text in texts.texts)
            if system.room is not None and longest > system.room:
                raise InputError(
                    "params.yaml: runtime.words",
                    f"{texts.words} words are {longest} tokens, and {system.name} reads {system.room} at once",
                    "take them out or raise max_length",
                )
    for texts in inputs:
        timed = [system for system in systems if system.batched or not texts.is_list]
        timers = {
            (system.name, use): device_timer(system.call(use, texts.texts), system.device)
            for system in timed
            for use in USES
        }
        seconds = in_turns(timers, repeats, done)
        for system in timed:
            tokens = sum(system.tokens(text) for text in texts.texts)
            for use in USES:
                yield Timing(system, use, texts, tokens, seconds[system.name, use])


def over_lae(timings: Sequence[Timing], samples: int, seed: int) -> dict[tuple[str, str, str], Measure]:
    """How many times as long a masked system takes as an LAE system that reads the same input, use by use.

    Args:
        samples: resamples of the bootstrap over rounds.
        seed: of its generator.

    Returns:
        By (name of the timing, name of the texts, the LAE system).
    """
    found = {}
    for ours in timings:
        for base in timings:
            same = (ours.use, ours.texts.name, ours.system.reads) == (
                *(base.use, base.texts.name, base.system.reads),
            )
            facts = OBJECTIVES[base.system.objective]
            one_pass = not facts.masks and not facts.causal
            if same and one_pass and OBJECTIVES[ours.system.objective].masks:
                ratio = times_as_long(ours.seconds, base.seconds, samples, seed)
                found[ours.name, ours.texts.name, base.system.name] = ratio
    return found


def growth(timings: Sequence[Timing]) -> dict[tuple[str, str], Measure]:
    """The exponent with which a system's time grows with the number of tokens of a sentence.

    Returns:
        By (name of the timing, ``<least>-to-<most>-words``); nothing of a system with fewer than two lengths.
    """
    points: dict[str, list[Timing]] = {}
    for timing in timings:
        if not timing.texts.is_list and timing.texts.words >= GROWS_FROM:
            points.setdefault(timing.name, []).append(timing)
    found = {}
    for name, own in points.items():
        tokens = [timing.tokens for timing in own]
        if len(set(tokens)) > 1:
            words = [timing.texts.words for timing in own]
            span = f"{min(words)}-to-{max(words)}-words"
            found[name, span] = exponent(tokens, [timing.milliseconds.value for timing in own])
    return found
