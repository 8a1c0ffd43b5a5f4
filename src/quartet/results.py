"""One record shape for every figure: what was measured, on what, with what uncertainty and at what scale."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from quartet.errors import InputError, first_mistake
from quartet.files import read_jsonl, write_jsonl


@dataclass(frozen=True)
class Measure:
    """A value with the number of items behind it and a 95 % interval (None where none can be given).

    Attributes:
        value, n, ci_low, ci_high, units, unit, p: as of a :class:`Result`.
    """

    value: float
    n: int
    ci_low: float | None = None
    ci_high: float | None = None
    units: int | None = None
    unit: str = ""
    p: float | None = None

    def __post_init__(self) -> None:
        for name in ("value", "ci_low", "ci_high", "p"):
            number = getattr(self, name)
            if number is not None and not math.isfinite(number):
                raise ValueError(f"a measure's {name} is {number}: it is not a result")

    @property
    def percent(self) -> Measure:
        """A rate as a percentage."""
        low, high = (None if end is None else 100 * end for end in (self.ci_low, self.ci_high))
        return dataclasses.replace(self, value=100 * self.value, ci_low=low, ci_high=high)


#: The main reading of each kind of evaluation: the one by which a model is compared with all readings of the others.
MAIN_READINGS = ("", "context", "nli")
#: Readings of another input, or of copies one at a time: their words stand behind the model's name with a dash.
INTACT, ONE_BY_ONE = "intact", "one-by-one"


def system_name(model: str, reading: str = "", versus: str = "") -> str:
    """What a system is called wherever it is shown: ``tta/context``, ``bilm-intact/context``, ``tta - unilm``."""
    mark = "-" if reading.startswith((INTACT, ONE_BY_ONE)) else "/" if reading else ""
    return f"{model}{mark}{reading}" + (f" - {versus}" if versus else "")


def combined_name(pair: tuple[str, str]) -> str:
    """The system that two others make together."""
    return "-and-".join(pair)


#: Systems that are no model of params.yaml; their rows stand in the models' tables.
BASELINES = frozenset(
    {
        *("first-pass", "oracle", "unigram", "majority", "bag-of-words"),
        *("random-span", "no-answer", "word2vec", "hf-bert"),
    }
)


#: Fields that a line without them leaves out, as all lines of earlier versions do.
OPTIONAL = frozenset({"units", "unit", "p"})


@dataclass(frozen=True, kw_only=True)
class Result:
    """A line of results.jsonl.

    A paired difference of two systems is a row of the table ``<table>-pairs`` with the metric ``<metric>-difference``:
    ``model`` and ``reading`` minus ``versus``, on the dataset and split of the levels (see
    :func:`quartet.statistics.differences.paired_difference`). Its seed is that of the levels, None where it is the mean
    over several.

    Attributes:
        table: perplexity, rerank, sts, wordsim, classification, runtime, training, ...
        model: a model's name in params.yaml, two of them together, or a baseline (first-pass, oracle, word2vec, ...).
        reading: how the model was read or used: ``context``, ``intact``, ``layer-1``, ``one-by-one/sts``, ...
        versus: the name of the second system where the figure is a difference of two.
        metric: ppl, pppl, wer, pearson, accuracy, ms, ...
        n: the number of items behind the value (utterances, pairs, tokens, repeats).
        ci_low, ci_high: the 95 % interval, None where none can be given.
        units: how many units were resampled for the interval; None where there is none.
        unit: what they are: ``documents``, ``utterances``, ``speakers``, ...; empty where there is no interval.
        p: two-sided, of a difference: below 0.05 exactly where the interval leaves out 0. None of all else.
        seed: the training seed, None for what has none.
        device: what computed it, e.g. ``cpu``.
        scale: one line that says how large the system and its training were.
    """

    experiment: str
    table: str
    model: str
    reading: str = ""
    versus: str = ""
    dataset: str
    split: str
    metric: str
    value: float
    n: int
    ci_low: float | None
    ci_high: float | None
    seed: int | None
    device: str
    scale: str
    units: int | None = None
    unit: str = ""
    p: float | None = None

    __pydantic_config__ = ConfigDict(extra="forbid")

    def __post_init__(self) -> None:
        Measure(self.value, self.n, self.ci_low, self.ci_high, p=self.p)

    @property
    def system(self) -> str:
        """The system's shown name."""
        return system_name(self.model, self.reading, self.versus)

    @property
    def key(self) -> tuple[str, str, str, str, str, int]:
        """What a figure is of; two results with one key contradict each other."""
        seed = -1 if self.seed is None else self.seed
        return (self.table, self.dataset, self.split, self.system, self.metric, seed)


