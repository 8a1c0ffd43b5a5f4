"""nbest@<list>: read N-best lists in whatever format they come, and keep them in ours."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from pipeline.layout import MANIFEST, Layout
from pipeline.params import entry
from pipeline.run import InputSnapshot, main
from pipeline.settings import load
from pipeline.tracking.progress import say
from pipeline.tracking.stage import stage_run
from quartet.config.nbest import NBestEntry
from quartet.errors import InputError
from quartet.files import MANIFEST_VERSION, atomic_dir, sha256, write_json, write_jsonl
from quartet.nbest.formats import IngestedLists, NBestFiles, jsonl, read
from quartet.nbest.guards import stray_tokens
from quartet.nbest.metrics import Bleu, metric_named, unspaced_words
from quartet.nbest.types import NBest, count, in_common

#: Every entry that was left out, with its reason.
REFUSED = "refused.jsonl"
#: Every utterance that the first pass lost.
MISSING = "missing.jsonl"


def nbest(name: str) -> None:
    """Put {dev,test,refused,missing}.jsonl and manifest.json of the set `name` into its folder of artifacts/."""
    params = load()
    settings = entry(params.nbest, name, "nbest")
    folder = Layout(params.experiment).nbest(name)
    inputs = InputSnapshot([base_of(settings, Path(params.data.root))])
    with stage_run(params, "nbest", name):
        manifest: dict[str, Any] = {
            "version": MANIFEST_VERSION,
            "format": settings.format,
            "metric": settings.metric,
        }
        if settings.metric == "bleu":
            manifest["bleu"] = Bleu(settings.bleu.lowercase, settings.bleu.tokenize).signature
        refused, missing = [], []
        lists: dict[str, list[NBest]] = {}
        with atomic_dir(folder) as temporary:
            for split in ("dev", "test"):
                files = files_of(settings, split, Path(params.data.root))
                reading = read(
                    settings.format,
                    files,
                    settings.skip_malformed,
                    settings.skip_missing,
                    settings.scores_are,
                )
                kept = [one.first(settings.hypotheses) for one in reading.lists]
                lists[split] = kept
                jsonl.write(temporary / f"{split}.jsonl", kept)
                manifest[split] = {
                    **described(files, reading, kept, Path(params.data.root)),
                    "sha256": sha256(temporary / f"{split}.jsonl"),
                }
                missing += [{"split": split, "utterance": name} for name in reading.missing]
                refused += [
                    {"split": split, "place": e.place, "reason": e.reason} for e in all_refused(reading)
                ]
                say(f"{files.hypotheses}: {summary(reading)}")
            manifest["stray_tokens"] = stray_tokens(lists["test"])
            for line in manifest["stray_tokens"]:
                say(line)
            if unspaced := unspaced_words(lists["test"], metric_named(settings.metric, settings.bleu)):
                say(unspaced)
            if common := in_common(lists["dev"], lists["test"]):
                say(f"{common} of the {len(lists['test'])} lists of test are among those of dev")
            write_jsonl(temporary / REFUSED, refused)
            write_jsonl(temporary / MISSING, missing)
            write_json(temporary / MANIFEST, manifest)
            inputs.check()


def base_of(settings: NBestEntry, root: Path) -> Path:
    """The entry's folder, whose ``..`` are of its name, as for DVC: no link counts."""
    return Path(os.path.normpath(root / settings.folder))


def files_of(settings: NBestEntry, split: Literal["dev", "test"], root: Path) -> NBestFiles:
    """The files of one split below the entry's folder."""
    base = base_of(settings, root)
    named = settings.dev if split == "dev" else settings.test
    return NBestFiles(
        base / named.hypotheses,
        tuple((base / each.file, each.weight) for each in named.scores),
        None if named.references is None else base / named.references,
        settings.beam,
    )


def all_refused(reading: IngestedLists) -> list[InputError]:
    """What was refused of the lists, then of the references."""
    return [*reading.refused, *reading.references_refused]


def described(files: NBestFiles, reading: IngestedLists, kept: list[NBest], root: Path) -> dict[str, Any]:
    """What the manifest says of a split: its files, what went in and came out, and what the kept lists hold."""
    names = {path: path.relative_to(root) if path.is_relative_to(root) else path for path in files.paths}
    return {
        "files": {str(name): sha256(path) for path, name in names.items()},
        "entries": reading.entries,
        "refused": len(reading.refused),
        "references_refused": len(reading.references_refused),
        "references_unused": reading.references_unused,
        "missing": len(reading.missing),
        "hypotheses_left_out": sum(
            len(one.hypotheses) - len(short.hypotheses)
            for one, short in zip(reading.lists, kept, strict=True)
        ),
        **count(kept),
    }


def summary(reading: IngestedLists) -> str:
    """Counts in = counts out + counts refused, in a line."""
    text = f"{reading.entries:,} lists"
    if reading.refused:
        text += f", {len(reading.refused):,} of them refused"
    if reading.references_refused:
        text += f", {len(reading.references_refused):,} references refused"
    if reading.missing:
        text += f", {len(reading.missing):,} utterances without a list count as empty hypotheses"
    if reading.lists[0].ranked_only:
        text += ", no scores: the rank stands for them"
    return text


if __name__ == "__main__":
    main(nbest)
