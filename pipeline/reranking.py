"""One reading of a language model on one set of N-best lists: scored, weighed, written, its references measured."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import get_args

import numpy as np

from pipeline.judged_lists import JudgedSplit, rows_of_outcome, tried_weights
from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.scorers import Scorer
from pipeline.tracking.progress import bar, say
from quartet import code
from quartet.nbest.reference_perplexity import reference_measures, references_of
from quartet.nbest.rerank import Candidates, WeightCurve, tune_and_apply
from quartet.nbest.rescored_file import write_rescored
from quartet.nbest.scores import score_lists, score_texts, texts_of
from quartet.nbest.types import NBest
from quartet.results import EvaluatedSystem, Measure, Result
from quartet.scoring.cache import ScoreCache
from quartet.scoring.engine import score_all
from quartet.scoring.unknown import unknown_in, unknown_words


class KeptScores:
    """The token log-probabilities of ``rerank@name``, kept beside the resume points of trainings.

    When the block ends without an error, those that it did not ask for (of an earlier model, of older code, of lists
    that are no longer there) are removed. Another grid of weights, a further set of lists: what was scored is there.
    """

    def __init__(self, layout: Layout, name: str) -> None:
        self._folder = layout.resume(f"rerank@{name}", 0).parent  # no model can have this name
        self._code = code.fingerprint(score_all.__module__, *(kind.__module__ for kind in get_args(Scorer)))
        self._asked: set[Path] = set()

    def scored(self, model: Scorer, texts: Sequence[str], masked: bool, label: str) -> dict[str, np.ndarray]:
        """The log-probabilities of each text's tokens, with a progress bar.

        Each set of texts has a file of its own for each model, device and reading: so a chunk of them is either
        scored or taken over as a whole, and the values are those of a run that was not stopped, bit for bit.
        """
        what = _digest([self._code, model.fingerprint, model.device, str(masked), *texts])
        path = self._folder / f"{what}.sqlite"
        self._asked.add(path)
        with bar(label) as shown, ScoreCache(path) as cache:
            return dict(zip(texts, score_all(model, texts, masked, cache, shown.set), strict=True))

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


@dataclass(frozen=True)
class ModelReading:
    """A way in which a model reads texts.

    Attributes:
        masked: False: a masked model reads the intact input.
        system: the system that it is.
        output: the folder of all lists that the model reranks.
        kept: where its scores are kept.
    """

    model: Scorer
    masked: bool
    system: EvaluatedSystem
    output: Path
    kept: KeptScores


def rerank_lists(
    params: Params, layout: Layout, reading: ModelReading, name: str, splits: dict[str, JudgedSplit]
) -> tuple[list[Result], list[str]]:
    """The rows of a reading on the set `name`, and the lines of its curves; the reranked lists are written.

    Every distinct text of the set is scored once, a reference that is a hypothesis too.
    """
    system = reading.system
    both = [one for split in splits.values() for one in split.lists]
    # what reads an intact input sees the token that it predicts: no perplexity follows from it
    references = references_of(both) if reading.masked else []
    texts = list(dict.fromkeys([*texts_of(both), *references]))
    known = reading.kept.scored(reading.model, texts, reading.masked, f"{system.name} on {name}: texts")

    def logprobs(wanted: list[str]) -> list[np.ndarray]:
        return [known[text] for text in wanted]

    def handled(wanted: list[str]) -> list[np.ndarray]:
        return unknown_in(reading.model, wanted, params.rerank.unknown).applied(logprobs(wanted))

    settings = params.nbest[name]
    scorer = score_texts(handled, settings.score or params.rerank.score)
    candidates = {
        split: Candidates(each.lists, score_lists(each.lists, scorer), each.table)
        for split, each in splits.items()
    }
    outcome = tune_and_apply(candidates["dev"], candidates["test"], tried_weights(params, name))
    rows = rows_of_outcome(params, name, system, outcome, candidates["dev"], candidates["test"])
    for split, each in candidates.items():
        written = layout.reranked(reading.output, system.seed or 0, system.name, name, split)
        rows += rows_of_unknown(params, reading, name, split, each.lists)
        write_rescored(written, each, outcome.weight, splits[split].normalise, splits[split].given)
        if reading.masked:
            measures = reference_measures(
                each.lists,
                logprobs,
                reading.model.pseudo,
                params.bootstrap,
                system.seed or 0,
                partial(unknown_words, reading.model),
            )
            rows += system.rows(
                measures,
                experiment=params.experiment,
                table="reference-perplexity",
                dataset=name,
                split=split,
            )
    metric = settings.metric
    say(f"{system.name} on {name}: weight {outcome.weight:g}, {metric} {outcome.reranked.value:.2f}")
    lines = [
        line
        for split, curve in (("dev", outcome.dev), ("test", outcome.test))
        for line in curve_lines(f"{name},{split},{system.name},{system.seed},{metric}", curve)
    ]
    return rows, lines


def rows_of_unknown(
    params: Params, reading: ModelReading, name: str, split: str, lists: Sequence[NBest]
) -> list[Result]:
    """The share of unknown tokens in the distinct hypotheses.

    Nothing where all are known, or have no more to cost than the model gives them, as an n-gram model's <unk> does.
    """
    share = unknown_in(reading.model, texts_of(lists), params.rerank.unknown).share
    if share is None or not share.spread:
        return []
    say(f"{reading.system.name} on {name}, {split}: {share} (rerank.unknown: {params.rerank.unknown})")
    system = reading.system
    return system.rows(
        {"oov": Measure(share.tokens / share.of_tokens, share.of_tokens)},
        experiment=params.experiment,
        table="rerank",
        dataset=name,
        split=split,
    )


def curve_lines(prefix: str, curve: WeightCurve) -> list[str]:
    """CSV lines of a curve."""
    return [
        f"{prefix},{weight:g},{value:.6f}" for weight, value in zip(curve.weights, curve.values, strict=True)
    ]
