"""No two things that stages leave share a place, and none lies within a file."""

from __future__ import annotations

import inspect
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.settings import read_params

#: What lies beside the trained models, and is told from them by its name alone.
MODELS = ("model", "pretrained", "ngram")
#: What other things lie in.
FOLDERS = {
    *("artifacts", "report", "all_tasks", "tasks", "all_nbest", "models", "model"),
    *("all_rescored", "rescored", "all_attention", "all_runtime_inputs"),
}


@pytest.fixture
def params(workspace: Path) -> Params:
    return read_params()


def everything(params: Params) -> list[tuple[str, Path]]:
    """Every place with its name, those of an entry or seed for two of them."""
    layout, names = Layout("tiny"), ["a", "b"]
    values: dict[str, list[Any]] = {
        **{"params": [params], "seed": [1, 2], "variant": ["", *names]},
        "folder": [Path("artifacts/tiny/folder")],
    }
    found = []
    for name, member in vars(Layout).items():
        if isinstance(member, property):
            found.append((name, getattr(layout, name)))
        elif inspect.isfunction(member) and not name.startswith("__") and name not in MODELS[1:]:
            _, *keys = inspect.signature(member).parameters
            for given in product(*(values.get(key, names) for key in keys)):
                found.append((name, member(layout, *given)))
    return found


def test_everything_has_a_place_of_its_own(params: Params) -> None:
    places = everything(params)
    assert len(places) > 80
    for (one, path), (other, beside) in combinations(places, 2):
        assert path != beside, (one, other)
    holding = {
        name
        for name, path in places
        if any(other.is_relative_to(path) for _, other in places if other != path)
    }
    assert holding == FOLDERS
    assert all(path.parts[0] in ("artifacts", "reports") for _, path in places)


def test_models_lie_beside_each_other(params: Params) -> None:
    layout = Layout("tiny")
    assert layout.pretrained("a") == layout.ngram("a") == layout.model("a", params, params.seeds[0])
