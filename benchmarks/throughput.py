"""The command ``python -m benchmarks.throughput``: text to ids beside bare NLTK Punkt and bare `tokenizers`.

Ours is timed from files to files: reading, paragraphs, sentences, the split, JSON, ids, boundaries, Arrow. The bare
libraries get paragraphs and sentences that are in memory already, and what they find is let go. One core's seconds are
those of the processor, for other programs may be running; several processes are timed by the clock.

What is imported here is light, for every process that shares the work imports it too.
"""

from __future__ import annotations

import os
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.memory import SHARES, memory
from benchmarks.peers.benchmark_result import BenchmarkFigure, BenchmarkResult, at_least, equal
from benchmarks.peers.paired_times import PairedTimes, in_turns
from quartet.errors import InputError, user_errors
from quartet.files import write_json
from quartet.runtime.clock import Timer
from quartet.text.documents import SentencesOf, read_segmented
from quartet.text.parallel import ONE_CORE, cores
from quartet.text.plain import draft_text, read_text
from quartet.text.segmentation import segment_corpus
from quartet.text.segmenter import Segmenter
from quartet.text.split import SPLITS

#: What the project demands of its speed on one core, over that of the bare libraries.
DEMANDED = at_least(0.9)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def throughput(
    texts: Annotated[Path | None, typer.Option(help="A .txt file, or a folder of them.")] = None,
    megabytes: Annotated[float, typer.Option(min=0, help="How much of it; 0: all.")] = 10,
    vocabulary: Annotated[
        int, typer.Option(min=300, help="Pieces of the tokenizer, trained on it.")
    ] = 30_000,
    rounds: Annotated[int, typer.Option(min=1, help="Measurements of each, in turns.")] = 5,
    workers: Annotated[int, typer.Option(min=0, help="Processes that share the work; 0: one a core.")] = 0,
    synthetic_gb: Annotated[
        float, typer.Option(min=0, help="Instead: the memory that so much made-up text takes.")
    ] = 0,
    json: Annotated[Path | None, typer.Option(help="Where the figures go.")] = None,
) -> None:
    """Time segmentation and encoding in turns with the bare libraries, or see what memory a large corpus takes.

    Example: python -m benchmarks.throughput --texts books --json throughput.json
    """
    if texts is None and not synthetic_gb:
        raise InputError("--texts", "there is nothing to read", "give it, or --synthetic-gb")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if synthetic_gb or texts is None:
            found = memory(folder, int(synthetic_gb * 1e9), vocabulary, workers)
        else:
            found = study(folder, texts, int(megabytes * 1e6), vocabulary, rounds, workers)
    if json is not None:
        write_json(json, found.to_json())
    _show(found)


def study(
    folder: Path, texts: Path, characters: int, vocabulary: int, rounds: int, workers: int
) -> BenchmarkResult:
    """Our speed over that of the bare libraries on the same text, with one process and with several.

    Args:
        folder: an empty one, for what is written on the way.
        characters: of the texts, whole documents; 0: all.
        vocabulary: of the tokenizer.
        workers: 0: one a core.

    Raises:
        InputError: there is no text or too little of it, or the outputs are not equal.
    """
    import numpy as np

    from quartet.text.encoded_corpus import EncodedCorpus
    from quartet.text.encoding import BATCH_SENTENCES, encode_corpus
    from quartet.text.tokenizer import train_tokenizer

    count = workers or cores()
    source, segments, encoded = folder / "source", folder / "segments", folder / "encoded"
    paragraphs = _copied(texts, source, characters)

    def segment(processes: int = 1) -> Callable[[], object]:
        return lambda: segment_corpus(
            draft_text, source, segments, shares=SHARES, curated=False, workers=processes
        )

    segment()()
    trained_on = SentencesOf(segments / "train.jsonl")
    tokenizer = train_tokenizer("wordpiece", trained_on, vocabulary, lowercase=True)
    sentences = [text for split in SPLITS for text in SentencesOf(segments / f"{split}.jsonl")]

    def encode(processes: int = 1) -> Callable[[], object]:
        return lambda: encode_corpus(segments, tokenizer, encoded, workers=processes)

    encode()()
    punkt, library = _bare_punkt(), _bare_tokenizer(tokenizer.to_json())
    parts = [sentences[at : at + BATCH_SENTENCES] for at in range(0, len(sentences), BATCH_SENTENCES)]
    checks = [
        equal("sentences", _sums(_segmented(segments)), _sums(_cut(source, Segmenter(punkt, ""))), 0),
        equal(
            "ids",
            np.concatenate([EncodedCorpus.open(encoded, split).ids for split in SPLITS]),
            [number for part in parts for each in library(part) for number in each.ids],
            0,
        ),
    ]
    ways = {
        "Punkt": lambda: [list(punkt.span_tokenize(paragraph)) for paragraph in paragraphs],
        "segmentation": segment(),
        "tokenizers": lambda: _spent(map(library, parts)),
        "encoding": encode(),
        f"segmentation, {count} processes": segment(count),
        f"encoding, {count} processes": encode(count),
    }
    clock: dict[str, list[float]] = {name: [] for name in ways}
    taken = in_turns({name: _on_one_core(way, clock[name]) for name, way in ways.items()}, rounds)
    by_clock = PairedTimes(
        {name: seconds[1:] for name, seconds in clock.items()}
    )  # the first round does not count
    bare = np.add(taken.seconds["Punkt"], taken.seconds["tokenizers"])
    ours = np.add(taken.seconds["segmentation"], taken.seconds["encoding"])
    figures = [
        BenchmarkFigure.of(
            "segmentation and encoding over the bare libraries, one core", (bare / ours).tolist(), DEMANDED
        ),
        BenchmarkFigure.of("segmentation over Punkt, one core", taken.ratios("Punkt", "segmentation")),
        BenchmarkFigure.of("encoding over tokenizers, one core", taken.ratios("tokenizers", "encoding")),
    ]
    if count > 1:
        figures += [
            BenchmarkFigure.of(
                f"{what}, {count} processes over one", by_clock.ratios(what, f"{what}, {count} processes")
            )
            for what in ("segmentation", "encoding")
        ]
    sizes = {
        "characters": sum(map(len, paragraphs)),
        "paragraphs": len(paragraphs),
        "sentences": len(sentences),
        "vocabulary": tokenizer.vocab_size,
        "processes": count,
    }
    seconds = {name: (by_clock if "processes" in name else taken).median(name) for name in ways}
    return BenchmarkResult(figures, checks, seconds, sizes)


