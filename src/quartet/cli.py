"""`quartet`: for people who only want a trained model's scores, reranked lists or vectors."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from quartet.errors import USER_ERROR, InputError, system_error

app = typer.Typer(
    help="Score texts, rescore N-best lists and embed texts with a trained Quartet model.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Model = Annotated[Path, typer.Option(help="Folder of a trained model, e.g. artifacts/sample/models/tta.")]
Device = Annotated[str, typer.Option(help="cpu or cuda.")]
Intact = Annotated[bool, typer.Option("--intact", help="A masked model reads the intact input, in one pass.")]


@app.command(epilog="Example: quartet score --model artifacts/sample/models/tta < sentences.txt")
def score(model: Model, device: Device = "cpu", intact: Intact = False) -> None:
    """Print the log-probability of each line of standard input, one a line, in nats (pseudo- for MLM and LAE)."""
    import quartet

    language_model = quartet.load(model, device)
    for value in language_model.score(lines_of_input(), masked=not intact):
        print(f"{value:.6f}")


@app.command(
    epilog="Example: quartet embed --model artifacts/sample/models/tta < sentences.txt > vectors.jsonl"
)
def embed(
    model: Model,
    device: Device = "cpu",
    intact: Intact = False,
    layer: Annotated[str, typer.Option(help="context (last layer) or embed (embedding layer).")] = "context",
) -> None:
    """Print a vector for each line of standard input, as a JSON list: the mean over its tokens."""
    if layer not in ("context", "embed"):
        raise InputError("--layer", f"{layer!r} is neither context nor embed")
    import quartet

    vectors = quartet.load(model, device).embed(lines_of_input(), layer, masked=not intact)  # type: ignore[arg-type]
    for vector in vectors:
        print(json.dumps([round(float(value), 6) for value in vector]))


@app.command(
    epilog="Example: quartet rescore --model artifacts/sample/models/tta "
    "--nbest test.json --tune dev.json --out best.jsonl"
)
def rescore(
    model: Model,
    nbest: Annotated[Path, typer.Option(help="N-best lists to rescore.")],
    out: Annotated[Path, typer.Option(help="Where the reranked lists go, as JSON lines.")],
    tune: Annotated[
        Path | None, typer.Option(help="Lists with references on which the weight is chosen.")
    ] = None,
    lm_weight: Annotated[
        float | None, typer.Option(help="The weight w in (1 - w) * first pass + w * language model.")
    ] = None,
    input_format: Annotated[str, typer.Option("--format", help="Format of the lists.")] = "mlm-scoring",
    device: Device = "cpu",
    intact: Intact = False,
    lowercase: Annotated[bool, typer.Option(help="Lower the case of hypotheses and references.")] = True,
    strip_punctuation: Annotated[bool, typer.Option(help="Drop their punctuation.")] = True,
) -> None:
    """Rerank N-best lists, with a weight that is given or chosen on other lists."""
    import quartet
    from quartet.nbest.formats import READERS
    from quartet.nbest.normalise import Normalisation
    from quartet.nbest.rerank import Candidates, check_tunable, weight_grid
    from quartet.nbest.rescored import write_rescored
    from quartet.nbest.scores import score_lists

    if (tune is None) == (lm_weight is None):
        raise InputError(
            "quartet rescore", "the weight is needed once", "give either --tune LISTS or --lm-weight W"
        )
    if lm_weight is not None and not 0 <= lm_weight <= 1:
        raise InputError("--lm-weight", f"{lm_weight} is not between 0 and 1")
    if input_format not in READERS:
        raise InputError(
            "--format", f"unknown format {input_format!r}", f"choose one of {', '.join(sorted(READERS))}"
        )
    normalise = Normalisation(lowercase, strip_punctuation)
    files = [path for path in (nbest, tune) if path is not None]
    lists = {path: normalise.lists(READERS[input_format](path)) for path in files}
    language_model = quartet.load(model, device)
    candidates = {
        path: Candidates(
            read, score_lists(read, lambda texts: language_model.score(texts, masked=not intact))
        )
        for path, read in lists.items()
    }
    weight = lm_weight
    if tune is not None:
        check_tunable(candidates[tune], candidates[nbest])
        weight = candidates[tune].curve(weight_grid(0.0, 1.0, 0.05)).best_weight
    assert weight is not None
    write_rescored(out, candidates[nbest], weight)
    message = f"{len(lists[nbest])} lists, weight {weight:g} -> {out}"
    if candidates[nbest].table.referenced.any():
        before, after = candidates[nbest].first_pass_selection.wer, candidates[nbest].select(weight).wer
        message += f"; WER {100 * before:.2f} % -> {100 * after:.2f} %"
    print(message, file=sys.stderr)


def lines_of_input() -> list[str]:
    """The lines of standard input, without their ends.

    Raises:
        InputError: a line is not UTF-8.
    """
    lines = []
    for number, raw in enumerate(sys.stdin.buffer, start=1):
        try:
            lines.append(raw.decode("utf-8").rstrip("\r\n"))
        except UnicodeDecodeError as error:
            raise InputError(f"standard input, line {number}", f"not UTF-8 ({error.reason})") from error
    return lines


def main(arguments: list[str] | None = None) -> None:
    """Run the command; a user's mistake is one line on stderr and exit code 2."""
    with user_errors():
        app(arguments)


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn a user's error into its line (QUARTET_DEBUG=1 shows where it came from)."""
    try:
        yield
    except (InputError, OSError) as error:
        known = error if isinstance(error, InputError) else system_error(error)
        if known is None or os.environ.get("QUARTET_DEBUG", "") not in ("", "0"):
            raise
        print(f"error: {known}", file=sys.stderr)
        sys.exit(USER_ERROR)
