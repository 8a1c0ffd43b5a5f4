"""`quartet export`: a trained model in a form for those who only score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quartet.config.choices import WeightsChoice
from quartet.errors import InputError
from quartet.paths import check_paths
from quartet.user_files import STDOUT, dash_is_stdin

if TYPE_CHECKING:
    from quartet.export.card import Form
    from quartet.export.writing import ExportResult


def export(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a trained model.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write; an older export is replaced.")],
    onnx: Annotated[bool, typer.Option("--onnx", help="An ONNX graph, for onnxruntime on a CPU.")] = False,
    int8: Annotated[
        bool, typer.Option("--int8", help="With --onnx: matrices of 8 bits, a quarter of the size.")
    ] = False,
    fp16: Annotated[
        bool, typer.Option("--fp16", help="Weights in half precision, for torch: half of the size.")
    ] = False,
    weights: Annotated[
        WeightsChoice | None,
        typer.Option(help="The last or the best weights [default: as the training chose]."),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            help="N-best lists with references: compare both models' WER, scores and speed.",
            callback=dash_is_stdin,
            readable=False,
        ),
    ] = None,
    lm_weight: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="For --check: the language model's weight.")
    ] = 0.5,
) -> None:
    """Write a trained model as a folder that needs less: score, embed and rescore take it as --model.

    In a clone of the repository `python -m benchmarks.parity` compares with more choices.
    """
    form = form_of(onnx, int8, fp16)
    check_paths([("--check", check)], [("standard output", STDOUT)], model=model, folder=("OUT", out))
    from quartet.export.writing import export as write
    from quartet.hugging_face import CONFIG
    from quartet.model_folders import is_trained
    from quartet.nbest.formats import NBestFiles, read

    if (model / CONFIG).is_file() and not is_trained(model):
        raise InputError(
            model, "was not trained here: it is no model to export", "give it to --model of score as it is"
        )
    lists = None if check is None else read(None, NBestFiles(check))
    if lists is not None and all(one.reference is None for one in lists.lists):
        raise InputError("--check", f"{check}: no list has a reference", "give lists with references")
    print(summary(write(model, out, form, weights)))
    if lists is not None:
        from quartet.cli.parity import lines, study

        print("\n".join(lines(study(model, out, lists, lm_weight=lm_weight))))


def form_of(onnx: bool, int8: bool, fp16: bool) -> Form:
    """The form that the options name.

    Raises:
        InputError: they name none, or two.
    """
    if onnx and fp16:
        raise InputError("quartet export", "--onnx and --fp16 are two forms", "give one of them")
    if fp16 and int8:
        raise InputError("quartet export", "--int8 is a form of --onnx", "leave --fp16 out")
    if fp16:
        return "fp16"
    if not onnx:
        raise InputError("quartet export", "no form is named", "give --onnx, --onnx --int8 or --fp16")
    return "onnx-int8" if int8 else "onnx"


def summary(found: ExportResult) -> str:
    """What was written, in a line."""
    apart = found.card.difference
    return (
        f"{found.file}: {found.bytes / 1e6:.2f} MB, of {found.source_bytes / 1e6:.2f} MB of weights; "
        f"log-probabilities differ by {apart.mean:.2g} nats per token, at most {apart.largest:.2g} "
        f"({apart.tokens:,} tokens of made-up texts)"
    )
