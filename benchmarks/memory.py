"""The memory that a large corpus takes: made-up text without end, and a look at a process and all that it started."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from itertools import accumulate, product
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.peers.benchmark_result import BenchmarkFigure, BenchmarkResult
from quartet.text.documents import Document, Paragraph, SentencesOf
from quartet.text.parallel import cores
from quartet.text.segmentation import segment_corpus
from quartet.text.split import HeldOutShares

#: Seconds between two looks.
EVERY = 0.1
MIB = 1 << 20
SYLLABLES = ("ba", "den", "fi", "gor", "hul", "ka", "lem", "mi", "nor", "pu", "ral", "se", "tov", "wi", "zan")

WORDS = [*map("".join, product(SYLLABLES, repeat=2)), *map("".join, product(SYLLABLES, repeat=3))]
"""Of two and three syllables, the first the most frequent, as in Zipf's law."""

PARAGRAPHS = 12
"""Of each document."""
SHARES = HeldOutShares(0.1, 0.1)


def memory(folder: Path, characters: int, vocabulary: int, workers: int) -> BenchmarkResult:
    """The peak memory of each step over so much made-up text, in MiB: of this process, the largest other, and all."""
    from quartet.text.encoding import encode_corpus
    from quartet.text.tokenizer import train_tokenizer

    segments = folder / "segments"
    name = folder / "made-up"
    name.touch()
    seconds: dict[str, float] = {}
    figures: list[BenchmarkFigure] = []

    with ResidentMemory() as resident:

        def step(what: str, call: Callable[[], Any]) -> Any:
            begun = time.perf_counter()
            made = call()
            seconds[what] = time.perf_counter() - begun
            for whose, peak in resident.taken().items():
                figures.append(BenchmarkFigure(f"peak of {what}, {whose}", peak, peak, peak, "MiB"))
            return made

        reader = made_up(characters)
        manifest = step(
            "segmentation",
            lambda: segment_corpus(reader, name, segments, shares=SHARES, punkt="trained", workers=workers),
        )
        texts = SentencesOf(segments / "train.jsonl")
        tokenizer = step(
            "the tokenizer", lambda: train_tokenizer("wordpiece", texts, vocabulary, lowercase=True)
        )
        step("encoding", lambda: encode_corpus(segments, tokenizer, folder / "encoded", workers=workers))
    sizes = {
        key: sum(counts[key] for counts in manifest["splits"].values())
        for key in ("documents", "sentences", "characters")
    }
    return BenchmarkResult(figures, [], seconds, {**sizes, "processes": workers or cores()})


class ResidentMemory:
    """Resident memory in MiB while it is entered: pages that processes share count in each, so sums are upper bounds.

    The kernel's own peak of ended children (`getrusage`) is of no use here: what a child was forked from counts in it.

    Attributes:
        peaks: the largest that any look found since the last :meth:`taken`: of this process, of the largest below it,
            and of all together.
    """

    def __init__(self) -> None:
        self.peaks: dict[str, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> ResidentMemory:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def taken(self) -> dict[str, float]:
        """The peaks until now; those after it are counted anew."""
        self._look()
        peaks, self.peaks = self.peaks, {}
        return peaks

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            self._look()

    def _look(self) -> None:
        import psutil

        first = psutil.Process()
        own = first.memory_info().rss / MIB
        others = []
        for process in first.children(recursive=True):
            try:
                others.append(process.memory_info().rss / MIB)
            except psutil.NoSuchProcess:
                continue
        seen = {"this process": own, "the largest other": max(others, default=0.0), "all": own + sum(others)}
        for whose, size in seen.items():
            self.peaks[whose] = max(size, self.peaks.get(whose, 0.0))


def made_up(characters: int) -> Callable[[Path], Iterator[Document]]:
    """A reader that reads no file, but makes documents up until they have so many characters; always the same ones."""

    def read(path: Path) -> Iterator[Document]:
        weights = list(accumulate(1 / rank for rank in range(1, len(WORDS) + 1)))
        made = number = 0
        while made < characters:
            draw = random.Random(number)
            paragraphs = tuple(Paragraph(_paragraph(draw, weights)) for _ in range(PARAGRAPHS))
            document = Document(str(number), f"Tale {number}", paragraphs)
            yield document
            number, made = number + 1, made + document.size

    return read


def _paragraph(draw: random.Random, weights: list[float]) -> str:
    """Three to eight sentences, some with an abbreviation before a name."""
    sentences = []
    for _ in range(draw.randint(3, 8)):
        words = draw.choices(WORDS, cum_weights=weights, k=draw.randint(6, 30))
        if draw.random() < 0.2:
            words[2:2] = ["Dr.", draw.choice(WORDS).capitalize()]
        sentences.append(f"{words[0].capitalize()} {' '.join(words[1:])}.")
    return " ".join(sentences)