def _copied(texts: Path, source: Path, characters: int) -> list[str]:
    """The first documents of a text as files of one folder; their paragraphs."""
    source.mkdir()
    paragraphs: list[str] = []
    size = 0
    for number, document in enumerate(read_text(texts)):
        if characters and size >= characters:
            break
        text = "\n\n".join(paragraph.text for paragraph in document.paragraphs)
        (source / f"{number:06}.txt").write_text(text, encoding="utf-8")
        paragraphs += [paragraph.text for paragraph in document.paragraphs]
        size += len(text)
    return paragraphs


def _bare_punkt() -> Any:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    from quartet.text.punkt_model import published_model

    return PunktSentenceTokenizer(published_model("english"))


def _bare_tokenizer(json: str) -> Callable[[list[str]], list[Any]]:
    """The library's quickest call, set as ours is to read no special token out of a text."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(json)
    tokenizer.encode_special_tokens = True

    def encode(texts: list[str]) -> list[Any]:
        found: list[Any] = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return found

    return encode


def _on_one_core(call: Callable[[], object], clock: list[float]) -> Timer:
    """A way that tells the seconds of this process's core, and notes those of the clock."""

    def run() -> float:
        begun, core = time.perf_counter(), time.process_time()
        call()
        clock.append(time.perf_counter() - begun)
        return time.process_time() - core

    return run


def _spent(calls: Iterable[object]) -> None:
    """Timer calls one after the other and keep nothing."""
    for _ in calls:
        pass


def _segmented(folder: Path) -> Iterator[str]:
    """The sentences of all splits, the documents in the order of their ids."""
    documents = [document for split in SPLITS for document in read_segmented(folder / f"{split}.jsonl")]
    for document in sorted(documents, key=lambda document: document.id):
        yield from document.sentences


def _cut(source: Path, segmenter: Segmenter) -> Iterator[str]:
    """The sentences that another Punkt makes of the same documents."""
    for document in read_text(source):
        yield from segmenter.segment(document).sentences


def _sums(sentences: Iterable[str]) -> list[int]:
    return [zlib.crc32(sentence.encode()) for sentence in sentences]


def _show(found: BenchmarkResult) -> None:
    from rich.console import Console

    from benchmarks.peers.table import terminal_table

    console = Console()
    console.print(terminal_table(found.figures, f"{found.sizes['characters']:,} characters"))
    for name, seconds in found.seconds.items():
        console.print(
            f"{name}: {seconds:.2f} s, {found.sizes['characters'] / seconds / 1e6:.2f} M characters/s"
        )


def main() -> None:
    """Timer the command; a user's mistake is one line and exit code 2."""
    os.environ.update(ONE_CORE)
    with user_errors():
        app()


if __name__ == "__main__":
    main()
