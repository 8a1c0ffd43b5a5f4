"""A model beside its export: error rates, scores, speed and sizes of both, for ``quartet export --check``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

import quartet
from quartet.errors import InputError
from quartet.nbest.formats import IngestedLists
from quartet.nbest.rerank import Candidates, weight_grid
from quartet.nbest.rescoring import RescoredLists
from quartet.nbest.significance import measure, paired_bootstrap
from quartet.results import Measure, with_interval
from quartet.runtime.clock import Seconds, device_timer, in_turns, median_interval, times_as_long
from quartet.scoring.engine import TextScorer
from quartet.statistics.intervals import LEAST_DRAWS, LEAST_UNITS

#: Files that hold a model's weights.
WEIGHTS = ("model.onnx", "model.safetensors", "best.safetensors")


def study(
    model: Path,
    exported: Path,
    lists: Path | IngestedLists,
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
    difference = paired_bootstrap(theirs, ours, samples, seed)
    return {
        "wer": {
            "model": dataclasses.asdict(measure(ours, samples, seed)),
            "exported": dataclasses.asdict(measure(theirs, samples, seed)),
            "difference": dataclasses.asdict(difference),
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
        (use, name): device_timer(lambda model=model, groups=groups: run(model, groups))  # type: ignore[misc]
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
    few = f"no p: fewer than {LEAST_UNITS} utterances or {LEAST_DRAWS:,} resamples, or too alike"
    tested = few if wer["difference"]["p"] is None else f"p = {wer['difference']['p']:.4f}"
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
    for use, what in (("list", "ms per text of a list"), ("alone", "ms per text alone")):
        times = found["milliseconds"][use]
        rows.append(
            (
                what,
                f"{shown(times['model'])} -> {shown(times['exported'])}: "
                f"{shown(found['times_as_fast'][use])} times as fast",
            )
        )
    rows.append(("weights, MB", f"{sizes['model'] / 1e6:.2f} -> {sizes['exported'] / 1e6:.2f}"))
    return [f"{head:<22}{text}" for head, text in rows]
