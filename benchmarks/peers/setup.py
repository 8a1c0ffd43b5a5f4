"""What all comparisons share: texts, sizes, device and how often, and the models that are made of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.peers.benchmark_result import BenchmarkResult
from benchmarks.peers.models import (
    SHAPES,
    STREAMS,
    TINY_STREAMS,
    TransformerXLShape,
    filled_tokenizer,
    random_model,
)
from quartet.errors import InputError
from quartet.runtime.hf_bert import BertShape, save_bert
from quartet.scoring.language_model import LanguageModel
from quartet.text.tokenizer import TextTokenizer

#: Words of the sentences whose times are set against their lengths.
LENGTHS = (2, 5, 10, 20, 40, 60, 80, 100)


@dataclass(frozen=True, kw_only=True)
class BenchmarkSetup:
    """The settings of one run.

    Attributes:
        sentences: all texts.
        shape: of the random models.
        folder: for what is made on the way; it goes with the run.
        python: of the peers' environment; None: comparisons with peers are left out.
        words: of one text of our own lists, and of the sentence that is timed alone.
        hypotheses: texts of our own lists.
        rescored: texts that are rescored beside their own matrix products.
        timed: sentences that peers are given to score or to embed.
        trained: sentences of one epoch of training.
        batch_size: sentences of one training step, or of a part of it.
        parts: of a training step that is measured beside the peak.
        precisions: of training.
        rounds: measurements of each, in turns.
        ends: on the clock of `time.perf_counter`; a comparison of several parts begins none after it.
        tell: called with what is found so far, after each part of such a comparison.
    """

    sentences: Sequence[str]
    shape: BertShape
    folder: Path
    python: Path | None
    device: str
    words: int
    hypotheses: int
    rescored: int
    lengths: Sequence[int]
    timed: int
    trained: int
    batch_size: int
    parts: int
    precisions: Sequence[str]
    rounds: int
    ends: float = math.inf
    tell: Callable[[BenchmarkResult], object] = lambda _: None

    @property
    def on_gpu(self) -> bool:
        """Whether the device is one."""
        return self.device.startswith("cuda")

    @property
    def is_over(self) -> bool:
        """Whether nothing is to be begun any more."""
        return time.perf_counter() > self.ends

    @cached_property
    def tokenizer(self) -> TextTokenizer:
        return filled_tokenizer(self.sentences, self.shape.vocabulary)

    @cached_property
    def bert(self) -> Path:
        """The folder of a BERT of Hugging Face with the shape's sizes, random weights and our pieces."""
        folder = self.folder / "bert"
        save_bert(folder, self.shape, self.tokenizer)
        return folder

    def model(self, name: str) -> LanguageModel:
        """One of :data:`benchmarks.peers.models.SYSTEMS`, with random weights, on the device."""
        return random_model(name, self.shape, self.tokenizer, device=self.device)

    @property
    def streams(self) -> dict[str, TransformerXLShape]:
        """The sizes of recurrent models."""
        return TINY_STREAMS if self.shape == SHAPES["tiny"] else STREAMS

    @property
    def peer(self) -> Path:
        """The python of the peers' environment."""
        assert self.python is not None, "who asks for a peer has one"
        return self.python

    def running(self, words: int) -> list[str]:
        """The first words of the texts.

        Raises:
            InputError: there are fewer.
        """
        found = " ".join(self.sentences).split()
        if len(found) < words:
            raise InputError(
                "--texts", f"{len(found)} words, {words} are needed", "give more text or ask for less"
            )
        return found[:words]

    def texts(self, count: int) -> list[str]:
        """So many texts of `words` words each."""
        running = self.running(self.words * count)
        return [" ".join(running[at : at + self.words]) for at in range(0, len(running), self.words)]

    def spread(self, count: int) -> list[str]:
        """Sentences from all over the texts, in their order.

        Raises:
            InputError: there are fewer.
        """
        if len(self.sentences) < count:
            raise InputError(
                "--texts",
                f"{len(self.sentences)} sentences, {count} are needed",
                "give more text or ask for less",
            )
        return [self.sentences[number * len(self.sentences) // count] for number in range(count)]

    def described(self) -> dict[str, Any]:
        """The sizes of the random models."""
        return dict(self.shape.__dict__)
