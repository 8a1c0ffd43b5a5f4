"""N-best lists as systems are judged on them: which weights are tried, and the rows that a choice leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quartet.config.nbest import NBestEntry, RerankSettings
from quartet.errors import InputError
from quartet.nbest.formats import jsonl
from quartet.nbest.metrics import CountTable, Metric, metric_named
from quartet.nbest.normalise import Normalisation
from quartet.nbest.rerank import Candidates, Reranking, Selection, by_length, weight_grid
from quartet.nbest.significance import detectable, measure, paired_bootstrap
from quartet.nbest.types import NBest
from quartet.nbest.units import ResampledUnits
from quartet.results import EvaluatedSystem, Measure
from quartet.statistics.intervals import Floats
from quartet.statistics.perplexity import UnknownWords, perplexity_measures
from quartet.tasks.evaluation import Evaluation
from quartet.text.scripts import count_words

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
    return JudgedSplit(lists, CountTable.of(lists, metric_of(settings), settings.unit), given, normalise)


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
    difference = paired_bootstrap(outcome.reranked, outcome.first_pass, run.samples, seed)
    n, smallest = difference.n, detectable(difference)
    measures = {
        metric: measure(outcome.reranked, run.samples, seed),
        f"{metric}-difference": difference,
        "weight": Measure(outcome.weight, n),
        f"{metric}-best-on-test": Measure(outcome.on_test.value, n),
        "weight-best-on-test": Measure(outcome.on_test.weight, n),
    }
    if smallest is not None:
        measures[f"{metric}-detectable"] = Measure(smallest, n)
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


def references_of(lists: Iterable[NBest]) -> list[str]:
    """The references that there are, as often as they occur."""
    return [one.reference for one in lists if one.reference is not None]


def reference_measures(
    lists: Sequence[NBest],
    token_logprobs: Callable[[list[str]], Sequence[Floats]],
    pseudo: bool,
    samples: int,
    seed: int,
    unknown: Callable[[list[str]], UnknownWords] | None = None,
    units: ResampledUnits | None = None,
) -> dict[str, Measure]:
    """How well a language model predicts what was said, with 95 % intervals over units (Section A.5).

    Over the references' own tokens alone, so that a model which also predicts the end of a text has the same
    tokens as one that does not. A list without a reference, and one whose reference has no token, counts in
    none; n says over how many tokens, words or utterances a figure is.

    Args:
        lists: normalised as their hypotheses are scored.
        token_logprobs: texts -> natural log-probabilities of each one's tokens; where they are not pseudo, the
            last one is the closing token's. It is called once, with every reference.
        pseudo: they are pseudo-log-probabilities.
        samples: resamples of the bootstrap.
        seed: of its draws.
        unknown: texts -> their unknown words; None: there are none.
        units: of the lists with a reference; None: each by itself.

    Returns:
        "ppl", "ppl-word": over all references together, a token and a word.
        "oov": the share of unknown tokens.
        "ppl-mean", "ppl-median", "ppl-word-mean", "ppl-word-median": over the references, of each one's own.
        They are called "pppl..." where they are pseudo-perplexities; see
        `quartet.statistics.perplexity.perplexity_measures`. Nothing where no reference has a token.
    """
    texts = references_of(lists)
    own = [each if pseudo else each[:-1] for each in token_logprobs(texts)]
    if not any(len(each) for each in own):
        return {}
    found = perplexity_measures(
        own,
        [count_words(text) for text in texts],
        pseudo,
        samples,
        seed,
        clusters=None if units is None else units.of_R.tolist(),
        unit="utterances" if units is None else units.name,
        word_texts=True,
        unknown=unknown(texts) if unknown else None,
    )
    return {name: measure for name, measure in found.items() if name != "loss"}
