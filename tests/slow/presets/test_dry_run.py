"""The paper's presets with little work: nothing but sizes is changed, and one of them runs from end to end here.

`python -m tests.presets.dry_run` runs them all: minutes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from quartet.config.loading import read_yaml
from tests.imports import ROOT
from tests.presets.dry_run import PRESETS, dry_run, prepare
from tests.presets.shrink import LACKS, SIZES, differences, equip, shrink


@pytest.mark.parametrize("preset", PRESETS)
def test_nothing_but_sizes_is_changed(preset: str) -> None:
    settings = read_yaml(ROOT / "presets" / f"{preset}.yaml")
    small = shrink(settings)
    assert set(differences(settings, small)) <= SIZES
    equip(small, gpu=True, lmplz=True)
    assert set(differences(settings, small)) <= SIZES, "a machine that has everything replaces nothing"
    equip(small, gpu=False, lmplz=False)
    assert set(differences(settings, small)) <= SIZES | LACKS
    for model in settings["models"]:
        for key in ("layers", "heads", "max_length", "positions"):
            assert small["models"][model][key] == settings["models"][model][key]


@pytest.mark.parametrize("preset", PRESETS)
def test_the_data_lie_where_a_preset_looks_for_them(preset: str, tmp_path: Path) -> None:
    params, _ = prepare(preset, tmp_path)
    root = tmp_path / params.data.root
    named = [source.source for source in params.corpora.values()]
    named += [source.source for task in params.tasks.values() for source in task.files.values()]
    named += [path for each in params.translators.values() for path in (*each.train, *each.dev, *each.test)]
    assert named and all((root / path).exists() for path in named)


def test_a_preset_runs_from_raw_text_to_report(tmp_path: Path) -> None:
    """That of T-TA, whose models are the smallest."""
    done = dry_run("paper-tta-wiki", tmp_path)
    assert {"training", "perplexity", "sts"} <= set(done.tables)
    assert done.rows > 20
    text = (tmp_path / "reports" / "paper-tta-wiki" / "README.md").read_text(encoding="utf-8")
    assert "`tta`" in text
