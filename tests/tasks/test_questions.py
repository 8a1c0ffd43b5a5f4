"""Which questions are trained on and judged, in which readings, and the settings that say so."""

from __future__ import annotations

from typing import Any

import pytest

from quartet.config.evaluation import AttentionSettings
from quartet.config.finetuning import RaceSettings, SquadSettings
from quartet.config.loading import checked
from quartet.errors import InputError
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.questions import evenly_spread, race_sets, readings, split_by_article, squad_sets
from quartet.tasks.race.data import ChoiceQuestion
from quartet.tasks.squad.data import SpanQuestion
from tests.models.shapes import KINDS, small


def asked(articles: int, each: int) -> list[SpanQuestion]:
    return [
        SpanQuestion(f"{article}-{number}", f"article {article}", "text", "?", ())
        for article in range(articles)
        for number in range(each)
    ]


def test_the_last_articles_are_held_out_whole() -> None:
    train, held_out = split_by_article(asked(8, 3), 0.25)
    assert {one.title for one in held_out} == {"article 6", "article 7"}
    assert len(train) == 18
    assert [len(part) for part in split_by_article(asked(2, 1), 0.9)] == [1, 1], (
        "one article stays on either side"
    )
    assert [len(part) for part in split_by_article(asked(5, 1), 0.01)] == [4, 1]


def passage(number: int) -> ChoiceQuestion:
    return ChoiceQuestion(f"high{number}.txt", 0, "text", "?", ("a", "b", "c", "d"), 0, "high")


def test_a_passage_in_two_files_of_a_split_is_refused() -> None:
    """Its questions would count twice."""
    run = Evaluation("notebook", "race", samples=10, seed=1)
    files = {"train": [passage(1)], "dev": [passage(1), passage(2)], "dev_high": [passage(3)]}
    (found,) = race_sets(run, [("race", "race", files)], RaceSettings())
    assert [one.article_id for one in found.judged["dev"]] == ["high1.txt", "high2.txt", "high3.txt"]
    files["dev_high"].append(passage(2))
    with pytest.raises(InputError, match=r"high2\.txt is in dev already") as refused:
        list(race_sets(run, [("race", "race", files)], RaceSettings()))
    assert refused.value.place == "params.yaml: tasks.race.files.dev_high"


@pytest.mark.parametrize(("limit", "kept"), [(0, 10), (10, 10), (99, 10), (4, 4), (1, 1)])
def test_a_limit_is_spread_over_all(limit: int, kept: int) -> None:
    questions = asked(10, 1)
    found = evenly_spread(questions, limit)
    assert len(found) == len({one.id for one in found}) == kept
    places = [questions.index(one) for one in found]
    assert places == sorted(places)
    if limit == 4:
        assert places == [0, 2, 5, 7]


def test_the_released_reading_is_a_second_training_only_where_it_differs() -> None:
    both = SquadSettings(positions=("paper", "released"))
    aware, plain = small(**KINDS["segabert"]), small(**KINDS["bilm"])
    assert list(readings(both, aware, order_differs=False)) == [("", "paper"), ("released", "released")]
    assert list(readings(both, plain, order_differs=False)) == [("", "paper")]
    assert list(readings(RaceSettings(positions=("paper", "released")), plain, order_differs=True)) == [
        ("", "paper"),
        ("released", "released"),
    ]
    assert list(readings(SquadSettings(positions=("released",)), plain, False)) == [("released", "released")]


def test_the_papers_settings_are_the_defaults() -> None:
    settings = checked(SquadSettings, {}, "params.yaml: squad")
    assert (settings.epochs, settings.batch_size, settings.learning_rate) == (4, 128, 3e-5)
    assert (settings.max_length, settings.stride, settings.max_answer) == (384, 128, 30)
    assert settings.positions == ("paper",)


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        (
            SquadSettings,
            {"position": ["paper"]},
            "position: unknown key; the nearest known key is 'positions'",
        ),
        (SquadSettings, {"positions": []}, "name paper, released or both, each once"),
        (RaceSettings, {"positions": ["paper", "paper"]}, "name paper, released or both, each once"),
        (RaceSettings, {"stride": 3}, "stride: unknown key"),
        (SquadSettings, {"held_out": 1.0}, "held_out"),
        (
            AttentionSettings,
            {"layers": [0], "head": "mean", "tokens": 9, "documents": 1, "document": 0},
            "layers[0]",
        ),
        (
            AttentionSettings,
            {"layers": [], "head": "mean", "tokens": 9, "documents": 1, "document": 0},
            "layers",
        ),
    ],
)
def test_mistakes_are_named(kind: Any, data: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        checked(kind, data, "params.yaml")
    assert message in str(caught.value)


def test_layers_by_name_and_number() -> None:
    settings = AttentionSettings(layers=["last", 2, "first"], head="mean", tokens=64, documents=1, document=0)
    assert settings.numbers(12) == [1, 2, 12]
    assert settings.numbers(2) == [1, 2]
    assert settings.numbers(9) == [1, 2, 9]


def test_a_set_in_one_file_is_split_and_tuned_on_beside_its_training_questions() -> None:
    roles = {"train": asked(2, 3)[3:], "all": asked(4, 1), "dev": asked(1, 5)}
    run = Evaluation("made-up", "squad", samples=50, seed=1)
    (found,) = squad_sets(run, [("own", "squad2", roles)], SquadSettings(held_out=0.25))
    assert found.train == [*roles["train"], *roles["all"][:3]]
    assert found.judged == {"dev": roles["dev"], "held-out": roles["all"][3:]}
