"""Questions about passages: what is trained on, and what is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.progress import say
from pipeline.task_sets import sets_of
from quartet.config.finetuning import QuestionTuning
from quartet.tasks.race.data import ChoiceQuestion
from quartet.tasks.squad.data import Question

TRAIN = "train"
#: A SQuAD that comes as one file, and what its judged part is called: never dev, which is another one.
WHOLE, HELD_OUT = "all", "held-out"

Asked = TypeVar("Asked", Question, ChoiceQuestion)


@dataclass(frozen=True)
class Questions(Generic[Asked]):
    """A set.

    Attributes:
        name: its entry under ``tasks:``.
        train: what is trained on.
        judged: by split.
        scale: what was trained on, for the line that goes beside every figure.
    """

    name: str
    train: list[Asked]
    judged: dict[str, list[Asked]]
    scale: str


def squad_sets(params: Params, layout: Layout) -> Iterator[Questions[Question]]:
    """Yield every set of kind squad that has questions to train on and to judge."""
    for name, roles in sets_of("squad", params, layout):
        found = dict(roles)
        if WHOLE in found:
            train, held_out = divided(found.pop(WHOLE), params.squad.held_out)
            found = {**found, TRAIN: [*found.get(TRAIN, []), *train], HELD_OUT: held_out}
        yield from _limited(name, found, params.squad)


def race_sets(params: Params, layout: Layout) -> Iterator[Questions[ChoiceQuestion]]:
    """Yield every set of kind race; files of one level (``dev_middle``, ``dev_high``) make one split."""
    for name, roles in sets_of("race", params, layout):
        found: dict[str, list[ChoiceQuestion]] = {}
        for role, questions in roles.items():
            found.setdefault(role.partition("_")[0], []).extend(questions)
        yield from _limited(name, found, params.race)


def divided(questions: Sequence[Question], share: float) -> tuple[list[Question], list[Question]]:
    """The questions of the first articles, and of the last ones, which are so large a share of all articles.

    At least one article is on either side, where there are two.
    """
    titles = list(dict.fromkeys(question.title for question in questions))
    kept = len(titles) - max(1, round(share * len(titles)))
    first = set(titles[: max(1, kept)])
    return (
        [question for question in questions if question.title in first],
        [question for question in questions if question.title not in first],
    )


def spread(items: Sequence[Asked], limit: int) -> list[Asked]:
    """So many items, spread evenly over all (0: all)."""
    if not 0 < limit < len(items):
        return list(items)
    return [items[number * len(items) // limit] for number in range(limit)]


def _limited(
    name: str, roles: Mapping[str, list[Asked]], settings: QuestionTuning
) -> Iterator[Questions[Asked]]:
    train = spread(roles.get(TRAIN, []), settings.train_limit)
    judged = {
        split: spread(questions, settings.judged_limit)
        for split, questions in roles.items()
        if split != TRAIN and questions
    }
    if not train or not judged:
        say(f"{name}: {'nothing to judge' if train else 'no file train'}: left out")
        return
    whole = len(roles[TRAIN])
    share = f"{len(train):,}" if len(train) == whole else f"{len(train):,} of {whole:,}"
    yield Questions(name, train, judged, f"tuned on {share} questions of {name}, epochs: {settings.epochs}")
