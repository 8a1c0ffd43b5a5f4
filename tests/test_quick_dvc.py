"""The quick DVC of tests reads what DVC itself reads, and DVC what the quick one writes."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ruamel.yaml import YAML

from tests import quick_dvc
from tests.imports import ROOT

#: Where YAML 1.1 and 1.2 differ, or parsers might.
VALUES = """
{a: on, b: no, c: y, d: true, e: 1e-3, f: 1.0e-05, g: 1e-05, h: .5, i: 0o17, j: 0x1f, k: 1_000, l: 1:30, m: ~, n: ,
 o: "83e3637774283167", p: "1234567890123456", q: "0o17", r: "true", s: "on", t: ".5"}
"""


def typed(value: Any) -> Any:
    """A value with the types of all that is in it: 1 is not True, and no text is a number."""
    if isinstance(value, dict):
        return {key: typed(one) for key, one in value.items()}
    return [typed(one) for one in value] if isinstance(value, list) else (type(value).__name__, value)


@pytest.mark.parametrize("name", ["dvc.yaml", "presets/tiny.yaml", "presets/sample.yaml", ""])
def test_what_is_read_and_written_is_what_dvc_reads(name: str) -> None:
    quick_dvc.as_dvc_has_it()
    text = (ROOT / name).read_text(encoding="utf-8") if name else VALUES
    found = yaml.load(text, quick_dvc.Loader)
    expected = YAML(typ="safe", pure=True).load(text)
    assert typed(found) == typed(expected)
    written = yaml.dump(found, Dumper=quick_dvc.Dumper, sort_keys=False, allow_unicode=True)
    assert typed(YAML(typ="safe", pure=True).load(written)) == typed(expected)


@pytest.mark.parametrize("text", ["a: 012", "a: 1\na: 2", "a: &x {b: 1}\nc: {<<: *x, b: 2}"])
def test_what_the_two_might_take_differently_is_left_to_dvc(text: str) -> None:
    quick_dvc.as_dvc_has_it()
    with pytest.raises(yaml.YAMLError):
        yaml.load(text, quick_dvc.Loader)
