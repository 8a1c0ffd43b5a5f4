"""Milliseconds a sentence against its number of words, for the two uses of the paper's Figure 4."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from quartet.errors import InputError
from quartet.objectives.mlm import MaskedLM
from quartet.results import Measure
from quartet.scoring.language_model import LanguageModel

#: Calls before the clock starts.
WARM_UP = 2


@dataclass(frozen=True)
class Timing:
    """One point of the study.

    Attributes:
        system: ``<model>/sts`` (contextual vectors) or ``<model>/rerank`` (log-likelihoods). A masked model comes
            twice: ``<model>`` reads its masked copies in one batch, ``<model>-one-by-one`` each in a pass of its own.
        words, tokens: of the sentence.
        milliseconds: the median over the repeats, with the interval of the median.
    """

    system: str
    words: int
    tokens: int
    milliseconds: Measure


def median_interval(values: np.ndarray) -> Measure:
    """The median with an interval of at least 95 % from the order statistics; none for fewer than 6 values."""
    from scipy.stats import binom

    ordered = np.sort(values)
    low = int(binom.ppf(0.025, len(ordered), 0.5)) - 1
    if low < 0:
        return Measure(float(np.median(ordered)), len(ordered))
    return Measure(float(np.median(ordered)), len(ordered), float(ordered[low]), float(ordered[-1 - low]))


def measure(call: Callable[[], object], repeats: int) -> Measure:
    """Time one call, `repeats` times after the warm-up, in milliseconds."""
    for _ in range(WARM_UP):
        call()
    values = np.zeros(repeats)
    for index in range(repeats):
        begun = time.perf_counter()
        call()
        values[index] = 1000 * (time.perf_counter() - begun)
    return median_interval(values)


def benchmark(model: LanguageModel, sentences: dict[int, str], repeats: int) -> Iterator[Timing]:
    """Time a model on one sentence a length, one at a time, tokenisation included.

    Args:
        sentences: number of words -> a sentence of so many.

    Raises:
        InputError: a sentence does not fit into one input, so that its time would be that of two.
    """
    room = model.card.model.max_length - 2
    for words, sentence in sentences.items():
        if model.card.model.reads != "streams" and len(model.tokenizer.encode(sentence)) > room:
            raise InputError(
                "params.yaml: runtime.words",
                f"{words} words are more than the {room} tokens that {model.name} reads at once",
                "take them out or raise max_length",
            )
    objective = model.objective
    for label, plain in variants(model):
        if isinstance(objective, MaskedLM):
            objective.plain = plain
        for words, sentence in sentences.items():
            tokens = len(model.tokenizer.encode(sentence))
            for use, call in (
                ("sts", lambda text=sentence: model.embed([text])),
                ("rerank", lambda text=sentence: model.score([text])),
            ):
                yield Timing(f"{label}/{use}", words, tokens, measure(call, repeats))


def variants(model: LanguageModel) -> list[tuple[str, bool]]:
    """The ways in which a model is timed: a masked one also with its copies one by one."""
    if isinstance(model.objective, MaskedLM):
        return [(f"{model.name}-one-by-one", True), (model.name, False)]
    return [(model.name, False)]
