"""What the commands share: options with one meaning everywhere, texts from standard input, a progress bar."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from quartet.config.choices import BleuTokenization, MetricName, ScoringPrecision, UnknownHandling
from quartet.errors import InputError
from quartet.paths import check_paths
from quartet.user_files import STDOUT, dash_is_stdin

if TYPE_CHECKING:
    from quartet.scoring.cache import ScoreCache
    from quartet.scoring.unknown import UnknownShare


class OnceCommand(TyperCommand):
    """A command that refuses an option given twice where it takes one value: else the last counts without a word."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As of any command.

        Raises:
            InputError: an option of one value is given twice.
        """
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for option, times in Counter(given).items():
            if times > 1 and not option.multiple and option.nargs == 1 and option.opts[0].startswith("-"):
                raise InputError(
                    option.opts[-1], f"is given {times} times and takes one value", "give it once"
                )
        return super().parse_args(ctx, args)


ModelOption = Annotated[
    Path, typer.Option(help="Folder of a trained model, e.g. artifacts/sample/models/tta.")
]
ScorerOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Folder of a trained model, an n-gram model or one of Hugging Face, owner/name@revision on its hub, or an "
        "ARPA file or KenLM's binary. "
        "None: the T-TA that comes with Quartet (weights/).",
    ),
]
TextsArgument = Annotated[
    Path,
    typer.Argument(
        metavar="[TEXTS]",
        help="A file with a text a line; -: standard input.",
        callback=dash_is_stdin,
        readable=False,
    ),
]
CacheOption = Annotated[
    Path | None,
    typer.Option(
        help="File that keeps scores: what was scored before, by a run that was killed too, is not again.",
        readable=False,
    ),
]
DeviceOption = Annotated[str, typer.Option(help="cpu or cuda.")]


PrecisionOption = Annotated[
    ScoringPrecision,
    typer.Option(help="Of a model that was trained here. bf16 is quicker on a GPU, and less exact."),
]
IntactOption = Annotated[
    bool, typer.Option("--intact", help="A masked model reads the intact input, in one pass.")
]


UnknownOption = Annotated[
    UnknownHandling,
    typer.Option(
        "--unknown",
        help="What is done with tokens that the model does not know. spread: each costs its [UNK] and its characters; "
        "warn: its [UNK] alone; error: nothing is scored.",
    ),
]


MetricOption = Annotated[MetricName, typer.Option("--metric", help="What choices are judged by.")]
BleuTokenizationOption = Annotated[
    BleuTokenization, typer.Option("--bleu-tokenize", help="sacrebleu's tokenizer, for BLEU.")
]
BleuLowercaseOption = Annotated[
    bool, typer.Option("--bleu-lowercase", help="sacrebleu lowers the case, for BLEU only.")
]


def check_scoring(texts: Path, model: str | Path | None, cache: Path | None = None) -> None:
    """Look at the places of a command that prints what it finds for each line.

    Raises:
        InputError: as `quartet.paths.check_paths`.
    """
    check_paths([("TEXTS", texts)], [("standard output", STDOUT)], cache, model)


def lines_of_input(texts: Path) -> list[str]:
    """The lines of a file, without their ends.

    Raises:
        InputError: a line is not UTF-8.
    """
    from quartet.nbest.formats import text_file

    lines = []
    for _, line in text_file.lines(texts, closed=False):
        if isinstance(line, InputError):
            raise line
        lines.append(line)
    return lines


@contextmanager
def progress(description: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, told of (done, in all); nothing where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as shown:
        task = shown.add_task(description, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


def say_unknown(model: str, share: UnknownShare | None, unknown: UnknownHandling) -> None:
    """A line on stderr where the model does not know some tokens."""
    if share is not None and share.tokens:
        spread = unknown == "spread" and share.spread
        how = "each costs its characters too" if spread else "each has the score of [UNK]"
        print(f"{model}: {share}; {how} (--unknown)", file=sys.stderr)


@contextmanager
def open_cache(cache: Path | None) -> Iterator[ScoreCache | None]:
    """The cache of a path, open for the block's time; None without a path."""
    from quartet.scoring.cache import ScoreCache

    if cache is None:
        yield None
    else:
        with ScoreCache(cache) as found:
            yield found
