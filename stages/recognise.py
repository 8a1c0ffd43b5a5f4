"""recognise@<name>: N-best lists of dev and test from audio, by a Whisper."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import time
from pathlib import Path
from typing import Any, Literal

from pipeline.layout import MANIFEST, Layout
from pipeline.params import entry
from pipeline.run import InputSnapshot, choose_device, main, set_threads
from pipeline.settings import load
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import StageRun, stage_run
from quartet.config.recognise import RecogniserEntry
from quartet.errors import InputError, nearest
from quartet.files import MANIFEST_VERSION, atomic_dir, sha256, write_json
from quartet.recognise import speech
from quartet.recognise.hypotheses import write_transcripts
from quartet.recognise.utterances import FORMATS, read_utterances

#: Whose version may change a number.
PACKAGES = ("soundfile", "tokenizers", "transformers")
ENGINE_PACKAGES = {"transformers": ("torch",), "ctranslate2": ("ctranslate2",)}


def recognise(name: str) -> None:
    """Put {dev,test}.json and manifest.json into artifacts/<experiment>/recognised/<name>."""
    params = load()
    settings = entry(params.recognisers, name, "recognisers")
    kind = settings.audio.format
    if kind not in FORMATS:
        place = f"params.yaml: recognisers.{name}.audio.format"
        raise InputError(place, f"unknown format {kind!r}", nearest(kind, FORMATS, "format"))
    folder = Layout(params.experiment).recognised(name)
    set_threads(params.threads)
    device = choose_device(params.device)
    inputs = InputSnapshot([Path(params.data.root) / settings.audio.folder])
    with stage_run(params, "recognise", name) as run:
        recogniser = speech.open_recogniser(settings.config, device, params.threads)
        sets = {
            split: admitted(settings, split, Path(params.data.root), recogniser.seconds)
            for split in ("dev", "test")
        }
        packages = (*PACKAGES, *ENGINE_PACKAGES[settings.engine])
        manifest: dict[str, Any] = {
            "version": MANIFEST_VERSION,
            "model": {"source": settings.source, "sha256": recogniser.content},
            "engine": settings.engine,
            "precision": settings.precision,
            "language": settings.language,
            "beam": {**dataclasses.asdict(settings.beam), "length_penalty": 0.0},
            "batch": settings.batch,
            "device": device,
            "versions": {package: importlib.metadata.version(package) for package in packages},
        }
        with atomic_dir(folder) as output:
            for split, chosen in sets.items():
                manifest[split] = decode(recogniser, settings, split, chosen, output, run)
            write_json(output / MANIFEST, manifest)
            inputs.check()


def admitted(
    settings: RecogniserEntry, split: Literal["dev", "test"], root: Path, seconds: int
) -> speech.AdmittedUtterances:
    """The utterances of one split that can be recognised."""
    audio = settings.audio
    path = root / audio.folder / (audio.dev if split == "dev" else audio.test)
    found = speech.admit(read_utterances(audio.format, path), seconds, audio.skip_long)
    longer = f", {len(found.too_long):,} too long ones left out" if found.too_long else ""
    say(f"{path}: {len(found.utterances):,} utterances, {found.hours:.2f} h{longer}")
    return found


def decode(
    recogniser: speech.Recogniser,
    settings: RecogniserEntry,
    split: str,
    chosen: speech.AdmittedUtterances,
    output: Path,
    run: StageRun,
) -> dict[str, Any]:
    """Write the lists of one split; what the manifest says of them."""
    started = time.perf_counter()
    with bar(f"{split}: recognising", total=len(chosen.utterances)) as shown:
        found = speech.recognise(recogniser, chosen.utterances, settings.config, shown.advance)
    seconds = time.perf_counter() - started
    run.stopwatch.add(f"search/{split}", seconds, utterances=len(chosen.utterances))
    path = output / f"{split}.json"
    write_transcripts(path, chosen.utterances, chosen.samples, found.lists)
    say(
        f"{split}: {len(found.lists):,} lists, {seconds / 3600 / chosen.hours:.2f} times as long as the audio"
    )
    return {
        "sha256": sha256(path),
        "source": {
            "format": settings.audio.format,
            "list": settings.audio.dev if split == "dev" else settings.audio.test,
            "audio_sha256": audio_hash(chosen),
        },
        "hours": chosen.hours,
        "too_long": chosen.too_long,
        "lists": len(found.lists),
        "references": sum(each.reference is not None for each in chosen.utterances),
        "hypotheses": sum(map(len, found.lists)),
        "merged_hypotheses": found.merged,
        "unended_hypotheses": found.unended,
        "lists_without_end": found.lists_unended,
    }


def audio_hash(chosen: speech.AdmittedUtterances) -> str:
    """SHA-256 over the utterances' names and the bytes of their files."""
    lines = "".join(f"{sha256(each.audio)}  {each.name}\n" for each in chosen.utterances)
    return hashlib.sha256(lines.encode()).hexdigest()


if __name__ == "__main__":
    main(recognise)
