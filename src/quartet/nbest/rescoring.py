"""N-best lists rescored in one call: read, normalised, scored, the weight given or chosen, put in order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Real
from pathlib import Path
from typing import Any, TypedDict, get_args, overload

import numpy as np

from quartet.arguments import SHOWN, check_choice, check_unicode
from quartet.config.choices import ScoreMeaning, ScoreReduction, UnknownHandling
from quartet.errors import InputError
from quartet.nbest.formats import FORMATS, IngestedLists, NBestFiles, read
from quartet.nbest.formats.ingest import ListEntry, collect, orient_scores
from quartet.nbest.metrics import CountTable, Metric, metric_named
from quartet.nbest.normalise import Normalisation, default_normalisation
from quartet.nbest.rerank import Candidates, check_tunable
from quartet.nbest.rescored_file import rescored_rows, write_rescored, write_texts
from quartet.nbest.scores import score_lists, score_texts, texts_of
from quartet.nbest.types import NBest, in_common
from quartet.paths import check_paths
from quartet.scoring.cache import ScoreCache
from quartet.scoring.engine import TextScorer, score_all
from quartet.scoring.unknown import UnknownShare, unknown_in
from quartet.statistics.intervals import Floats

#: Lists, what was read of a file, or the file or the files that hold them.
Lists = str | Path | NBestFiles | IngestedLists | Sequence[NBest]


class RescoringOptions(TypedDict, total=False):
    """What `rescore` may be told; see there."""

    weight: float | None
    tune: Lists | None
    weights: Sequence[float] | Floats | None
    format: str | None
    metric: str | Metric
    normalise: Normalisation | None
    score: ScoreReduction
    masked: bool
    unknown: UnknownHandling
    skip_malformed: bool
    skip_missing: bool
    scores_are: ScoreMeaning | None
    cache: str | Path | None
    progress: Callable[[int, int], None] | None


@dataclass(frozen=True)
class RescoredLists(Sequence[dict[str, Any]]):
    """The rescored lists, in the order in which they were given.

    Each is a line of what ``quartet rescore`` writes: {"utt", "ref" if known, "best", "transcript", "hypotheses":
    [{"text", "first_pass", "lm", "score"}, ...] best first, "counted"}. The transcript is the chosen hypothesis as it
    was given; all other texts are as they were scored and counted, and "counted" says how: {"metric", "lowercase",
    "strip_punctuation"}. Where a list was lost there is "missing": true.

    Attributes:
        candidates: the lists as they were scored and counted, with their scores.
        weight: of the language model.
        given: the same lists with their texts as they were given.
        normalise: what was done to these texts.
        refused: why malformed lists and references were left out, those of `tune` too.
        missing: utterances whose list was lost, and counts as an empty hypothesis.
        missing_in_tune: those of `tune`.
        unknown: how many tokens the model does not know, of the lists and those of `tune`; None: it cannot tell.
        in_tune: how many of the lists are lists of `tune` too, so that the weight was chosen on their references.
    """

    candidates: Candidates
    weight: float
    given: Sequence[NBest]
    normalise: Normalisation
    refused: tuple[InputError, ...] = ()
    missing: tuple[str, ...] = ()
    missing_in_tune: tuple[str, ...] = ()
    unknown: UnknownShare | None = None
    in_tune: int = 0

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """All of them."""
        missing = frozenset(self.missing)
        return list(rescored_rows(self.candidates, self.weight, self.normalise, self.given, missing))

    @property
    def first_pass(self) -> float | None:
        """The metric of the first pass's own choice; None where no list has a reference."""
        return self.candidates.first_pass_selection.value if self.candidates.table.referenced.any() else None

    @property
    def value(self) -> float | None:
        """The metric of the choice made here, likewise."""
        known = self.candidates.table.referenced.any()
        return self.candidates.select(self.weight).value if known else None

    @property
    def weight_text(self) -> str:
        """The weight in the fewest digits, from six on, that rescore these lists as it does itself.

        Near 1, where a weight stands for scores of very different sizes, that takes more digits: w / (1 - w), which
        decides, has to keep six of its own for other lists.
        """
        chosen = self.candidates.select(self.weight).chosen
        for digits in range(6, 17):
            text = f"{self.weight:.{digits}g}"
            same = math.isclose(_odds(float(text)), _odds(self.weight), rel_tol=1e-5)
            if same and np.array_equal(self.candidates.select(float(text)).chosen, chosen):
                return text
        return repr(self.weight)

    def write(self, path: str | Path) -> None:
        """Write them as JSON lines, atomically."""
        missing = frozenset(self.missing)
        write_rescored(path, self.candidates, self.weight, self.normalise, self.given, missing)

    def write_texts(self, texts: str | Path | None, references: str | Path | None = None) -> int:
        """Write the transcripts that were chosen, as they were given: see `quartet.nbest.rescored_file.write_texts`."""
        given = [one.reference for one in self.given]
        return write_texts(
            zip((row["transcript"] for row in self.records), given, strict=True), texts, references
        )

    def write_counted(self, texts: str | Path | None, references: str | Path | None = None) -> int:
        """Write the same texts as they were counted, of which other tools have our figures."""
        return write_texts(((row["best"], row.get("ref")) for row in self.records), texts, references)

    def __len__(self) -> int:
        return len(self.candidates.lists)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return self.records[index]


