"""The command ``python -m quartet.runtime.peers``: prints ratios, and writes them as one JSON object."""

from __future__ import annotations

import platform
import tempfile
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.table import Table

from quartet.cli import user_errors
from quartet.errors import InputError
from quartet.files import write_json
from quartet.pretrained import transformers
from quartet.runtime.peers import minicons, ours
from quartet.runtime.peers.exported import SHAPES, filled_tokenizer, save_bert
from quartet.text.plain import lines_of

#: What minicons is given at once where nothing else is asked for: it pads, so fewer are quicker.
BATCHES = (1, 4, 10)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def peers(
    texts: Annotated[Path, typer.Option(help="Sentences, one a line.")],
    minicons_python: Annotated[
        Path | None,
        typer.Option(help="The python of an environment that has minicons; none: it is left out."),
    ] = None,
    shape: Annotated[
        str, typer.Option(help=f"Sizes of the random models: {', '.join(SHAPES)}.")
    ] = "tta-paper",
    model: Annotated[
        Path | None, typer.Option(help="A model of Hugging Face in the place of a random BERT.")
    ] = None,
    timed: Annotated[int, typer.Option(min=1, help="Sentences that are timed against minicons.")] = 40,
    batch: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Sentences that minicons reads at once; several: each is timed."),
    ] = None,
    words: Annotated[int, typer.Option(min=1, help="Words of each text of our own list.")] = 20,
    hypotheses: Annotated[int, typer.Option(min=1, help="Texts of our own list.")] = 50,
    rounds: Annotated[int, typer.Option(min=1, help="Measurements of each, in turns.")] = 5,
    threads: Annotated[int, typer.Option(min=0, help="CPU threads; 0: all cores.")] = 0,
    json: Annotated[Path | None, typer.Option(help="Where the figures go.")] = None,
) -> None:
    """Time Quartet beside other libraries: the same weights, the same texts, the same threads, in turns.

    Example: python -m quartet.runtime.peers --texts sentences.txt --minicons-python peers/bin/python --json ratios.json
    """
    if threads:
        torch.set_num_threads(threads)
    sentences = [line for line in lines_of(texts) if line.strip()]
    sizes = SHAPES.get(shape)
    if sizes is None:
        raise InputError("--shape", f"{shape} is not known", f"take one of {', '.join(SHAPES)}")
    found: dict[str, Any] = {
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "torch": str(torch.__version__),
        "transformers": str(transformers().__version__),
    }
    running = " ".join(sentences).split()
    if len(running) < words * hypotheses:
        raise InputError(
            texts, f"{len(running)} words, {words * hypotheses} are needed", "take fewer --hypotheses"
        )
    nbest = [" ".join(running[at * words : (at + 1) * words]) for at in range(hypotheses)]
    tokenizer = filled_tokenizer(sentences, sizes.vocabulary)
    found["ours"] = ours.study(sizes, tokenizer, nbest, rounds)
    if minicons_python is not None:
        with tempfile.TemporaryDirectory() as temporary:
            folder = model or Path(temporary) / shape
            if model is None:
                save_bert(folder, sizes, tokenizer)
            found["minicons"] = minicons.study(
                minicons_python, folder, sentences, timed, batch or BATCHES, rounds
            )
    if json is not None:
        write_json(json, found)
    _show(found)


def _show(found: dict[str, Any]) -> None:
    """A table of all ratios."""
    table = Table("ratio of seconds", "median", "least", "largest", title=found["machine"])
    for study in ("ours", "minicons"):
        for name, ratio in found.get(study, {}).get("ratios", {}).items():
            table.add_row(name, *(f"{ratio[key]:.2f}" for key in ("median", "least", "largest")))
    Console().print(table)


def main() -> None:
    """Run the command; a user's mistake is one line and exit code 2."""
    with user_errors():
        app()


if __name__ == "__main__":
    main()
