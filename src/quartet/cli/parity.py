"""A model beside its export: ``python -m quartet.cli.parity MODEL EXPORTED LISTS``.

The word error rates of both at the same weight, how far their scores are apart, the time that each takes, in turns, and
the sizes of their files.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer

import quartet
from quartet.errors import InputError, user_errors
from quartet.evaluation.intervals import LEAST_UNITS
from quartet.files import write_json
from quartet.nbest.formats import Reading
from quartet.nbest.rerank import Candidates, weight_grid
from quartet.nbest.rescoring import RescoredLists
from quartet.nbest.significance import measure, paired_bootstrap
from quartet.paths import check_paths
from quartet.results import Measure, with_interval
from quartet.runtime.clock import Seconds, clocked, in_turns
from quartet.runtime.measures import median_interval, times_as_long
from quartet.scoring.engine import TextScorer

#: Files that hold a model's weights.
WEIGHTS = ("model.onnx", "model.safetensors", "best.safetensors")

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

    Example: python -m quartet.cli.parity artifacts/sample/models/tta tta-int8 data/nbest/sample-speech/test.json
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


def study(
    model: Path,
    exported: Path,
    lists: Path | Reading,
    *,
    input_format: str | None = None,
    lm_weight: float | None = None,
    tune: Path | None = None,
    timed: int = 10,
    rounds: int = 9,
    samples: int = 10_000,
    seed: int = 1,
) -> dict[str, Any]:
    """Everything that is printed, as one object.

    Args:
        model, exported: folders that ``quartet.load`` opens.
        lm_weight: None: the one that `model` chooses on `tune`.
        timed: lists that are timed.
        rounds: of timing.

    Returns:
        ``wer``: of both in %, and their paired difference; ``wer_at_any_weight``: the largest difference at a weight of
        0, 0.05, ... 1; ``choices``: lists for which they chose different texts; ``scores``: differences in nats of a
        text; ``milliseconds`` a text and ``times_as_fast``, by use; ``bytes`` of weights.

    Raises:
        InputError: a folder holds no model, the lists are malformed, or no list has a reference.
    """
    both = [quartet.load(folder) for folder in (model, exported)]
    first = quartet.rescore(both[0], lists, weight=lm_weight, tune=tune, format=input_format)
    if first.first_pass is None:
        raise InputError(
            lists if isinstance(lists, Path) else "the lists",
            "no list has a reference",
            "give lists with references",
        )
    second = quartet.rescore(both[1], lists, weight=first.weight, format=input_format)
    texts = [[each.text for each in one.hypotheses] for one in first.candidates.lists[:timed]]
    return {
        "model": {"folder": str(model), "scale": both[0].scale},
        "exported": {"folder": str(exported), "scale": both[1].scale},
        "threads": torch.get_num_threads(),
        "lists": {
            "path": str(lists) if isinstance(lists, Path) else None,
            "lists": len(first),
            "texts": len(first.candidates.lm),
        },
        "weight": first.weight,
        **_outcome(first, second, samples, seed),
        **_speed(both, texts, rounds, samples, seed),
        "bytes": {"model": _size(model), "exported": _size(exported)},
    }


def _outcome(first: RescoredLists, second: RescoredLists, samples: int, seed: int) -> dict[str, Any]:
    ours, theirs = (each.candidates.select(first.weight) for each in (first, second))
    apart = np.abs(first.candidates.lm - second.candidates.lm)
    compared = paired_bootstrap(theirs, ours, samples, seed)
    return {
        "wer": {
            "model": dataclasses.asdict(measure(ours, samples, seed)),
            "exported": dataclasses.asdict(measure(theirs, samples, seed)),
            "difference": dataclasses.asdict(compared.difference),
            "p_value": compared.p_value,
            "first_pass": first.first_pass,
        },
        "wer_at_any_weight": _at_any_weight(first.candidates, second.candidates),
        "choices": int((ours.chosen != theirs.chosen).sum()),
        "scores": {
            "largest_difference": float(apart.max()),
            "mean_difference": float(apart.mean()),
            "median_score": float(np.median(first.candidates.lm)),
        },
    }


def _at_any_weight(first: Candidates, second: Candidates) -> float:
    """The largest difference of the two curves."""
    weights = weight_grid(0.0, 1.0, 0.05)
    return float(np.abs(first.curve(weights).values - second.curve(weights).values).max())


def _speed(
    both: Sequence[TextScorer], texts: Sequence[Sequence[str]], rounds: int, samples: int, seed: int
) -> dict[str, Any]:
    """Time whole lists, and the first text of each alone, all in turns."""
    alone = [[one[0]] for one in texts]
    uses = {"list": texts, "alone": alone}
    names = ("model", "exported")

    def run(model: TextScorer, groups: Sequence[Sequence[str]]) -> None:
        for group in groups:
            model.token_logprobs(group)

    ways = {
        (use, name): clocked(lambda model=model, groups=groups: run(model, groups))  # type: ignore[misc]
        for use, groups in uses.items()
        for name, model in zip(names, both, strict=True)
    }
    seconds: dict[tuple[str, str], Seconds] = in_turns(ways, rounds)
    counts = {use: sum(len(group) for group in groups) for use, groups in uses.items()}

    def milliseconds(use: str, name: str) -> dict[str, Any]:
        return dataclasses.asdict(median_interval(1000 * seconds[use, name] / counts[use]))

    return {
        "milliseconds": {use: {name: milliseconds(use, name) for name in names} for use in uses},
        "times_as_fast": {
            use: dataclasses.asdict(
                times_as_long(seconds[use, "model"], seconds[use, "exported"], samples, seed)
            )
            for use in uses
        },
        "timed": counts,
    }


def _size(folder: Path) -> int:
    """Bytes of the smallest file of weights in a folder: a training keeps two of one size."""
    return min((folder / name).stat().st_size for name in WEIGHTS if (folder / name).is_file())


def lines(found: dict[str, Any]) -> list[str]:
    """The figures in words, a fact a line."""

    def shown(figure: dict[str, Any], sign: bool = False) -> str:
        return with_interval(Measure(**figure), sign)

    wer, scores, sizes = found["wer"], found["scores"], found["bytes"]
    few = f"no p: fewer than {LEAST_UNITS} utterances, or none that differ"
    tested = few if wer["p_value"] is None else f"p = {wer['p_value']:.4f}"
    rows = [
        ("weight", f"{found['weight']:g}, {found['lists']['lists']} lists, {found['threads']} threads"),
        ("WER, %", f"{shown(wer['model'])} -> {shown(wer['exported'])}; first pass {wer['first_pass']:.2f}"),
        ("difference", f"{shown(wer['difference'], sign=True)}, {tested}"),
        ("at any weight", f"{found['wer_at_any_weight']:.2f} at most"),
        ("other choices", f"{found['choices']} lists"),
        (
            "score of a text",
            f"differs by {scores['mean_difference']:.2g} nats, at most {scores['largest_difference']:.2g} "
            f"(median score {scores['median_score']:.1f})",
        ),
    ]
    for use, what in (("list", "ms a text of a list"), ("alone", "ms a text alone")):
        times = found["milliseconds"][use]
        rows.append(
            (
                what,
                f"{shown(times['model'])} -> {shown(times['exported'])}: "
                f"{shown(found['times_as_fast'][use])} times as fast",
            )
        )
    rows.append(("weights, MB", f"{sizes['model'] / 1e6:.2f} -> {sizes['exported'] / 1e6:.2f}"))
    return [f"{head:<21}{text}" for head, text in rows]


def main() -> None:
    """Run the command; a user's mistake is one line and exit code 2."""
    with user_errors():
        app()


if __name__ == "__main__":
    main()
