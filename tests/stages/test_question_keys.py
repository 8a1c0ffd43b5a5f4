"""How questions are read as the paper says and as released, and what every key of squad: and race: moves."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from quartet.files import read_json
from tests.stages.world import LAYOUT, Tuned, World, all_different, values

FIRST, SECOND = "the miller crossed the river.", "It is Mr. Miller. No. 5 is his."
ASKED, ANSWER = "who crossed", "the miller"
OPTIONS = ["a letter", "the miller", "nothing at all", "a grey heron"]


def squad(articles: int) -> str:
    """An article a question, of a context of two paragraphs; every third has no answer."""
    data = []
    for number in range(articles):
        answers = [{"text": ANSWER, "answer_start": 0}] if number % 3 else []
        asked = {"id": str(number), "question": f"{ASKED} {number}", "answers": answers}
        paragraph = {
            "context": f"{FIRST}\n{SECOND} {number}",
            "qas": [{**asked, "is_impossible": not answers}],
        }
        data.append({"title": f"title {number}", "paragraphs": [paragraph]})
    return json.dumps({"data": data})


def race(count: int) -> str:
    rows = [
        {"id": f"high{number}.txt", "article": f"{FIRST}\n{SECOND} {number}", "answers": ["BDAC"[number % 4]]}
        for number in range(count)
    ]
    return "".join(json.dumps({**row, "questions": [ASKED], "options": [OPTIONS]}) + "\n" for row in rows)


@pytest.fixture
def asked(world: World) -> World:
    world.task("squad", "squad2", "squad2", {"all.json": squad(12)})
    world.task("race", "race", None, {"train.jsonl": race(6), "dev.jsonl": race(5)})
    world.model("tta", "segabert", max_length=80)
    return world


SQUAD: dict[str, Any] = {
    "squad__epochs": 1,
    "squad__batch_size": 8,
    "squad__learning_rate": 1e-3,
    "squad__warmup": 0.1,
    "squad__positions": ["paper"],
    "squad__max_length": 38,
    "squad__stride": 8,
    "squad__max_question": 64,
    "squad__max_answer": 30,
    "squad__train_limit": 0,
    "squad__judged_limit": 0,
    "squad__held_out": 0.25,
    "segmentation": {"punkt": "published", "curated": True},
}
OTHER_SQUAD: dict[str, Any] = {
    "squad__epochs": 2,
    "squad__batch_size": 4,
    "squad__learning_rate": 1e-2,
    "squad__warmup": 0.5,
    "squad__positions": ["released"],
    "squad__max_length": 30,
    "squad__stride": 4,
    "squad__max_question": 2,
    "squad__max_answer": 2,
    "squad__train_limit": 3,
    "squad__judged_limit": 2,
    "squad__held_out": 0.5,
    "segmentation": {"punkt": "published", "curated": False},
}
RACE = {key.replace("squad", "race"): value for key, value in SQUAD.items()} | {"race__max_length": 60}
OTHER_RACE = {key.replace("squad", "race"): value for key, value in OTHER_SQUAD.items()}
for settings in (RACE, OTHER_RACE):
    for absent in ("stride", "max_question", "max_answer", "held_out"):
        del settings[f"race__{absent}"]


def outcome(world: World, stage: str, tuned: list[Tuned]) -> Callable[[], Any]:
    """What was tuned, on what and how, and what was answered then."""

    def run() -> Any:
        tuned.clear()
        rows = world.run(stage, "tta")
        read = [
            (str(each.settings), each.inputs.ids_BT.tolist(), each.inputs.positions_BTP.tolist())
            for each in tuned
        ]
        answers = sorted(LAYOUT.predictions(stage, "tta").glob("*.json"))
        return read, [read_json(path) for path in answers], [(row.split, row.n) for row in rows]

    return run


@pytest.mark.parametrize(
    ("stage", "base", "others"), [("squad", SQUAD, OTHER_SQUAD), ("race", RACE, OTHER_RACE)]
)
def test_every_key_moves_what_is_tuned_or_answered(
    asked: World, stage: str, base: dict[str, Any], others: dict[str, Any]
) -> None:
    tuned = asked.tunings(stage)
    all_different(asked.moved(outcome(asked, stage, tuned), base, others))


def test_a_trained_punkt_splits_the_passages_of_the_questions(asked: World) -> None:
    tuned = asked.tunings("squad")
    sentences = {}
    for punkt in ("published", "trained"):
        asked.set(**{**SQUAD, "segmentation": {"punkt": punkt, "curated": False}})
        tuned.clear()
        asked.run("squad", "tta")
        sentences[punkt] = tuned[0].inputs.positions_BTP[..., 2].tolist()
    assert sentences["published"] != sentences["trained"]


@pytest.mark.parametrize(("positions", "paragraphs"), [("paper", {0, 1, 2}), ("released", {0, 1})])
def test_the_paragraphs_of_a_context_are_one_as_released(
    asked: World, positions: str, paragraphs: set[int]
) -> None:
    """As the paper says, its two are 1 and 2; the question is 0."""
    tuned = asked.tunings("squad")
    asked.set(**{**SQUAD, "squad__positions": [positions]})
    asked.run("squad", "tta")
    (one,) = tuned
    batch = one.inputs
    assert set(batch.positions_BTP[..., 3][batch.real_BT].tolist()) == paragraphs


@pytest.mark.parametrize("positions", ["paper", "released"])
def test_the_passage_comes_first_as_released(asked: World, positions: str) -> None:
    """Its two paragraphs are 0 and 1 then, and the question with its option 2; the paper has 1, 2 and 0."""
    tuned = asked.tunings("race")
    asked.set(**{**RACE, "race__positions": [positions]})
    asked.run("race", "tta")
    (one,) = tuned
    question, passage = (asked.tokenizer.encode(text) for text in (ASKED, FIRST))
    opens = passage if positions == "released" else question
    for row, places in zip(
        one.inputs.ids_BT.tolist(), one.inputs.positions_BTP[..., 3].tolist(), strict=True
    ):
        assert row[1 : 1 + len(opens)] == opens
        assert places[: 1 + len(opens)] == [0] * (1 + len(opens))
        asked_at = next(at for at in range(len(row)) if row[at : at + len(question)] == question)
        assert places[asked_at] == (2 if positions == "released" else 0)


#: Keys that decide no weight.
IDLE = {"squad__max_answer", "squad__judged_limit", "race__judged_limit"}


@pytest.mark.parametrize(
    ("stage", "base", "others"), [("squad", SQUAD, OTHER_SQUAD), ("race", RACE, OTHER_RACE)]
)
def test_what_decides_the_weights_tunes_again_and_nothing_else_does(
    asked: World, stage: str, base: dict[str, Any], others: dict[str, Any]
) -> None:
    tuned = asked.tunings(stage)

    def tunes() -> bool:
        tuned.clear()
        asked.run(stage, "tta")
        return bool(tuned)

    for key, value in others.items():
        asked.set(**base)
        tunes()
        asked.set(**{key: value})
        assert tunes() == (key not in IDLE), key
    asked.set(**base)
    tunes()
    assert not tunes()
    asked.model("tta", "segabert", max_length=80, init_std=0.7)
    assert tunes(), "another model of the same seed"


@pytest.mark.parametrize(("stage", "systems"), [("squad", {"tta"}), ("race", {"tta", "tta/released"})])
def test_without_segments_a_second_reading_is_one_where_it_has_another_order(
    asked: World, stage: str, systems: set[str]
) -> None:
    asked.tunings(stage)
    asked.model("tta", "bilm", max_length=80)
    asked.set(**{**(SQUAD if stage == "squad" else RACE), f"{stage}__positions": ["paper", "released"]})
    assert {row.system for row in asked.run(stage, "tta")} == systems


def test_how_much_of_the_passages_is_read_is_of_the_judged_ones(asked: World) -> None:
    files = {"train.jsonl": race(6), "dev.jsonl": race(5), "test.jsonl": race(5).replace(FIRST, 9 * FIRST)}
    asked.task("race", "race", None, files)
    asked.tunings("race")
    asked.set(**RACE)
    read = values(asked.run("race", "tta"), "race", "passage-read")
    assert read["tta", "race", "dev"] > read["tta", "race", "test"]
