"""Questions about passages, SQuAD's and RACE's: the sets, how they are read, the rows of choices, and the baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.task_sets import sets_of
from pipeline.tracking.progress import say
from quartet.config.finetuning import QuestionPositions, QuestionSettings
from quartet.config.model import ModelConfig
from quartet.results import Measure, Result, rows_of, system_name
from quartet.tasks.race.data import ChoiceQuestion
from quartet.tasks.race.metrics import bag_of_words, majority, race_measures
from quartet.tasks.squad.data import SpanQuestion
from quartet.tasks.squad.metrics import no_answers, random_spans, squad_measures

TRAIN = "train"
#: A SQuAD that comes as one file, and what its judged part is called: never dev, which is another one.
WHOLE, HELD_OUT = "all", "held-out"

AnyQuestion = TypeVar("AnyQuestion", SpanQuestion, ChoiceQuestion)


@dataclass(frozen=True)
class QuestionSet(Generic[AnyQuestion]):
    """A set.

    Attributes:
        name: its entry under ``tasks:``.
        train: what is trained on.
        judged: by split.
        scale: what was trained on, for the line that goes beside every figure.
    """

    name: str
    train: list[AnyQuestion]
    judged: dict[str, list[AnyQuestion]]
    scale: str


def squad_sets(params: Params, layout: Layout) -> Iterator[QuestionSet[SpanQuestion]]:
    """Yield every set of kind squad that has questions to train on and to judge."""
    for name, roles in sets_of("squad", params, layout):
        found = dict(roles)
        if WHOLE in found:
            train, held_out = split_by_article(found.pop(WHOLE), params.squad.held_out)
            found = {**found, TRAIN: [*found.get(TRAIN, []), *train], HELD_OUT: held_out}
        yield from _limited(name, found, params.squad)


def race_sets(params: Params, layout: Layout) -> Iterator[QuestionSet[ChoiceQuestion]]:
    """Yield every set of kind race; files of one level (``dev_middle``, ``dev_high``) make one split."""
    for name, roles in sets_of("race", params, layout):
        found: dict[str, list[ChoiceQuestion]] = {}
        for role, questions in roles.items():
            found.setdefault(role.partition("_")[0], []).extend(questions)
        yield from _limited(name, found, params.race)


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
    name: str, roles: Mapping[str, list[AnyQuestion]], settings: QuestionSettings
) -> Iterator[QuestionSet[AnyQuestion]]:
    train = evenly_spread(roles.get(TRAIN, []), settings.train_limit)
    judged = {
        split: evenly_spread(questions, settings.judged_limit)
        for split, questions in roles.items()
        if split != TRAIN and questions
    }
    if not train or not judged:
        say(f"{name}: {'nothing to judge' if train else 'no file train'}: left out")
        return
    whole = len(roles[TRAIN])
    share = f"{len(train):,}" if len(train) == whole else f"{len(train):,} of {whole:,}"
    yield QuestionSet(name, train, judged, f"tuned on {share} questions of {name}, epochs: {settings.epochs}")


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
    """The passages that questions are about, each once: what Punkt is trained on, where it is to be trained."""
    yield from dict.fromkeys(
        one.context if isinstance(one, SpanQuestion) else one.passage for one in questions
    )


@dataclass(frozen=True)
class ChosenOptions:
    """What a system chose on a split.

    Attributes:
        options: the number of an option a question.
        read: the share of the passages' tokens that it read; None: it reads none.
    """

    split: str
    questions: Sequence[ChoiceQuestion]
    options: Sequence[int]
    read: float | None = None


def race_rows(
    params: Params,
    dataset: str,
    chosen: ChosenOptions,
    *,
    model: str,
    reading: str = "",
    device: str,
    scale: str,
    seed: int | None,
) -> list[Result]:
    """The rows of one system on one split: the set is <dataset>, its levels <dataset>-middle and <dataset>-high."""
    bootstrap_seed = params.seeds[0] if seed is None else seed
    measures = race_measures(chosen.questions, chosen.options, params.bootstrap, bootstrap_seed)
    rows: list[Result] = []
    for part, measure in measures.items():
        found = {"accuracy": measure}
        if part == "all" and chosen.read is not None:
            found["passage-read"] = Measure(chosen.read, len(chosen.questions))
        rows += rows_of(
            found,
            experiment=params.experiment,
            table="race",
            model=model,
            reading=reading,
            dataset=dataset if part == "all" else f"{dataset}-{part}",
            split=chosen.split,
            device=device,
            scale=scale,
            seed=seed,
        )
    say(
        f"{system_name(model, reading)} on {dataset} {chosen.split}: accuracy {100 * measures['all'].value:.1f} %"
    )
    return rows


CHOICES: dict[str, Callable[[Sequence[ChoiceQuestion], Sequence[ChoiceQuestion]], list[int]]] = {
    "majority": majority,
    "bag-of-words": bag_of_words,
}
#: What a baseline has on SQuAD: no threshold.
KEPT = ("em", "f1", "em-hasans", "f1-hasans", "noans")


def squad_baselines(params: Params, layout: Layout) -> Iterator[Result]:
    """Yield the rows of a random span and, where some questions have no answer, of never answering."""
    seed = params.seeds[0]
    for data in squad_sets(params, layout):
        for split, questions in data.judged.items():
            systems = {"random-span": random_spans(questions, seed, params.squad.max_answer)}
            if not all(question.answers for question in questions):
                systems["no-answer"] = no_answers(questions)
            for system, predictions in systems.items():
                measures = squad_measures(questions, predictions, params.bootstrap, seed)
                yield from rows_of(
                    {metric: measure for metric, measure in measures.items() if metric in KEPT},
                    experiment=params.experiment,
                    table="squad",
                    model=system,
                    dataset=data.name,
                    split=split,
                    device="cpu",
                    scale="trained on nothing",
                )


def race_baselines(params: Params, layout: Layout) -> Iterator[Result]:
    """Yield the rows of the majority letter and of a bag of words, trained on what the models are tuned on."""
    for data in race_sets(params, layout):
        for split, questions in data.judged.items():
            for system, baseline in CHOICES.items():
                chosen = ChosenOptions(split, questions, baseline(data.train, questions))
                scale = f"{len(data.train):,} questions of {data.name}"
                yield from race_rows(
                    params, data.name, chosen, model=system, device="cpu", scale=scale, seed=None
                )
