"""translate@<name>: train a translator on parallel text, and write its N-best lists of dev and test."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
import shutil
import time
from pathlib import Path
from typing import Any

from pipeline.layout import MANIFEST, Layout
from pipeline.params import Params, entry
from pipeline.run import InputSnapshot, choose_device, hardware, main, set_threads
from pipeline.settings import load
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import StageRun, stage_run
from quartet import code
from quartet.config.recognise import TranslatorEntry
from quartet.files import MANIFEST_VERSION, atomic_dir, atomic_path, keep_only, read_json, sha256, write_json
from quartet.recognise import beam, translation
from quartet.recognise.hypotheses import write_translations
from quartet.recognise.parallel_text import ParallelText, encode_pairs, read_parallel
from quartet.recognise.training import fit_translator
from quartet.recognise.vocabulary import train_pieces
from quartet.results import EvaluatedSystem, Measure, Result, write_results

#: What the text, the vocabulary, the training and the files of a translator are made by. The search is no part of it.
TRAINING = tuple(
    f"quartet.recognise.{name}" for name in ("parallel_text", "vocabulary", "training", "translation")
)
SPLITS = ("train", "dev", "test")
#: Beside the model with its last weights: those of the lowest point of the curve.
BEST = "best.safetensors"
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
    folder = layout.resume(f"translator-{name}", settings.seed) / fingerprint(settings, files, device)
    with stage_run(params, "translate", name, resume=folder) as run:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "model").is_dir():
            train(name, settings, texts, folder, device, run)
        (folder / "resume.ckpt").unlink(missing_ok=True)
        curve = read_json(folder / "curve.json")
        run.stopwatch.add("train", **curve["run"])
        with atomic_dir(layout.translator(name)) as model, atomic_dir(layout.translations(name)) as output:
            choose_weights(folder, settings, model)
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
                "dropped_pairs": curve["dropped"],
            }
            for split in ("dev", "test"):
                manifest[split] = decode(translator, settings, split, texts[split], output, run)
            write_json(output / MANIFEST, manifest)
            inputs.check()
        write_curve(layout.translator_curve(name), settings.seed, curve["points"])
        rows = rows_of_translator(params, name, curve, manifest, translator.card)
        write_results(layout.rows("translate", name), rows)
    keep_only([folder])


def fingerprint(settings: TranslatorEntry, files: dict[str, list[Path]], device: str) -> str:
    """A name for one training: equal only where what it depends on is. The beam and the test text may differ.

    So may settings of the training that change no weight.
    """
    named = dataclasses.asdict(dataclasses.replace(settings, training=settings.training.decisive))
    chosen = {key: value for key, value in named.items() if key not in ("beam", "test")}
    parts = [
        json.dumps(chosen, sort_keys=True),
        *(sha256(path) for split in ("train", "dev") for path in files[split]),
        code.fingerprint(*TRAINING),
        device,
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def train(
    name: str,
    settings: TranslatorEntry,
    texts: dict[str, ParallelText],
    folder: Path,
    device: str,
    run: StageRun,
) -> None:
    """Train and keep the outcome in `folder`: model with the last weights, best.safetensors, curve.json."""
    text = texts["train"]
    tokenizer = train_pieces([*text.source, *text.target], settings.tokenizer)
    pairs = {split: encode_pairs(texts[split], tokenizer, settings.max_length) for split in ("train", "dev")}
    say(f"{' and '.join(settings.train)}: {len(text):,} pairs -> translator {name}")
    with bar(f"{name}: steps", settings.training.steps) as shown:
        trained = fit_translator(
            settings.config,
            settings.training,
            tokenizer.vocab_size,
            pairs["train"],
            pairs["dev"],
            label_smoothing=settings.label_smoothing,
            seed=settings.seed,
            resume=folder / "resume.ckpt",
            device=device,
            progress=shown.set,
            report=run.metric,
        )
    card = translation.TranslatorCard(
        name=name,
        languages=settings.languages,
        seed=settings.seed,
        steps=settings.training.steps,
        weights_step=settings.training.steps,
        pairs=len(pairs["train"]),
        parameters=translation.parameter_count(trained.network),
        model=settings.config,
        training=settings.training,
        label_smoothing=settings.label_smoothing,
    )
    write_json(
        folder / "curve.json",
        {
            "points": trained.curve,
            "best_step": trained.best_step,
            "targets": trained.targets,
            "tokens": trained.tokens,
            "dropped": {split: each.dropped for split, each in pairs.items()},
            "run": {
                "seconds": trained.seconds,
                "device": hardware(),
                "steps": trained.steps,
                "tokens": trained.run_tokens,
            },
        },
    )
    with atomic_path(folder / BEST) as temporary:
        translation.save_weights(temporary, trained.best)
    with atomic_dir(folder / "model") as output:
        translation.save_translator(output, translation.Translator(trained.network, tokenizer, card))


def choose_weights(folder: Path, settings: TranslatorEntry, output: Path) -> None:
    """Copy a finished training to `output`, with the weights that the settings ask for now."""
    shutil.copytree(folder / "model", output, dirs_exist_ok=True)
    card = read_json(output / translation.CARD)
    if settings.training.weights == "best":
        shutil.copyfile(folder / BEST, output / translation.WEIGHTS)
        card["weights_step"] = read_json(folder / "curve.json")["best_step"]
    training = dataclasses.asdict(settings.training)
    write_json(output / translation.CARD, {**card, "training": training})


def decode(
    translator: translation.Translator,
    settings: TranslatorEntry,
    split: str,
    text: ParallelText,
    output: Path,
    run: StageRun,
) -> dict[str, Any]:
    """Write the lists of one split; what the manifest says of them."""
    from sacrebleu.metrics.bleu import BLEU

    started = time.perf_counter()
    with bar(f"{split}: translating", total=len(text)) as shown:
        found = beam.search(translator, text.source, settings.beam, shown.advance)
    run.stopwatch.add(f"search/{split}", time.perf_counter() - started, sentences=len(text))
    path = output / f"{split}.json"
    write_translations(path, split, text, found.lists)
    bleu = BLEU()
    score = bleu.corpus_score([one[0].text for one in found.lists], [list(text.target)]).score
    say(f"{split}: {len(text):,} lists, 1-best BLEU {score:.2f}")
    return {
        "sha256": sha256(path),
        "lists": len(found.lists),
        "hypotheses": sum(map(len, found.lists)),
        "merged_hypotheses": found.merged,
        "hypotheses_at_length_limit": found.ended,
        "cut_sources": found.cut,
        "bleu": score,
        "bleu_signature": str(bleu.get_signature()),
    }


def described(names: tuple[str, str], files: list[Path], text: ParallelText) -> dict[str, Any]:
    """The files of a split, as the settings name them, and their content."""
    found = [{"source": name, "sha256": sha256(path)} for name, path in zip(names, files, strict=True)]
    return {"pairs": len(text), "files": found}


def write_curve(path: Path, seed: int, points: list[list[float]]) -> None:
    """The validation losses as CSV: seed, step, loss in nats per target."""
    lines = ["seed,step,loss", *(f"{seed},{step},{loss:.6f}" for step, loss in points)]
    with atomic_path(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")


def rows_of_translator(
    params: Params,
    name: str,
    curve: dict[str, Any],
    manifest: dict[str, Any],
    card: translation.TranslatorCard,
) -> list[Result]:
    """The loss behind the weights, the sizes, and the BLEU of the best hypotheses."""
    loss = dict(curve["points"])[card.weights_step]
    measures = {
        "dev": {
            "loss": Measure(loss, curve["targets"]),
            "tokens": Measure(curve["tokens"], 1),
            "parameters": Measure(card.parameters, 1),
            "bleu": Measure(manifest["dev"]["bleu"], manifest["dev"]["lists"]),
        },
        "test": {"bleu": Measure(manifest["test"]["bleu"], manifest["test"]["lists"])},
    }
    system = EvaluatedSystem(name, manifest["device"], card.scale, card.seed)
    return [
        row
        for split, found in measures.items()
        for row in system.rows(
            found, experiment=params.experiment, table="training", dataset=name, split=split
        )
    ]


if __name__ == "__main__":
    main(translate)
