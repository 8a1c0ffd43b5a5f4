"""DVC can read what it writes: `dvc exp run -S` rewrites params.yaml without quotes before it reads it again."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

import pytest
from dvc.utils.hydra import apply_overrides
from dvc.utils.serialize import load_yaml

from quartet.config.loading import read_yaml
from tests.imports import ROOT

PRESETS = sorted(path.stem for path in (ROOT / "presets").glob("*.yaml"))


def executor_of_the_page() -> str:
    """The line of docs/scale.md that names a cluster."""
    found = re.search(
        r"^executor: \{.*$", (ROOT / "docs" / "scale.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert found is not None
    return found[0]


@pytest.mark.parametrize(
    ("preset", "more"), [*((name, "") for name in PRESETS), ("tiny", executor_of_the_page())]
)
def test_dvc_reads_a_preset_that_it_has_rewritten(preset: str, more: str, tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    shutil.copyfile(ROOT / "presets" / f"{preset}.yaml", path)
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{more}\n", encoding="utf-8")
    written = read_yaml(path)
    apply_overrides(path, ["seeds=[5]"])
    assert load_yaml(path) == {**written, "seeds": [5]}


def test_the_parser_that_cannot_read_them_is_not_installed() -> None:
    """ruamel.yaml.clib takes no colon in an unquoted value within {}, and DVC uses it wherever it is installed."""
    assert importlib.util.find_spec("_ruamel_yaml") is None, "run `make setup`, which removes it"
    for name in ("requirements.in", "requirements.txt", "pyproject.toml"):
        lines = [line.partition("#")[0] for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
        assert not [line for line in lines if re.search(r"ruamel[._-]yaml[._-]clib", line)], name
