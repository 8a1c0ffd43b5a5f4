"""A model beside its export, with more choices than ``quartet export --check`` has: ``python -m benchmarks.parity``.

The word error rates of both at the same weight, how far their scores are apart, the time that each takes, in turns, and
the sizes of their files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import torch
import typer

from quartet.cli.parity import lines, study
from quartet.errors import InputError, user_errors
from quartet.files import write_json
from quartet.paths import check_paths

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def parity(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a trained model.")],
    exported: Annotated[Path, typer.Argument(metavar="EXPORTED", help="What quartet export made of it.")],
    lists: Annotated[Path, typer.Argument(metavar="LISTS", help="N-best lists with references.")],
    input_format: Annotated[
        str | None, typer.Option("--format", help="Of the lists, as of quartet rescore.")
    ] = None,
    lm_weight: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Of the language model [default: 0.5].")
    ] = None,
    tune: Annotated[
        Path | None, typer.Option(help="Lists on which MODEL chooses the weight, instead of --lm-weight.")
    ] = None,
    timed: Annotated[int, typer.Option(min=1, help="Lists that are timed, the first ones.")] = 10,
    rounds: Annotated[int, typer.Option(min=1, help="Measurements of each, in turns.")] = 9,
    threads: Annotated[int, typer.Option(min=0, help="CPU threads; 0: as torch chooses.")] = 0,
    samples: Annotated[int, typer.Option(min=1, help="Resamples of the bootstraps.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Of their random draws.")] = 1,
    json: Annotated[Path | None, typer.Option(help="Where the figures go.")] = None,
) -> None:
    """Rescore the same lists with a model and with its export.

    Example: python -m benchmarks.parity artifacts/sample/models/tta tta-int8 data/nbest/sample-speech/test.json
    """
    if lm_weight is not None and tune is not None:
        raise InputError("--lm-weight, --tune", "the weight is needed once", "give one of them")
    check_paths([("LISTS", lists), ("--tune", tune)], [("--json", json)])
    if threads:
        torch.set_num_threads(threads)
    weight = 0.5 if lm_weight is None else lm_weight
    found = study(
        model,
        exported,
        lists,
        input_format=input_format,
        lm_weight=None if tune else weight,
        tune=tune,
        timed=timed,
        rounds=rounds,
        samples=samples,
        seed=seed,
    )
    if json is not None:
        write_json(json, found)
    print("\n".join(lines(found)))


def main() -> None:
    """Timer the command; a user's mistake is one line and exit code 2."""
    with user_errors():
        app()


if __name__ == "__main__":
    main()
