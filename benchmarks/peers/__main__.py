"""The command ``python -m benchmarks.peers``: prints ratios, and writes them as one JSON object."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console

from benchmarks.peers import (
    hypotheses,
    minicons,
    paper_utilisation,
    pretraining,
    recurrent,
    sentence,
    table,
    utilisation,
    vectors,
)
from benchmarks.peers.benchmark_result import BenchmarkFigure, BenchmarkResult
from benchmarks.peers.models import DEMANDED, SHAPES
from benchmarks.peers.setup import LENGTHS, BenchmarkSetup
from quartet.errors import InputError, user_errors
from quartet.hardware.memory import keep_freed_memory
from quartet.hardware.processor import processor_kind
from quartet.scoring.device import check_device
from quartet.text.documents import SentencesOf
from quartet.text.plain import lines_of


@dataclass(frozen=True)
class Benchmark:
    """One row of the command.

    Attributes:
        peer: it needs the peers' environment.
        device: it is asked for by name, or run where the device is this one.
    """

    run: Callable[[BenchmarkSetup], BenchmarkResult]
    title: str
    peer: bool = False
    device: str | None = None


class BenchmarkName(StrEnum):
    """What can be asked for."""

    sentence = "sentence"
    list = "list"
    products = "products"
    growth = "growth"
    minicons = "minicons"
    vectors = "vectors"
    trainer = "trainer"
    peak = "peak"
    segatron = "segatron"
    card_spans = "card-spans"
    card_sentences = "card-sentences"
    card_streams = "card-streams"


#: What something is demanded of on a GPU, the most important first; the other rows are reported there.
ON_GPU = (
    BenchmarkName.card_spans,
    BenchmarkName.card_sentences,
    BenchmarkName.card_streams,
    BenchmarkName.list,
    BenchmarkName.products,
    BenchmarkName.trainer,
    BenchmarkName.vectors,
)

STUDIES = {
    BenchmarkName.sentence: Benchmark(sentence.one_sentence, "one sentence, T-TA and biLM"),
    BenchmarkName.list: Benchmark(hypotheses.study, "an N-best list, T-TA and biLM"),
    BenchmarkName.products: Benchmark(hypotheses.products, "rescoring and its own matrix products"),
    BenchmarkName.growth: Benchmark(sentence.growth, "growth with the length of a sentence"),
    BenchmarkName.minicons: Benchmark(minicons.study, "masked scores, minicons", peer=True),
    BenchmarkName.vectors: Benchmark(vectors.study, "sentence vectors, sentence-transformers", peer=True),
    BenchmarkName.trainer: Benchmark(
        pretraining.study, "pretraining, the Trainer of transformers", peer=True
    ),
    BenchmarkName.peak: Benchmark(utilisation.study, "training and the peak of matrix products"),
    BenchmarkName.segatron: Benchmark(recurrent.study, "Segatron-XL and Transformer-XL"),
    BenchmarkName.card_spans: Benchmark(
        paper_utilisation.STUDIES["spans"], "SegaBERT on a GPU and its peak", device="cuda"
    ),
    BenchmarkName.card_sentences: Benchmark(
        paper_utilisation.STUDIES["sentences"], "the T-TA paper's on a GPU and its peak", device="cuda"
    ),
    BenchmarkName.card_streams: Benchmark(
        paper_utilisation.STUDIES["streams"], "Transformer-XL on a GPU and its peak", device="cuda"
    ),
}


#: Texts that a GPU rescores: fewer do not fill it.
LONG_LIST = 1000


class TrainingPrecisionName(StrEnum):
    """Of training."""

    fp32 = "fp32"
    bf16 = "bf16"


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def peers(
    texts: Annotated[Path, typer.Option(help="Sentences, one a line; or a .jsonl of segmented documents.")],
    only: Annotated[
        list[BenchmarkName] | None,
        typer.Option(
            help="A row to run; several: in their order. None: all, on a GPU those that something is demanded of first."
        ),
    ] = None,
    peers_python: Annotated[
        Path | None,
        typer.Option(
            help="The python of the environment of benchmarks/requirements.txt; none: no row with a peer."
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    shape: Annotated[str, typer.Option(help=f"Sizes of the random models: {', '.join(SHAPES)}.")] = DEMANDED,
    words: Annotated[
        int, typer.Option(min=1, help="Words of the sentence, and of each text of the list.")
    ] = 20,
    hypotheses: Annotated[int, typer.Option(min=1, help="Texts of the list.")] = 50,
    rescored: Annotated[
        int | None,
        typer.Option(min=1, help="Texts of the row products. None: as many as the list has, 1,000 on a GPU."),
    ] = None,
    longest: Annotated[
        int, typer.Option(min=5, help="Words of the longest sentence of the row growth.")
    ] = 100,
    timed: Annotated[
        int, typer.Option(min=1, help="Sentences that minicons and sentence-transformers read.")
    ] = 200,
    trained: Annotated[int, typer.Option(min=8, help="Sentences of an epoch of training.")] = 1024,
    batch_size: Annotated[int, typer.Option(min=1, help="Sentences of a training step.")] = 64,
    parts: Annotated[
        int,
        typer.Option(
            min=1,
            help="The row peak trains in steps of so many parts, of --batch-size sentences each. 4 times 64 are about "
            "the tokens of the paper's 64 x 128.",
        ),
    ] = 4,
    precision: Annotated[
        list[TrainingPrecisionName] | None,
        typer.Option(help="Of training; several: each. None: fp32, and bf16 where the device has it."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Measurements of each, in turns.")] = 5,
    minutes: Annotated[
        float, typer.Option(min=0, help="Nothing is begun after so many, no row and no training; 0: all is.")
    ] = 0,
    threads: Annotated[int, typer.Option(min=0, help="CPU threads; 0: all cores.")] = 0,
    json: Annotated[
        Path | None, typer.Option(help="Where the figures go; rows that it has from earlier runs stay.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(help=f"A page whose table, between {table.BEGIN} and {table.END}, they make."),
    ] = None,
) -> None:
    """Time Quartet beside other libraries: the same weights, the same texts, the same threads, in turns.

    Example: python -m benchmarks.peers --texts sentences.txt --peers-python .venv-peers/bin/python
    """
    if threads:
        torch.set_num_threads(threads)
    check_device(device)
    if shape not in SHAPES:
        raise InputError("--shape", f"{shape} is not known", f"take one of {', '.join(SHAPES)}")
    on_gpu = device.startswith("cuda")
    chosen = _chosen(only or [], peers_python, device)
    ends = time.perf_counter() + 60 * minutes if minutes else float("inf")
    console = Console()
    where = table.machine(device)
    console.print(", ".join(f"{name} {value}" for name, value in where.items()))
    record = ResultsFile(
        json, where, rounds, {name for name in BenchmarkName if _is_demanded(name, shape, device)}
    )
    with tempfile.TemporaryDirectory() as folder:
        setup = BenchmarkSetup(
            sentences=_sentences(texts),
            shape=SHAPES[shape],
            folder=Path(folder),
            python=peers_python,
            device=device,
            words=words,
            hypotheses=hypotheses,
            rescored=rescored or (LONG_LIST if on_gpu else hypotheses),
            lengths=[length for length in LENGTHS if length <= longest],
            timed=timed,
            trained=trained,
            batch_size=batch_size,
            parts=parts,
            precisions=[one.value for one in precision or _precisions(device)],
            rounds=rounds,
            ends=ends,
            tell=record,
        )
        for name in chosen:
            if setup.is_over:
                console.print(f"{name}: no time left")
                continue
            record.begin(name)
            record(STUDIES[name].run(setup))
            figures = [BenchmarkFigure.from_json(row) for row in record.found[name]["figures"]]
            console.print(table.terminal_table(figures, f"{name}: {STUDIES[name].title}"))
    if markdown is not None:
        table.write_markdown(markdown, record.found if json is None else table.read_studies(json))


class ResultsFile:
    """What the rows have found, in a file as it comes: a machine that is only lent may be gone before the end.

    Attributes:
        found: by row.
    """

    def __init__(
        self, path: Path | None, where: dict[str, str], rounds: int, demanded: set[BenchmarkName]
    ) -> None:
        """Args:
        path: of the file; None: there is none.
        where: what computes.
        demanded: rows of which something is demanded; of the others the figures are reported.
        """
        self.found: dict[str, dict[str, Any]] = {}
        self._path = path
        self._where = where
        self._rounds = rounds
        self._demanded = demanded
        self._row = BenchmarkName.sentence
        self._begun = 0.0

    def begin(self, row: BenchmarkName) -> None:
        """What comes next is of this row."""
        self._row, self._begun = row, time.perf_counter()

    def __call__(self, outcome: BenchmarkResult) -> None:
        """Keep what the row has found so far."""
        if self._row not in self._demanded:
            outcome = outcome.reported()
        minutes = (time.perf_counter() - self._begun) / 60
        self.found[self._row] = table.record(outcome, self._where, self._rounds, minutes)
        if self._path is not None:
            table.write_study(self._path, self._row, self.found[self._row])


def _is_demanded(row: BenchmarkName, shape: str, device: str) -> bool:
    """Whether the project asks something of a row."""
    if not device.startswith("cuda"):
        return shape == DEMANDED
    return row in ON_GPU and (shape == DEMANDED or (row, shape) == (BenchmarkName.trainer, "bert-base"))


def _chosen(only: list[BenchmarkName], python: Path | None, device: str) -> list[BenchmarkName]:
    """The rows to run; those without their peer are named and left out, unless they were asked for.

    Raises:
        InputError: a row that was asked for has no peer.
    """
    every = (
        [*ON_GPU, *(name for name in BenchmarkName if name not in ON_GPU)]
        if device.startswith("cuda")
        else list(BenchmarkName)
    )
    rows = only or [name for name in every if STUDIES[name].device in (None, device)]
    absent = [name for name in rows if STUDIES[name].peer and python is None]
    if only and absent:
        raise InputError("--only", f"{', '.join(absent)}: there is no peer", "give --peers-python")
    if absent:
        typer.echo(f"left out, for want of --peers-python: {', '.join(absent)}", err=True)
    return [name for name in rows if name not in absent]


def _sentences(path: Path) -> list[str]:
    """The sentences of a file, empty ones left out.

    Raises:
        InputError: there is none.
    """
    lines = SentencesOf(path) if path.suffix == ".jsonl" else lines_of(path)
    sentences = [line.strip() for line in lines if line.strip()]
    if not sentences:
        raise InputError(path, "holds no sentence")
    return sentences


def _precisions(device: str) -> list[TrainingPrecisionName]:
    """fp32, and bf16 where the device computes with it and does not only imitate it."""
    on_gpu = device.startswith("cuda")
    has = torch.cuda.is_bf16_supported(including_emulation=False) if on_gpu else processor_kind().has_bfloat16
    return [TrainingPrecisionName.fp32, TrainingPrecisionName.bf16] if has else [TrainingPrecisionName.fp32]


def main() -> None:
    """Timer the command; a user's mistake is one line and exit code 2."""
    keep_freed_memory()
    with user_errors():
        app()


if __name__ == "__main__":
    main()
