"""Outputs that no entry of params.yaml makes any more, out of the way of the stages that read whole folders.

What a folder holds is in the hash that DVC takes of it. With the leftovers of removed entries dvc.lock would have
hashes that no other clone can find. So the stage `settings` moves them to artifacts/<experiment>/removed, and back when
their entry is there again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from pipeline.layout import Layout, instances, record
from pipeline.params import TASK_STAGES, Params
from pipeline.progress import say

#: Where outputs lie below artifacts/<experiment>; one is moved as a whole.
PLACES = (
    *("raw/*", "segments/*", "tokenizers/*", "encoded/*/*", "tasks/*/*", "nbest/*"),
    *("translations/*", "translators/*", "recognised/*", "models/*", "vectors/*"),
    *("rows/*.jsonl", "rows/*/*.jsonl", "losses/*.jsonl", "curves/*.csv", "curves/*/*.csv"),
    *(
        "runtime.json",
        "rescored/*",
        "combined",
        "glue/*",
        "predictions/*/*",
        "attention/*",
        "runtime-inputs/*",
    ),
)


def outputs(params: Params, layout: Layout) -> set[Path]:
    """Every file and folder below artifacts/<experiment> that dvc.yaml names as an output for these settings."""
    found = {layout.combined, layout.timed, *map(layout.catalogue, catalogued(layout))}
    found |= {
        path if path.suffix == ".jsonl" else path.parent
        for path in (
            record(params, stage, variant, layout)
            for stage, variant in instances(params)
            if stage not in ("catalogue", "runtime")
        )
    }
    for name in params.models:
        found |= {layout.models / name, layout.curve(name), layout.losses(name)}
    found |= {layout.ngram(name) for name in params.ngrams}
    for name in params.translators:
        found |= {layout.translations(name), layout.translator(name), layout.translator_curve(name)}
    found |= {layout.vectors(name) for name in params.vectors}
    for name in params.evaluate.rerank:
        found |= {layout.rescored(name), layout.wer_curve(name)}
    found |= {layout.glue(name) for name in params.evaluate.glue}
    for stage in ("squad", "race"):
        found |= {layout.predictions(stage, name) for name in getattr(params.evaluate, stage)}
    found |= {layout.runtime_inputs(name) for name in params.runtime.models}
    return found | {layout.attention(name) for name in params.evaluate.attention}


def catalogued(layout: Layout) -> list[Path]:
    """The folders that have a catalogue of what belongs in them."""
    kinds = [layout.tasks(kind) for several in TASK_STAGES.values() for kind in several]
    return [layout.all_nbest, layout.all_rescored, layout.all_attention, layout.all_runtime_inputs, *kinds]


def set_apart(params: Params, layout: Layout) -> None:
    """Move what no entry makes to `layout.removed`, and back what an entry makes again; say so, with what deletes it.

    What comes back is held against dvc.lock by DVC, as everything is: where it is no longer right, its stage runs.
    """
    made = outputs(params, layout)
    for path in sorted(made):
        kept = layout.removed / path.relative_to(layout.artifacts)
        if kept.exists() and not path.exists():
            move(kept, path)
    moved = [path for path in present(layout) if path not in made]
    for path in moved:
        move(path, layout.removed / path.relative_to(layout.artifacts))
    for path in moved:
        say(f"{path}: no entry of params.yaml makes it any more, moved to {layout.removed}")
    if moved:
        say(deleting(layout))


def present(layout: Layout) -> Iterator[Path]:
    """What lies where outputs do."""
    for place in PLACES:
        for path in sorted(layout.artifacts.glob(place)):
            if not path.name.startswith("."):
                yield path


def deleting(layout: Layout) -> str:
    """What deletes all that was set apart, in words."""
    return f"`rm -r {layout.removed}` deletes what entries that were removed had made"


def move(path: Path, target: Path) -> None:
    """Put a file or folder in the place of another, which is an older one of the same name."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    path.replace(target)
