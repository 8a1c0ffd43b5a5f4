"""N-best lists as systems are judged on them: which weights are tried, and the rows that a choice leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quartet.config.nbest import NBestEntry, RerankSettings
from quartet.errors import InputError
from quartet.nbest.formats import jsonl
from quartet.nbest.known_metrics import metric_named
from quartet.nbest.lengths import by_length
from quartet.nbest.metrics import CountTable, Metric
from quartet.nbest.normalise import Normalisation
from quartet.nbest.rerank import Candidates, Reranking, Selection, weight_grid
from quartet.nbest.significance import measure, paired_bootstrap
from quartet.nbest.types import NBest
from quartet.results import EvaluatedSystem, Measure
from quartet.statistics.intervals import Floats
from quartet.tasks.evaluation import Evaluation

SPLITS = ("dev", "test")


@dataclass(frozen=True)
class JudgedSplit:
    """One split of a set of lists, normalised and as given, with the counts of its metric, which all systems share."""

    lists: list[NBest]
    table: CountTable
    given: list[NBest]
    normalise: Normalisation


def judged_split(path: Path, settings: NBestEntry, place: str) -> JudgedSplit:
    """One split of a set, as ingestion left it, normalised.

    Args:
        place: where the settings name its files.

    Raises:
        InputError: none of its lists has a reference.
    """
    normalise = Normalisation(settings.normalise.lowercase, settings.normalise.strip_punctuation)
    given = jsonl.read(path)
    lists = normalise.lists(given)
    if all(one.reference is None for one in lists):
        raise InputError(path, "no list has a reference", f"name a file of them under {place}")
    return JudgedSplit(lists, CountTable.of(lists, metric_of(settings)), given, normalise)


def metric_of(settings: NBestEntry) -> Metric:
    """What a set of lists is judged by."""
    return metric_named(settings.metric, settings.bleu)


def tried_weights(settings: NBestEntry, of_all: RerankSettings) -> Floats | None:
    """The weights to try on a set, its own or those of all sets; None: all that there are."""
    weights = settings.weights or of_all.weights
    return None if weights == "exact" else weight_grid(weights.start, weights.stop, weights.step)


def add_outcome(
    run: Evaluation,
    system: EvaluatedSystem,
    lists: str,
    outcome: Reranking,
    dev: Candidates,
    test: Candidates,
    lengths: Sequence[int],
) -> None:
    """Add the rows of a weight chosen on dev and applied to test.

    Differences are of test alone: on dev, where the weight was chosen, they would flatter. ``<metric>-best-on-test``
    and ``weight-best-on-test`` are of a weight chosen on test itself, as in the T-TA paper's Table 2: flattered too.

    Args:
        lists: the set.
        lengths: see `quartet.config.nbest.RerankSettings`.
    """
    metric, seed = dev.table.metric.name, run.seed_of(system)
    chosen = dev.select(outcome.weight)
    run.add({metric: measure(chosen, run.samples, seed)}, system, lists, "dev", "rerank")
    compared = paired_bootstrap(outcome.reranked, outcome.first_pass, run.samples, seed)
    n = compared.difference.n
    measures = {
        metric: measure(outcome.reranked, run.samples, seed),
        f"{metric}-difference": compared.difference,
        "weight": Measure(outcome.weight, n),
        f"{metric}-best-on-test": Measure(outcome.on_test.value, n),
        "weight-best-on-test": Measure(outcome.on_test.weight, n),
    }
    optional = {"p-value": compared.p_value, f"{metric}-detectable": compared.detectable}
    measures |= {name: Measure(value, n) for name, value in optional.items() if value is not None}
    run.add(measures, system, lists, "test", "rerank")
    _add_by_length(run, system, lists, outcome.reranked, test.lists, lengths)


def add_choice(
    run: Evaluation,
    system: EvaluatedSystem,
    lists: str,
    split: str,
    selection: Selection,
    of: list[NBest],
    lengths: Sequence[int],
) -> None:
    """Add the rows of a choice that depends on no weight; on test by length too."""
    found = {selection.metric.name: measure(selection, run.samples, run.seed_of(system))}
    run.add(found, system, lists, split, "rerank")
    if split == "test":
        _add_by_length(run, system, lists, selection, of, lengths)


def _add_by_length(
    run: Evaluation,
    system: EvaluatedSystem,
    lists: str,
    selection: Selection,
    of: list[NBest],
    lengths: Sequence[int],
) -> None:
    """A row a range of reference lengths, which stands in the place of the split, all of test."""
    for name, part in by_length(selection, of, lengths) if lengths else ():
        found = {selection.metric.name: measure(part, run.samples, run.seed_of(system))}
        run.add(found, system, lists, name, "rerank-length")
