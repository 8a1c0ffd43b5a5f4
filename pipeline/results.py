"""From measures to rows of results."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.layout import Layout
from pipeline.params import Params
from quartet.files import sha256
from quartet.results import Measure, Result, read_results


def rows_of(
    measures: Mapping[str, Measure],
    *,
    params: Params,
    table: str,
    model: str,
    reading: str = "",
    versus: str = "",
    dataset: str,
    split: str,
    device: str,
    scale: str,
    seed: int | None = None,
) -> list[Result]:
    """One row a metric: ``{"wer": Measure(…)}`` with what it is of.

    Args:
        device: the device that computed it, ``cpu`` or ``cuda``.
        scale: the model's ``scale`` line, or a baseline's own.
        seed: the training seed; None for what was not trained.
    """
    return [
        Result(
            experiment=params.experiment,
            table=table,
            model=model,
            reading=reading,
            versus=versus,
            dataset=dataset,
            split=split,
            metric=metric,
            value=measure.value,
            n=measure.n,
            ci_low=measure.ci_low,
            ci_high=measure.ci_high,
            seed=seed,
            device=device,
            scale=scale,
        )
        for metric, measure in measures.items()
    ]


def timings(layout: Layout) -> list[Result]:
    """The run-time study's rows, which differ from run to run; none where it was made on another machine."""
    path = layout.run_times(sha256(layout.timed))
    return read_results(path) if path.is_file() else []
