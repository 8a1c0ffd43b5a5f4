"""One reading of a language model on one set of N-best lists: scored, weighed, written, its references measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from pipeline.kept_scores import KeptScores
from pipeline.layout import Layout
from pipeline.lists import Judged, Ranker, rows_of_outcome, tried
from pipeline.params import Params
from pipeline.progress import say
from pipeline.results import rows_of
from pipeline.scorers import Scorer
from quartet.nbest.reference_perplexity import reference_measures, references_of
from quartet.nbest.rerank import Candidates, Curve, tune_and_apply
from quartet.nbest.rescored import write_rescored
from quartet.nbest.scores import score_lists, score_texts, texts_of
from quartet.nbest.types import NBest
from quartet.results import Measure, Result
from quartet.scoring.unknown import unknown_in, unknown_words


@dataclass(frozen=True)
class Reading:
    """A way in which a model reads texts.

    Attributes:
        masked: False: a masked model reads the intact input.
        ranker: the system that it is.
        output: the folder of all lists that the model reranks.
        kept: where its scores are kept.
    """

    model: Scorer
    masked: bool
    ranker: Ranker
    output: Path
    kept: KeptScores


def rerank_lists(
    params: Params, layout: Layout, reading: Reading, name: str, splits: dict[str, Judged]
) -> tuple[list[Result], list[str]]:
    """The rows of a reading on the set `name`, and the lines of its curves; the reranked lists are written.

    Every distinct text of the set is scored once, a reference that is a hypothesis too.
    """
    ranker = reading.ranker
    both = [one for split in splits.values() for one in split.lists]
    # what reads an intact input sees the token that it predicts: no perplexity follows from it
    references = references_of(both) if reading.masked else []
    texts = list(dict.fromkeys([*texts_of(both), *references]))
    known = reading.kept.scored(reading.model, texts, reading.masked, f"{ranker.system} on {name}: texts")

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
    outcome = tune_and_apply(candidates["dev"], candidates["test"], tried(params, name))
    rows = rows_of_outcome(params, name, ranker, outcome, candidates["dev"], candidates["test"])
    for split, each in candidates.items():
        written = layout.reranked(reading.output, ranker.seed or 0, ranker.system, name, split)
        rows += rows_of_unknown(params, reading, name, split, each.lists)
        write_rescored(written, each, outcome.weight, splits[split].given)
        if reading.masked:
            measures = reference_measures(
                each.lists,
                logprobs,
                reading.model.pseudo,
                params.bootstrap,
                ranker.seed or 0,
                partial(unknown_words, reading.model),
            )
            rows += rows_of(
                measures,
                params=params,
                table="reference-perplexity",
                model=ranker.model,
                reading=ranker.reading,
                dataset=name,
                split=split,
                device=ranker.device,
                scale=ranker.scale,
                seed=ranker.seed,
            )
    metric = settings.metric
    say(f"{ranker.system} on {name}: weight {outcome.weight:g}, {metric} {outcome.reranked.value:.2f}")
    lines = [
        line
        for split, curve in (("dev", outcome.dev), ("test", outcome.test))
        for line in curve_lines(f"{name},{split},{ranker.system},{ranker.seed},{metric}", curve)
    ]
    return rows, lines


def rows_of_unknown(
    params: Params, reading: Reading, name: str, split: str, lists: Sequence[NBest]
) -> list[Result]:
    """The share of unknown tokens in the distinct hypotheses.

    Nothing where all are known, or have no more to cost than the model gives them, as an n-gram model's <unk> does.
    """
    share = unknown_in(reading.model, texts_of(lists), params.rerank.unknown).share
    if share is None or not share.spread:
        return []
    say(f"{reading.ranker.system} on {name}, {split}: {share} (rerank.unknown: {params.rerank.unknown})")
    ranker = reading.ranker
    return rows_of(
        {"unknown-share": Measure(share.tokens / share.of_tokens, share.of_tokens)},
        params=params,
        table="rerank",
        model=ranker.model,
        reading=ranker.reading,
        dataset=name,
        split=split,
        device=ranker.device,
        scale=ranker.scale,
        seed=ranker.seed,
    )


def curve_lines(prefix: str, curve: Curve) -> list[str]:
    """CSV lines of a curve."""
    return [
        f"{prefix},{weight:g},{value:.6f}" for weight, value in zip(curve.weights, curve.values, strict=True)
    ]
