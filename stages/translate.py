"""translate@<name>: train a translator on parallel text, and write its N-best lists of dev and test."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import time
from pathlib import Path
from typing import Any

from pipeline.decisive_settings import decisive_settings
from pipeline.layout import MANIFEST, Layout
from pipeline.params import entry
from pipeline.run import InputSnapshot, choose_device, hardware, main, set_threads
from pipeline.settings import load
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import stage_run
from quartet.files import MANIFEST_VERSION, atomic_dir, keep_only, sha256, write_json
from quartet.recognise import translation
from quartet.recognise.parallel_text import ParallelText, read_parallel
from quartet.recognise.translator_training import TranslatorTraining, translate_split, translator_measures
from quartet.results import EvaluatedSystem, write_results
from quartet.training.kept_training import write_curves

SPLITS = ("train", "dev", "test")
#: Whose version may change a number.
PACKAGES = ("pytorch-lightning", "sacrebleu", "tokenizers", "torch", "transformers")


def translate(name: str) -> None:
    """Put {dev,test}.json and manifest.json into artifacts/<experiment>/translations/<name>, the model beside them."""
    params = load()
    layout = Layout(params.experiment)
    settings = entry(params.translators, name, "translators")
    set_threads(params.threads)
    device = choose_device(params.device)
    files = {split: [Path(params.data.root) / path for path in getattr(settings, split)] for split in SPLITS}
    inputs = InputSnapshot(path for paths in files.values() for path in paths)
    texts = {split: read_parallel(*files[split]) for split in SPLITS}
    place = layout.resume(f"translator-{name}", settings.seed)
    decisive = decisive_settings(params, "translate", name)
    training = TranslatorTraining(name, settings, files, texts, device, place, decisive)
    with stage_run(params, "translate", name, resume=training.folder) as run:
        if not training.finished:
            say(f"{' and '.join(settings.train)}: {len(texts['train']):,} pairs -> translator {name}")
            with bar(f"{name}: steps", settings.training.steps) as shown:
                training.train(hardware, shown.set, run.metric)
        training.resume.unlink(missing_ok=True)
        record = training.record()
        run.stopwatch.add("train", **record["run"])
        with atomic_dir(layout.translator(name)) as model, atomic_dir(layout.translations(name)) as output:
            training.copy_to(model)
            translator = translation.load_translator(model, device)
            manifest: dict[str, Any] = {
                "version": MANIFEST_VERSION,
                "languages": settings.languages,
                "model": dataclasses.asdict(settings.config),
                "tokenizer": dataclasses.asdict(settings.tokenizer),
                "training": dataclasses.asdict(settings.training),
                "label_smoothing": settings.label_smoothing,
                "seed": settings.seed,
                "beam": dataclasses.asdict(settings.beam),
                "device": device,
                "weights": {
                    "step": translator.card.weights_step,
                    "sha256": sha256(model / translation.WEIGHTS),
                },
                "versions": {package: importlib.metadata.version(package) for package in PACKAGES},
                "sources": {
                    split: described(getattr(settings, split), files[split], texts[split]) for split in SPLITS
                },
                "dropped_pairs": record["dropped"],
            }
            for split in ("dev", "test"):
                started = time.perf_counter()
                with bar(f"{split}: translating", total=len(texts[split])) as shown:
                    lists = output / f"{split}.json"
                    manifest[split] = translate_split(
                        translator, settings.beam, split, texts[split], lists, shown.advance
                    )
                seconds = time.perf_counter() - started
                run.stopwatch.add(f"search/{split}", seconds, sentences=len(texts[split]))
                say(f"{split}: {manifest[split]['lists']:,} lists, 1-best BLEU {manifest[split]['bleu']:.2f}")
            write_json(output / MANIFEST, manifest)
            inputs.check()
            run.check()
        write_curves(layout.translator_curve(name), {settings.seed: record["points"]})
        system = EvaluatedSystem(name, device, translator.card.scale, settings.seed)
        rows = [
            row
            for split, measures in translator_measures(record, manifest, translator.card).items()
            for row in system.rows(
                measures, experiment=params.experiment, table="training", dataset=name, split=split
            )
        ]
        write_results(layout.rows("translate", name), rows)
    keep_only([training.folder])


def described(names: tuple[str, str], files: list[Path], text: ParallelText) -> dict[str, Any]:
    """The files of a split, as the settings name them, and their content."""
    found = [{"source": name, "sha256": sha256(path)} for name, path in zip(names, files, strict=True)]
    return {"pairs": len(text), "files": found}


if __name__ == "__main__":
    main(translate)