def rescore(
    model: TextScorer,
    lists: Lists,
    *,
    weight: float | None = None,
    tune: Lists | None = None,
    weights: Sequence[float] | Floats | None = None,
    format: str | None = None,
    metric: str | Metric = "wer",
    normalise: Normalisation | None = None,
    score: ScoreReduction = "sum",
    masked: bool = True,
    unknown: UnknownHandling = "spread",
    skip_malformed: bool = False,
    skip_missing: bool = False,
    scores_are: ScoreMeaning | None = None,
    cache: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RescoredLists:
    """Order the hypotheses of each list by (1 - weight) * first pass + weight * language model.

    Every distinct text, of the lists and of those to tune on together, is scored once.

    Args:
        model: what ``quartet.load`` opens, or any other scorer of texts.
        lists: a path, `quartet.nbest.formats.NBestFiles` where the references or costs lie in files of their own, or
            lists that are made already.
        weight: from 0 (the first pass unchanged) to 1 (the language model alone).
        tune: in its place, lists with references: the weight that is best on them by the metric is taken, whatever the
            units of the two scores are (see `quartet.nbest.line_search`).
        weights: to try with `tune`, in the place of that search; of equally good ones the smallest is taken. See
            `quartet.nbest.rerank.weight_grid`.
        format: of the files, a key of `quartet.nbest.formats.FORMATS`; None: told by each file's content.
        metric: ``wer``, ``cer``, ``bleu`` (sacrebleu's defaults), or a metric of your own.
        normalise: what is done to all texts before they are scored and counted; None: for ``wer`` and ``cer``
            case and punctuation go, for others nothing but superfluous white space.
        score: of a text: the sum of its tokens' log-probabilities, or their mean.
        masked: False: a masked model reads the intact input.
        unknown: what is done with tokens that the model does not know. ``spread``: each costs what its word does by the
            formula of `quartet.scoring.unknown`, so that a text in an unknown script does not win by its [UNK]s;
            ``warn``: it has the probability of [UNK]; ``error``: it ends the run. `RescoredLists.unknown` counts them.
        skip_malformed: malformed lists are left out, and stand in `RescoredLists.refused`.
        skip_missing: utterances with a reference and without a list are left out, which else count as an empty
            hypothesis, and stand in `RescoredLists.missing`.
        scores_are: what the first pass's numbers are; None: as the format says, unless the lists contradict.
        cache: a file that keeps scores for another call, or for the same one after it was killed.
        progress: called with (texts scored, texts in all).

    Raises:
        InputError: an option has no such value, a file is malformed, the weight is given not at all or in
            both ways or is out of its bounds, there are weights to try and nothing to tune on, or the lists to tune on
            do not serve; the cache is one of the lists' files or holds something else.

    >>> class Words:  # a language model that likes short texts
    ...     name, scale, device, masks, fingerprint = "words", "", "cpu", False, "words"
    ...     def token_logprobs(self, texts, masked=True):
    ...         import numpy as np
    ...         return [np.full(len(text.split()), -1.0) for text in texts]
    >>> from quartet.nbest.types import Hypothesis, NBest
    >>> given = [NBest("u1", (Hypothesis("a b c", -1.0), Hypothesis("a b", -1.5)), "a b")]
    >>> found = rescore(Words(), given, weight=0.5)
    >>> found[0]["best"], found[0]["hypotheses"][0]["score"], found.first_pass, found.value
    ('a b', -1.75, 50.0, 0.0)
    """
    if not hasattr(model, "token_logprobs"):
        raise InputError("rescore: model", f"{model!r:.{SHOWN}} is no model", "open one: quartet.load(...)")
    if (tune is None) == (weight is None):
        raise InputError("rescore", "the weight is needed once", "give either weight or tune")
    if weight is not None and not _is_weight(weight):
        raise InputError("rescore: weight", f"{weight!r} is not between 0 and 1")
    tried: list[float] | None = None
    if weights is not None:
        if tune is None:
            raise InputError("rescore: weights", "there is nothing to try them on", "give lists as tune")
        tried = sorted(weights) if isinstance(weights, Iterable) else [weights]
        if not tried or not all(map(_is_weight, tried)):
            raise InputError("rescore: weights", f"{tried} are not one or more between 0 and 1")
    check_choice(score, get_args(ScoreReduction), "rescore: score")
    check_choice(unknown, get_args(UnknownHandling), "rescore: unknown")
    if format is not None:
        check_choice(format, FORMATS, "rescore: format")
    if scores_are is not None:
        check_choice(scores_are, get_args(ScoreMeaning), "rescore: scores_are")
    if not isinstance(normalise, Normalisation | None):
        raise InputError(
            "rescore: normalise", f"{normalise!r:.{SHOWN}} is no Normalisation", "give one, or leave it out"
        )
    judge = metric_named(metric) if isinstance(metric, str) else metric
    how = default_normalisation(judge.name) if normalise is None else normalise
    readings = [
        reading_of(each, format, skip_malformed, skip_missing, scores_are)
        for each in (lists, tune)
        if each is not None
    ]
    check_paths(
        [("lists", path) for each in (lists, tune) for path in _paths(each)],
        cache=None if cache is None else Path(cache),
    )
    sets = [how.lists(reading.lists) for reading in readings]
    if tune is not None:
        check_tunable(sets[1], sets[0])
    texts = texts_of(one for each in sets for one in each)
    strange = unknown_in(model, texts, unknown)
    strange.warn()
    with nullcontext() if cache is None else ScoreCache(cache) as kept:
        values = strange.applied(score_all(model, texts, masked, kept, progress))
    found = dict(zip(texts, values, strict=True))
    scorer = score_texts(lambda wanted: [found[text] for text in wanted], score)
    candidates = [Candidates(each, score_lists(each, scorer), CountTable.of(each, judge)) for each in sets]
    if weight is None:
        weight = candidates[1].best(tried).weight
    refused = [error for reading in readings for error in (*reading.refused, *reading.references_refused)]
    return RescoredLists(
        candidates[0],
        weight,
        readings[0].lists,
        how,
        tuple(refused),
        readings[0].missing,
        readings[1].missing if len(readings) > 1 else (),
        strange.share,
        0 if tune is None else in_common(readings[1].lists, readings[0].lists),
    )


def _odds(weight: float) -> float:
    """What the language model counts for one of the first pass; infinite at weight 1."""
    return math.inf if weight == 1 else weight / (1 - weight)


def _is_weight(value: object) -> bool:
    return isinstance(value, Real) and 0 <= float(value) <= 1


def _paths(lists: Lists | None) -> list[Path]:
    """The files that are still to be read."""
    if isinstance(lists, NBestFiles):
        return lists.paths
    return [Path(lists)] if isinstance(lists, str | Path) else []


def reading_of(
    lists: Lists,
    name: str | None,
    skip_malformed: bool,
    skip_missing: bool = False,
    scores_are: ScoreMeaning | None = None,
) -> IngestedLists:
    """Lists with what was refused of them.

    Raises:
        InputError: the files are malformed, or `lists` is no collection of lists.
    """
    if isinstance(lists, IngestedLists):
        return lists
    if isinstance(lists, str | Path):
        lists = NBestFiles(Path(lists))
    if not isinstance(lists, NBestFiles):
        entries = (
            ListEntry.of(f'utterance "{one.utterance}"', partial(_checked, one)) for one in _given(lists)
        )
        return orient_scores(collect(entries, "the lists", skip_malformed), "the lists", scores_are)
    return read(name, lists, skip_malformed, skip_missing, scores_are)


def _checked(one: NBest) -> NBest:
    """A copy, in the order of scores.

    Raises:
        InputError: its name, its reference or a hypothesis is no text, or cannot be encoded.
    """
    place = f"utterance {one.utterance!r}"
    check_unicode(one.utterance, f"{place}: the name")
    if one.reference is not None:
        check_unicode(one.reference, f"{place}: the reference")
    for each in one.hypotheses:
        check_unicode(each.text, f"{place}: a hypothesis")
    return replace(one)


def _given(lists: Iterable[NBest]) -> Iterator[NBest]:
    """The lists of a collection or generator.

    Raises:
        InputError: it is no collection, or holds what is no list.
    """
    if not isinstance(lists, Iterable):
        raise InputError("lists", f"a collection is needed, not one {type(lists).__name__}", "write [list]")
    for number, one in enumerate(lists):
        if not isinstance(one, NBest):
            raise InputError(
                f"lists[{number}]", f"an NBest is needed, not a {type(one).__name__}", "make it one"
            )
        yield one
