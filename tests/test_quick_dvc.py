"""DVC reads its files by libyaml, as the settings are read, and what the quick DVC of tests writes."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ruamel.yaml import YAML

from tests import quick_dvc
from tests.imports import ROOT

#: Where YAML 1.1 and 1.2 differ, or parsers might.
VALUES = """
{a: on, b: no, c: y, d: true, e: 1e-3, f: 1.0e-05, g: 1e-05, h: .5, i: 0o17, j: 0x1f, k: 1_000, l: "1:30", m: ~, n: ,
 o: 012, p: 2026-01-01, q: .inf, r: "1", 2: +3}
"""


def typed(value: Any) -> Any:
    """A value with the types of all that is in it: 1 is not True, and no text is a number."""
    if isinstance(value, dict):
        return {(type(key).__name__, key): typed(one) for key, one in value.items()}
    return [typed(one) for one in value] if isinstance(value, list) else (type(value).__name__, value)


@pytest.mark.parametrize("name", ["dvc.yaml", "presets/tiny.yaml", "presets/sample.yaml", ""])
def test_dvc_reads_by_libyaml_what_the_settings_have_and_what_the_quick_one_writes(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8") if name else VALUES
    by_dvc = YAML(typ="safe")
    assert by_dvc.Parser.__name__ == "CParser"
    found = by_dvc.load(text)
    expected = YAML(typ="safe", pure=True).load(text)
    assert typed(found) == typed(expected)
    written = yaml.dump(found, Dumper=quick_dvc.Dumper, sort_keys=False, allow_unicode=True)
    assert typed(YAML(typ="safe").load(written)) == typed(expected)
