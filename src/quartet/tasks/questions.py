"""Questions about passages, SQuAD's and RACE's: what is tuned on, what is judged, and how questions are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from quartet.config.finetuning import QuestionPositions, QuestionSettings, RaceSettings, SquadSettings
from quartet.config.model import ModelConfig
from quartet.errors import InputError
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.race.data import ChoiceQuestion
from quartet.tasks.squad.data import SpanQuestion
from quartet.text.segmenter import PunktChoice, Segmenter, load_segmenter

TRAIN = "train"
#: A SQuAD that comes as one file, and what its judged part is called: never dev, which is another one.
WHOLE, HELD_OUT = "all", "held-out"

AnyQuestion = TypeVar("AnyQuestion", SpanQuestion, ChoiceQuestion)
#: (name, format, questions by role) of each set.
PublishedSets = Iterable[tuple[str, str, Mapping[str, list[AnyQuestion]]]]


@dataclass(frozen=True)
class QuestionSet(Generic[AnyQuestion]):
    """A set.

    Attributes:
        name: its entry under ``tasks:``.
        format: which published set it is.
        train: what is trained on.
        judged: by split.
        scale: what was trained on, for the line that goes beside every figure.
    """

    name: str
    format: str
    train: list[AnyQuestion]
    judged: dict[str, list[AnyQuestion]]
    scale: str

    def segmenter(self, punkt: PunktChoice, curated: bool) -> Segmenter:
        """What finds the sentences of its passages; Punkt is trained on its own ones, where it is to be trained."""
        return load_segmenter(punkt, "english", partial(passages, self.train), curated=curated)


def squad_sets(
    run: Evaluation, sets: PublishedSets[SpanQuestion], settings: SquadSettings
) -> Iterator[QuestionSet[SpanQuestion]]:
    """Yield every set of SQuAD's that has questions to train on and to judge."""
    for name, form, roles in sets:
        found = dict(roles)
        if WHOLE in found:
            train, held_out = split_by_article(found.pop(WHOLE), settings.held_out)
            found = {**found, TRAIN: [*found.get(TRAIN, []), *train], HELD_OUT: held_out}
        yield from _limited(run, name, form, found, settings)


def race_sets(
    run: Evaluation, sets: PublishedSets[ChoiceQuestion], settings: RaceSettings
) -> Iterator[QuestionSet[ChoiceQuestion]]:
    """Yield every set of RACE's; files of one level (``dev_middle``, ``dev_high``) make one split.

    Raises:
        InputError: two files of a split hold the same passage, whose questions would count twice.
    """
    for name, form, roles in sets:
        found: dict[str, list[ChoiceQuestion]] = {}
        owners: dict[tuple[str, str], str] = {}
        for role, questions in roles.items():
            split = role.partition("_")[0]
            for one in questions:
                if (owner := owners.setdefault((split, one.article_id), role)) != role:
                    reason = f"{one.article_id} is in {owner} already"
                    raise InputError(f"params.yaml: tasks.{name}.files.{role}", reason, "take one file out")
            found.setdefault(split, []).extend(questions)
        yield from _limited(run, name, form, found, settings)


def split_by_article(
    questions: Sequence[SpanQuestion], share: float
) -> tuple[list[SpanQuestion], list[SpanQuestion]]:
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


def evenly_spread(items: Sequence[AnyQuestion], limit: int) -> list[AnyQuestion]:
    """So many items, spread evenly over all (0: all)."""
    if not 0 < limit < len(items):
        return list(items)
    return [items[number * len(items) // limit] for number in range(limit)]


def _limited(
    run: Evaluation,
    name: str,
    form: str,
    roles: Mapping[str, list[AnyQuestion]],
    settings: QuestionSettings,
) -> Iterator[QuestionSet[AnyQuestion]]:
    train = evenly_spread(roles.get(TRAIN, []), settings.train_limit)
    judged = {
        split: evenly_spread(questions, settings.judged_limit)
        for split, questions in roles.items()
        if split != TRAIN and questions
    }
    if not train or not judged:
        run.say(f"{name}: {'nothing to judge' if train else 'no file train'}: left out")
        return
    whole = len(roles[TRAIN])
    share = f"{len(train):,}" if len(train) == whole else f"{len(train):,} of {whole:,}"
    scale = f"tuned on {share} questions of {name}, epochs: {settings.epochs}"
    yield QuestionSet(name, form, train, judged, scale)


def readings(
    settings: QuestionSettings, model: ModelConfig, order_differs: bool
) -> Iterator[tuple[str, QuestionPositions]]:
    """Yield (the name of the reading, how questions are read) of each training.

    Args:
        order_differs: the two readings differ for every model; else only for those that see segments, and another
            training would be the same.
    """
    aware = bool({"sentence", "paragraph"} & set(model.positions))
    for number, positions in enumerate(settings.positions):
        if number == 0 or aware or order_differs:
            yield ("" if positions == "paper" else positions), positions


def passages(questions: Sequence[AnyQuestion]) -> Iterator[str]:
    """The passages that questions are about, each once."""
    yield from dict.fromkeys(
        one.context if isinstance(one, SpanQuestion) else one.passage for one in questions
    )


def file_stem(data: QuestionSet[AnyQuestion], split: str, reading: str, seed: int) -> str:
    """What the files of a training's predictions are called: ``squad1.dev.released.seed-1``."""
    return f"{data.name}.{split}{f'.{reading}' if reading else ''}.seed-{seed}"
