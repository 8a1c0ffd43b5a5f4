"""The rows of what the models on SQuAD and RACE are held against, none of which reads with a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.qa import race_sets, squad_sets
from pipeline.race_rows import Chosen, race_rows
from pipeline.results import rows_of
from quartet.results import Result
from quartet.tasks.race.data import ChoiceQuestion
from quartet.tasks.race.metrics import bag_of_words, majority
from quartet.tasks.squad.metrics import no_answers, random_spans, squad_measures

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
                    params=params,
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
                chosen = Chosen(split, questions, baseline(data.train, questions))
                scale = f"{len(data.train):,} questions of {data.name}"
                yield from race_rows(
                    params, data.name, chosen, model=system, device="cpu", scale=scale, seed=None
                )
