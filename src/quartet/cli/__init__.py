"""`quartet`: for people who only want a trained model's scores, reranked lists or vectors. One file a command."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from quartet import __version__
from quartet.cli.compare import compare
from quartet.cli.embed import embed
from quartet.cli.export import export
from quartet.cli.options import OnceCommand
from quartet.cli.rescore import rescore
from quartet.cli.score import score
from quartet.errors import user_errors
from quartet.hardware.memory import keep_freed_memory
from quartet.hardware.processor import set_kind
from quartet.user_files import flushed_stdout

app = typer.Typer(
    help="Score texts, rescore N-best lists and embed texts with a trained Quartet model. "
    "Exit code 0: done; 2: a mistake in what was given, said in one line.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # in narrow terminals rich cuts the names of options
)


def print_version(asked: bool) -> None:
    """Print the installed version, and end."""
    if asked:
        typer.echo(f"quartet {__version__}")
        raise typer.Exit


@app.callback()
def before_all(
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Options that need no command. The group's help is `app`'s."""


app.command(
    cls=OnceCommand, epilog="Example: quartet score --model artifacts/sample/models/tta < sentences.txt"
)(score)
app.command(
    cls=OnceCommand,
    epilog="Example: quartet embed --model artifacts/sample/models/tta < sentences.txt > vectors.jsonl",
)(embed)
app.command(
    cls=OnceCommand,
    epilog="Example: quartet rescore --model artifacts/sample/models/tta "
    "--nbest test.json --tune dev.json --out best.jsonl",
)(rescore)
app.command(cls=OnceCommand, epilog="Example: quartet compare first-pass.jsonl tta.jsonl")(compare)
app.command(
    cls=OnceCommand, epilog="Example: quartet export artifacts/sample/models/tta tta-int8 --onnx --int8"
)(export)


def main(arguments: list[str] | None = None) -> None:
    """Run the command; a user's mistake is one line on stderr and exit code 2."""
    keep_freed_memory()
    settle_streams()
    with user_errors(), flushed_stdout():
        set_kind()
        app(arguments)


def settle_streams() -> None:
    """Let standard streams that are closed or of few letters end in no traceback.

    A closed one gets the null device, so that no file that is opened later takes its number and what is written to it.
    What standard output has no letters for is written out, as \\xe9.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # for the whole process
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
