"""What every key of glue: and finetune: moves in what is fine-tuned, on what and how."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest

from quartet.files import read_json, read_jsonl
from quartet.results import read_results
from tests.small_corpus import OBJECTS, SUBJECTS, VERBS
from tests.stages.world import LAYOUT, Tuned, World, all_different

PAIRS = [(f"{one} {did} {what}.", f"{one} {did}.") for one in SUBJECTS for did in VERBS for what in OBJECTS]


def rte(count: int, start: int) -> str:
    lines = [
        f"{number}\t{first}\t{second}\t{('entailment', 'not_entailment')[number % 2]}\n"
        for number, (first, second) in enumerate(PAIRS[start : start + count])
    ]
    return "index\tsentence1\tsentence2\tlabel\n" + "".join(lines)


def tuned_on(world: World, stage: str, tuned: list[Tuned]) -> Callable[[], Any]:
    """How each tuning was asked for, the first input of it, and what there is of results."""

    def run() -> Any:
        tuned.clear()
        shutil.rmtree(LAYOUT.artifacts / "resume", ignore_errors=True)
        rows = world.run(stage, "tta")
        asked = [
            (
                str(each.settings),
                len(each.examples),
                each.inputs.ids_BT.tolist(),
                getattr(each.task, "pooling", ""),
            )
            for each in tuned
        ]
        kept = {"batch-size", "learning-rate", "epochs"}
        return asked, [(row.metric, row.n, row.value if row.metric in kept else 0.0) for row in rows]

    return run


GRID: dict[str, Any] = {"batch_size": [8], "learning_rate": [1e-3], "epochs": [1, 2]}
GLUE: dict[str, Any] = {
    "glue__seeds": [1],
    "glue__limit": 0,
    "glue__max_length": 0,
    "glue__pooling": "cls",
    "glue__warmup": 0.0,
    "glue__own_schedule": False,
    "glue__tasks": {},
    "glue__default": GRID,
}
OTHER_GLUE: dict[str, Any] = {
    "glue__seeds": [2],
    "glue__limit": 12,
    "glue__max_length": 12,
    "glue__pooling": "mean",
    "glue__warmup": 0.5,
    "glue__own_schedule": True,
    "glue__tasks": {"rte": {**GRID, "batch_size": [4]}},
    "glue__default__batch_size": [4],
    "glue__default__learning_rate": [1e-3, 1e-2],
    "glue__default__epochs": [2],
}
FINETUNE: dict[str, Any] = {
    "finetune__folds": 2,
    "finetune__epochs": 1,
    "finetune__batch_size": 8,
    "finetune__learning_rate": 1e-3,
    "finetune__warmup": 0.1,
}
OTHER_FINETUNE: dict[str, Any] = {
    "finetune__folds": 3,
    "finetune__epochs": 2,
    "finetune__batch_size": 4,
    "finetune__learning_rate": 1e-2,
    "finetune__warmup": 0.5,
}


@pytest.mark.parametrize(
    ("stage", "base", "others"), [("glue", GLUE, OTHER_GLUE), ("finetune", FINETUNE, OTHER_FINETUNE)]
)
def test_every_key_moves_what_is_tuned(
    world: World, stage: str, base: dict[str, Any], others: dict[str, Any]
) -> None:
    world.task("glue", "rte", "rte", {"train.tsv": rte(24, 0), "dev.tsv": rte(8, 30)})
    labelled = [
        f"__label__{('pos', 'neg')[number % 2]} {first}\n" for number, (first, _) in enumerate(PAIRS[:24])
    ]
    world.task("classification", "polarity", None, {"texts": "".join(labelled)})
    world.model("tta", "tta", max_length=40)
    tuned = world.tunings(stage)
    all_different(world.moved(tuned_on(world, stage, tuned), base, others))


def test_the_seed_of_a_tuning_is_the_models(world: World) -> None:
    """But for GLUE, whose section names its own."""
    labelled = [
        f"__label__{('pos', 'neg')[number % 2]} {first}\n" for number, (first, _) in enumerate(PAIRS[:12])
    ]
    world.task("classification", "polarity", None, {"texts": "".join(labelled)})
    world.set(seeds=[3, 5], **FINETUNE)
    for seed in (3, 5):
        world.model("tta", "tta", seed=seed)
    tuned = world.tunings("finetune")
    world.run("finetune", "tta")
    assert [each.settings.seed for each in tuned] == [3, 3, 5, 5]
    assert {row.seed for row in read_results(LAYOUT.rows("finetune", "tta"))} == {3, 5}
    folds = [[text for text, _ in each.examples] for each in tuned]
    assert folds[:2] == folds[2:], "all models are tested on the same folds"


@pytest.mark.parametrize(("own_schedule", "trainings"), [(False, 2), (True, 4)])
def test_durations_of_glue_count_trainings_and_not_choices(
    world: World, own_schedule: bool, trainings: int
) -> None:
    """One training is read after both numbers of epochs, where they share a schedule."""
    world.task("glue", "rte", "rte", {"train.tsv": rte(24, 0), "dev.tsv": rte(8, 30)})
    world.model("tta", "tta", max_length=40)
    world.set(**{**GLUE, "glue__own_schedule": own_schedule, "glue__seeds": [1, 2]})
    tuned = world.tunings("glue")
    world.run("glue", "tta")
    assert len(tuned) == trainings
    (row,) = [row for _, row in read_jsonl(LAYOUT.timing("glue", "tta")) if row["name"] == "tune/rte/seed-1"]
    assert row["trainings"] == trainings


def test_each_seed_has_a_summary_of_its_own(world: World) -> None:
    world.task("glue", "rte", "rte", {"train.tsv": rte(12, 0), "dev.tsv": rte(8, 30)})
    world.tunings("glue")
    folder = LAYOUT.glue("tta")
    found = []
    for seeds in ([3], [3, 5]):
        world.set(seeds=seeds, **GLUE)
        for seed in seeds:
            world.model("tta", "tta", seed=seed, max_length=40)
        world.run("glue", "tta")
        found.append(read_json(folder / "summary.json"))
    assert found[0] == found[1]
    assert set(read_json(folder / "seed-5" / "summary.json")) == {"rte"}
