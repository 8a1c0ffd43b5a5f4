"""One reading of a language model on one set of N-best lists: scored, weighed, written, its references measured."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import get_args

import numpy as np

from quartet import code
from quartet.config.nbest import NBestEntry, RerankSettings
from quartet.nbest.rerank import Candidates, WeightCurve, tune_and_apply
from quartet.nbest.rescored_file import write_rescored
from quartet.nbest.scores import score_lists, score_texts, texts_of
from quartet.nbest.types import NBest
from quartet.results import INTACT, EvaluatedSystem, Measure
from quartet.scorers import AnyScorer
from quartet.scoring.cache import ScoreCache
from quartet.scoring.engine import Progress, score_all
from quartet.scoring.unknown import unknown_in, unknown_words
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.rerank.metrics import (
    JudgedSplit,
    add_outcome,
    reference_measures,
    references_of,
    tried_weights,
)


class KeptScores:
    """The token log-probabilities of an evaluation's texts, in files of a folder.

    When the block ends without an error, those that it did not ask for (of an earlier model, of older code, of lists
    that are no longer there) are removed. Another grid of weights, a further set of lists: what was scored is there.

    Args:
        settings: a text that is the same only where all settings that decide scores are, such as the threads.
    """

    def __init__(self, folder: Path, settings: str) -> None:
        self._folder = folder
        self._settings = settings
        self._code = code.fingerprint(
            score_all.__module__, *(kind.__module__ for kind in get_args(AnyScorer))
        )
        self._asked: set[Path] = set()

    def scored(
        self, model: AnyScorer, texts: Sequence[str], masked: bool, progress: Progress | None = None
    ) -> dict[str, np.ndarray]:
        """The log-probabilities of each text's tokens.

        Each set of texts has a file of its own for each model, device and reading: so a chunk of them is either
        scored or taken over as a whole, and the values are those of a run that was not stopped, bit for bit.
        """
        what = _digest([self._settings, self._code, model.fingerprint, model.device, str(masked), *texts])
        path = self._folder / f"{what}.sqlite"
        self._asked.add(path)
        with ScoreCache(path) as cache:
            return dict(zip(texts, score_all(model, texts, masked, cache, progress), strict=True))

    def __enter__(self) -> KeptScores:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            for path in set(self._folder.glob("*")) - self._asked:
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def readings(model: AnyScorer) -> Iterator[tuple[str, bool]]:
    """Yield (name, whether the input is masked) of a model's readings.

    A masked model can also read the intact input (the papers' biLM\\M).
    """
    yield "", True
    if model.masks:
        yield INTACT, False


@dataclass(frozen=True)
class ModelReading:
    """A way in which a model reads texts.

    Attributes:
        masked: False: a masked model reads the intact input.
        system: the system that it is.
        kept: where its scores are kept.
    """

    model: AnyScorer
    masked: bool
    system: EvaluatedSystem
    kept: KeptScores


def evaluate(
    run: Evaluation,
    reading: ModelReading,
    name: str,
    splits: Mapping[str, JudgedSplit],
    settings: NBestEntry,
    of_all: RerankSettings,
    written: Callable[[str], Path],
) -> list[str]:
    """Add the rows of a reading on the set `name`, write the reranked lists, and return the lines of its curves.

    Every distinct text of the set is scored once, a reference that is a hypothesis too.

    Args:
        settings, of_all: of the set, and of all sets.
        written: the file of a split's reranked lists.
    """
    system = reading.system
    both = [one for split in splits.values() for one in split.lists]
    # what reads an intact input sees the token that it predicts: no perplexity follows from it
    references = references_of(both) if reading.masked else []
    texts = list(dict.fromkeys([*texts_of(both), *references]))
    with run.bar(f"{system.name} on {name}: texts") as shown:
        known = reading.kept.scored(reading.model, texts, reading.masked, shown.set)

    def logprobs(wanted: list[str]) -> list[np.ndarray]:
        return [known[text] for text in wanted]

    def handled(wanted: list[str]) -> list[np.ndarray]:
        return unknown_in(reading.model, wanted, of_all.unknown).applied(logprobs(wanted))

    scorer = score_texts(handled, settings.score or of_all.score)
    candidates = {
        split: Candidates(each.lists, score_lists(each.lists, scorer), each.table)
        for split, each in splits.items()
    }
    dev, test = candidates["dev"], candidates["test"]
    outcome = tune_and_apply(dev, test, tried_weights(settings, of_all))
    add_outcome(run, system, name, outcome, dev, test, of_all.lengths)
    for split, each in candidates.items():
        _add_unknown(run, reading, name, split, each.lists, of_all)
        write_rescored(written(split), each, outcome.weight, splits[split].normalise, splits[split].given)
        if reading.masked:
            measures = reference_measures(
                each.lists,
                logprobs,
                reading.model.pseudo,
                run.samples,
                run.seed_of(system),
                partial(unknown_words, reading.model),
                each.table.units,
            )
            run.add(measures, system, name, split, "reference-perplexity")
    metric = settings.metric
    run.say(
        f"{system.name} on {name}: {metric.upper()} {outcome.reranked.value:.2f}, "
        f"first pass {outcome.first_pass.value:.2f} (weight {outcome.weight:.4g})"
    )
    return [
        line
        for split, curve in (("dev", outcome.dev), ("test", outcome.test))
        for line in curve_lines(f"{name},{split},{system.name},{system.seed},{metric}", curve)
    ]


def _add_unknown(
    run: Evaluation,
    reading: ModelReading,
    name: str,
    split: str,
    lists: Sequence[NBest],
    settings: RerankSettings,
) -> None:
    """Add the share of unknown tokens in the distinct hypotheses.

    Nothing where all are known, or have no more to cost than the model gives them, as an n-gram model's <unk> does.
    """
    share = unknown_in(reading.model, texts_of(lists), settings.unknown).share
    if share is None or not share.spread:
        return
    run.say(f"{reading.system.name} on {name}, {split}: {share} (rerank.unknown: {settings.unknown})")
    found = {"oov": Measure(share.tokens / share.of_tokens, share.of_tokens)}
    run.add(found, reading.system, name, split, "rerank")


def curve_lines(prefix: str, curve: WeightCurve) -> list[str]:
    """CSV lines of a curve."""
    return [
        f"{prefix},{weight:g},{value:.6f}" for weight, value in zip(curve.weights, curve.values, strict=True)
    ]
