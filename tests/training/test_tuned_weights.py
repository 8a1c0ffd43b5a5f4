"""What an evaluation keeps of its tunings: all that it asked for, and nothing else."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from quartet.tasks.race.data import ChoiceQuestion
from quartet.training.tuned_weights import KeptTunings, tuning_name


def write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(path.name)


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def kept_tunings(folder: Path) -> KeptTunings:
    return KeptTunings(lambda seed: folder / f"seed-{seed}", "threads: 1")


#: What stands before the names of all that is kept with these settings.
OWN = f"{hashlib.sha256(b'threads: 1').hexdigest()[:16]}-"


#: What is asked for of a seed -> a file of it, as the tunings leave them: weights, or a folder of a search of a grid.
SHAPES: dict[tuple[str, ...], str] = {
    ("{}.safetensors",): OWN + "{}.safetensors",
    ("rte", "{}"): f"rte/{OWN}{{}}/16-0.001-3.seed-1.json",
}


@pytest.mark.parametrize("parts", SHAPES)
def test_what_was_asked_for_stays_and_the_rest_goes(tmp_path: Path, parts: tuple[str, ...]) -> None:
    def of(*names: str) -> set[str]:
        return {f"seed-{seed}/{SHAPES[parts].format(name)}" for seed in (1, 2) for name in names}

    for name in of("old", "older", "same"):
        write(tmp_path / name)
    with kept_tunings(tmp_path) as kept:
        for seed in (1, 2):
            for name in ("same", "new"):
                asked = [part.format(name) for part in parts]
                place = tmp_path.joinpath(f"seed-{seed}", *asked)
                assert kept.path(seed, *asked) == place.with_name(OWN + place.name)
        for name in of("new"):
            write(tmp_path / name)
        assert files(tmp_path) == of("old", "older", "same", "new"), "nothing goes before the end"
    assert files(tmp_path) == of("same", "new")


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_nothing_is_removed(tmp_path: Path, error: type[BaseException]) -> None:
    write(tmp_path / "seed-1" / "old.safetensors")
    with pytest.raises(error), kept_tunings(tmp_path) as kept:
        write(kept.path(1, "new.safetensors"))
        raise error
    assert files(tmp_path) == {"seed-1/old.safetensors", f"seed-1/{OWN}new.safetensors"}


def test_who_asked_for_nothing_removes_nothing(tmp_path: Path) -> None:
    write(tmp_path / "seed-1" / "old.safetensors")
    with kept_tunings(tmp_path):
        pass
    assert files(tmp_path) == {"seed-1/old.safetensors"}


def test_tuned_weights_have_another_name_where_anything_that_decides_them_differs() -> None:
    def asked(answer: int) -> ChoiceQuestion:
        return ChoiceQuestion(
            "high1.txt", 0, "It rains.", "Does it?", ("yes", "no", "maybe", "never"), answer, "high"
        )

    squad, race = "quartet.tasks.squad.tuning", "quartet.tasks.race.tuning"
    names = [
        tuning_name(squad, [asked(0)], "model", 1),
        tuning_name(race, [asked(0)], "model", 1),
        tuning_name(race, [asked(1)], "model", 1),
        tuning_name(race, [asked(1)], "other model", 1),
        tuning_name(race, [asked(1)], "other model", 2),
    ]
    assert len(set(names)) == len(names)
    assert names[0] == tuning_name(squad, [asked(0)], "model", 1)


def test_settings_name_what_is_kept(tmp_path: Path) -> None:
    """One thread's weights are not taken for those of two."""
    places = {KeptTunings(lambda seed: tmp_path, f"threads: {threads}").path(1, "a") for threads in (1, 2)}
    assert len(places) == 2
