"""The small world that tests of stages share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import FrameType
from typing import Any, get_type_hints

import pytest

from pipeline import dvc_yaml
from pipeline.params import Params
from pipeline.stages import EVALUATIONS, STAGES
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.stages.world import World

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def world(
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    small_corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]],
) -> World:
    """The preset tiny in an empty folder, without sets."""
    made = World(workspace, monkeypatch, *small_corpus)
    made.set(tasks={}, nli__sets=[], evaluate={name: [] for name in EVALUATIONS})
    return made


#: Sections of the settings whose numbers a stage reads from nowhere else.
SECTIONS = (
    "rerank",
    "perplexity",
    "finetune",
    "word2vec",
    "runtime",
    "glue",
    "nli",
    "squad",
    "race",
    "blimp",
)


@pytest.fixture(autouse=True)
def _no_stage_reads_what_it_does_not_depend_on(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An edit of a setting that a stage reads and dvc.yaml does not name for it would leave a stale result."""
    read: set[tuple[str, str]] = set()
    for field in fields(Params):
        kind = get_type_hints(Params)[field.name]
        if field.name in SECTIONS:
            keys = {each.name for each in fields(kind)}

            def noted(self: Any, name: str, section: str = field.name, keys: set[str] = keys) -> Any:
                if name in keys and (stage := stage_that_reads(sys._getframe(1))):
                    read.add((stage, f"{section}.{name}"))
                return object.__getattribute__(self, name)

            monkeypatch.setattr(kind, "__getattribute__", noted, raising=False)
    yield
    stale = {
        (stage, key)
        for stage, key in read
        if stage in STAGES
        and not any(f"{key}.".startswith(f"{each}.") for each in dvc_yaml.settings_keys(stage))
    }
    assert not stale, "these stages read what is not in their params in dvc.yaml"


def stage_that_reads(frame: FrameType | None) -> str | None:
    """The stage whose script is at work where settings are read for what they do; None where they are checked."""
    if frame is None or frame.f_code.co_name == "__post_init__":
        return None
    reader = Path(frame.f_code.co_filename)
    ours = any(reader.is_relative_to(ROOT / place) for place in ("src", "pipeline", "stages"))
    if not ours or any(
        reader.is_relative_to(ROOT / "pipeline" / each) for each in ("params.py", "settings.py")
    ):
        return None
    while frame is not None:
        script = Path(frame.f_code.co_filename)
        if script.parent == ROOT / "stages":
            return script.stem.replace("_", "-")
        frame = frame.f_back
    return None
