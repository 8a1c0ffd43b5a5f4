"""N-best lists as the evaluations judge them: read, normalised, and held against their references once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.layout import Layout
from pipeline.params import Params
from quartet.config.nbest import NBestEntry
from quartet.errors import InputError
from quartet.files import read_json
from quartet.nbest.formats import jsonl
from quartet.nbest.known_metrics import metric_named
from quartet.nbest.lengths import by_length
from quartet.nbest.metrics import CountTable, Metric
from quartet.nbest.normalise import Normalisation
from quartet.nbest.rerank import Candidates, Reranking, Selection, weight_grid
from quartet.nbest.significance import measure, paired_bootstrap
from quartet.nbest.types import NBest
from quartet.results import EvaluatedSystem, Measure, Result, system_name
from quartet.statistics.intervals import Floats

SPLITS = ("dev", "test")


@dataclass(frozen=True)
class JudgedSplit:
    """One split of a set of lists, normalised and as given, with the counts of its metric, which all systems share."""

    lists: list[NBest]
    table: CountTable
    given: list[NBest]
    normalise: Normalisation


@dataclass(frozen=True)
class RerankedSystem:
    """What reranked all sets of lists: a reading of a model, and the seeds of its written results."""

    model: str
    reading: str
    seeds: tuple[int, ...]

    def seed(self, seed: int) -> int:
        """The result to hold beside others' of a seed: what has no seeds (n-grams) has one result for all."""
        return seed if seed in self.seeds else self.seeds[0]


def reranked_systems(params: Params, layout: Layout) -> dict[str, RerankedSystem]:
    """Every system that a model under ``evaluate.rerank`` made.

    Raises:
        InputError: a model has reranked nothing.
    """
    return {
        system_name(model, reading): RerankedSystem(model, reading, tuple(seeds))
        for model in params.evaluate["rerank"]
        for reading, seeds in read_json(layout.systems(model)).items()
    }


def metric_of(settings: NBestEntry) -> Metric:
    """What a set of lists is judged by."""
    return metric_named(settings.metric, settings.bleu)


def tried_weights(params: Params, name: str) -> Floats | None:
    """The weights to try on the set `name`; None: all that there are."""
    weights = params.nbest[name].weights or params.rerank.weights
    return None if weights == "exact" else weight_grid(weights.start, weights.stop, weights.step)


def load_judged_split(params: Params, layout: Layout, name: str, split: str) -> JudgedSplit:
    """One split of the set `name`, as ingestion left it, normalised.

    Raises:
        InputError: none of its lists has a reference.
    """
    settings = params.nbest[name]
    normalise = Normalisation(settings.normalise.lowercase, settings.normalise.strip_punctuation)
    path = layout.nbest(name) / f"{split}.jsonl"
    given = jsonl.read(path)
    lists = normalise.lists(given)
    if all(one.reference is None for one in lists):
        raise InputError(path, "no list has a reference", f"name a file of them under nbest.{name}.{split}")
    return JudgedSplit(lists, CountTable.of(lists, metric_of(settings)), given, normalise)


def rows_of_outcome(
    params: Params, lists: str, system: EvaluatedSystem, outcome: Reranking, dev: Candidates, test: Candidates
) -> list[Result]:
    """The rows of a weight chosen on dev and applied to test.

    Differences are of test alone: on dev, where the weight was chosen, they would flatter. ``<metric>-best-on-test``
    and ``weight-best-on-test`` are of a weight chosen on test itself, as in the T-TA paper's Table 2: flattered too.
    """
    metric, seed = dev.table.metric.name, system.seed or 0
    chosen = dev.select(outcome.weight)
    rows = _rows(params, lists, "dev", system, {metric: measure(chosen, params.bootstrap, seed)})
    compared = paired_bootstrap(outcome.reranked, outcome.first_pass, params.bootstrap, seed)
    n = compared.difference.n
    measures = {
        metric: measure(outcome.reranked, params.bootstrap, seed),
        f"{metric}-difference": compared.difference,
        "weight": Measure(outcome.weight, n),
        f"{metric}-best-on-test": Measure(outcome.on_test.value, n),
        "weight-best-on-test": Measure(outcome.on_test.weight, n),
    }
    optional = {"p-value": compared.p_value, f"{metric}-detectable": compared.detectable}
    measures |= {name: Measure(value, n) for name, value in optional.items() if value is not None}
    rows += _rows(params, lists, "test", system, measures)
    return rows + rows_by_length(params, lists, system, outcome.reranked, test.lists)


def rows_of_choice(
    params: Params, lists: str, split: str, system: EvaluatedSystem, selection: Selection, of: list[NBest]
) -> list[Result]:
    """The rows of a choice that depends on no weight; on test by length too."""
    found = {selection.metric.name: measure(selection, params.bootstrap, params.seeds[0])}
    rows = _rows(params, lists, split, system, found)
    return rows + (rows_by_length(params, lists, system, selection, of) if split == "test" else [])


def rows_by_length(
    params: Params, lists: str, system: EvaluatedSystem, selection: Selection, of: list[NBest]
) -> list[Result]:
    """A row a range of reference lengths, which stands in the place of the split, all of test."""
    edges = params.rerank.lengths
    rows: list[Result] = []
    for name, part in by_length(selection, of, edges) if edges else ():
        found = {selection.metric.name: measure(part, params.bootstrap, system.seed or 0)}
        rows += _rows(params, lists, name, system, found, "rerank-length")
    return rows


def _rows(
    params: Params,
    lists: str,
    split: str,
    system: EvaluatedSystem,
    measures: Mapping[str, Measure],
    table: str = "rerank",
) -> list[Result]:
    return system.rows(measures, experiment=params.experiment, table=table, dataset=lists, split=split)