@dataclass(frozen=True)
class EvaluatedSystem:
    """Whose figures rows are: a model or a baseline, and how it is read.

    Attributes:
        model: a model's name in params.yaml, two of them together, or a baseline.
        device: what computed it, ``cpu`` or ``cuda``.
        scale: the model's ``scale`` line, or a baseline's own.
        seed: the training seed; None for what was not trained.
        reading: see :class:`Result`.
        versus: the name of a second system, to which the figures are differences.
    """

    model: str
    device: str
    scale: str
    seed: int | None = None
    reading: str = ""
    versus: str = ""

    @property
    def name(self) -> str:
        """The system's shown name."""
        return system_name(self.model, self.reading, self.versus)

    def rows(
        self, measures: Mapping[str, Measure], *, experiment: str, table: str, dataset: str, split: str
    ) -> list[Result]:
        """One row a metric: ``{"wer": Measure(…)}`` with what it is of."""
        return [
            Result(
                experiment=experiment,
                table=table,
                dataset=dataset,
                split=split,
                metric=metric,
                **dataclasses.asdict(measure),
                **dataclasses.asdict(self),
            )
            for metric, measure in measures.items()
        ]


#: Strict: a value in quotes is no number, and an unknown key no part of a result.
_RESULT: TypeAdapter[Result] = TypeAdapter(Result)


def write_results(path: str | Path, results: Iterable[Result]) -> None:
    """Write results as sorted JSON lines: the same results give the same bytes.

    Raises:
        ValueError: two results have the same key.
    """
    rows = sorted(results, key=lambda row: row.key)
    for before, after in itertools.pairwise(rows):
        if before.key == after.key:
            raise ValueError(f"two results for {before.key}")
    write_jsonl(path, map(_line, rows))


def _line(row: Result) -> dict[str, Any]:
    """A result as it is written: what says something of an interval alone is absent where there is none."""
    fields = {"system": row.system, **dataclasses.asdict(row)}
    return {name: value for name, value in fields.items() if name not in OPTIONAL or value not in (None, "")}


def read_results(path: str | Path) -> list[Result]:
    """Read a file of results.

    Raises:
        InputError: the file is absent or a line is not a result.
    """
    results = []
    for number, row in read_jsonl(path):
        try:
            system = row.pop("system", None)
            result = _RESULT.validate_json(json.dumps(row), strict=True)
            if result.system != system:
                raise ValueError(f"system: {system!r}, and its fields make {result.system!r}")
            results.append(result)
        except ValidationError as error:
            key, reason = first_mistake(error)
            raise InputError(f"{path}:{number}", f"not a result ({key}: {reason})") from error
        except (TypeError, ValueError) as error:
            raise InputError(f"{path}:{number}", f"not a result ({error})") from error
    return results


def with_interval(measure: Measure, sign: bool = False) -> str:
    """A figure with two decimals and its interval."""
    form = "+.2f" if sign else ".2f"
    text = format(measure.value, form)
    if measure.ci_low is None or measure.ci_high is None:
        return text
    return f"{text} [{measure.ci_low:{form}}, {measure.ci_high:{form}}]"
