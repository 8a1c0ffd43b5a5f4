"""pretrain@<model>: train a model for every seed, going on where an earlier run was stopped."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from pathlib import Path

from pipeline.layout import MANIFEST, TOKENIZER, Layout
from pipeline.params import Params, entry
from pipeline.run import choose_device, hardware, is_follower, launch, main, set_threads
from pipeline.settings import load
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import StageRun, stage_run
from quartet import code
from quartet.config.model import ModelEntry
from quartet.files import atomic_dir, atomic_path, keep_only, read_json, sha256, write_json
from quartet.hugging_face import content_hash, local_folder
from quartet.models.checkpoint import CONFIG, ModelCard, copy_model, load_card, save_model
from quartet.results import EvaluatedSystem, Measure, Result, write_results
from quartet.runtime.peak import matrix_product_peak
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training.callbacks import MetricReporter, Progress
from quartet.training.distributed import Machine
from quartet.training.fit import TrainedNetwork, fit
from quartet.training.flops import training_flops


def pretrain(name: str) -> None:
    """Put each seed's model into artifacts/<experiment>/models/<name>, its rows and its validation curve beside."""
    params = load()
    launch(params.trainer)
    machine = Machine(params.trainer.strategy, params.trainer.devices, params.trainer.nodes)
    layout = Layout(params.experiment)
    model = entry(params.models, name, "models")
    set_threads(params.threads)
    device = choose_device(params.device)
    finished = {
        seed: layout.resume(name, seed) / fingerprint(layout, model, seed, device) for seed in params.seeds
    }
    if is_follower(params.trainer):
        for seed, folder in finished.items():
            if not (folder / "model").is_dir():
                compute(model, *open_data(layout, model), seed, folder, device, machine)
        return
    with stage_run(params, "pretrain", name, resume=next(iter(finished.values()))) as run:
        for seed, folder in finished.items():
            if not (folder / "model").is_dir():
                take_over(name, folder)
            if not (folder / "model").is_dir():
                train_seed(layout, name, model, seed, folder, device, machine, run)
            describe(folder / "model", name, model)
            (folder / "resume.ckpt").unlink(missing_ok=True)
            done = read_json(folder / "curve.json")["run"]
            run.stopwatch.add(f"train/seed-{seed}", **done)
        with atomic_dir(layout.models / name) as output:
            for seed, folder in finished.items():
                place = output if seed == params.seeds[0] else output / f"seed-{seed}"
                place.mkdir(exist_ok=True)
                copy_model(folder / "model", place)
        write_curves(
            layout.curve(name), {seed: read_json(folder / "curve.json") for seed, folder in finished.items()}
        )
        rows = [
            row
            for seed, folder in finished.items()
            for row in rows_of_seed(params, name, seed, folder, device)
        ]
        write_results(layout.rows("pretrain", name), rows)
        run.metric("tokens_cut", read_json(next(iter(finished.values())) / "curve.json")["cut"])
    keep_only(finished.values())


def fingerprint(layout: Layout, model: ModelEntry, seed: int, device: str) -> str:
    """A name for one training: equal only where settings, data, seed, kind of device, code and `init_from` are.

    Settings that change no weight are left at their defaults.
    """
    encoded = layout.encoded(model.corpus, model.tokenizer)
    parts = [
        json.dumps(
            dataclasses.asdict(dataclasses.replace(model, training=model.training.decisive)), sort_keys=True
        ),
        *(sha256(path) for path in sorted(encoded.iterdir())),
        sha256(layout.tokenizer(model.tokenizer) / TOKENIZER),
        code.fingerprint("quartet.training.fit", "quartet.models.checkpoint"),
        str(seed),
        device,
    ]
    if model.init_from is not None:
        parts.append(content_hash(local_folder(model.init_from)))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def take_over(name: str, folder: Path) -> None:
    """Copy the outcome of the same training from another name, such as one that the model had before."""
    models = folder.parent.parent.parent
    for found in sorted(models.glob(f"*/{folder.parent.name}/{folder.name}/model")):
        say(f"{name}: has been trained as {found.relative_to(models).parts[0]}")
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found.with_name("curve.json"), folder / "curve.json")
        with atomic_dir(folder / "model") as output:
            copy_model(found, output)
        return


def describe(folder: Path, name: str, model: ModelEntry) -> None:
    """Let the card of a finished training have the model's name, and the settings that change no weight, of now."""
    card = load_card(folder)
    now = dataclasses.replace(card, name=name, training=model.training)
    if now != card:
        write_json(folder / CONFIG, dataclasses.asdict(now))


def open_data(layout: Layout, model: ModelEntry) -> tuple[TextTokenizer, EncodedCorpus, EncodedCorpus]:
    """The tokenizer of a model and the encoded splits for training and validation."""
    encoded = layout.encoded(model.corpus, model.tokenizer)
    train, valid = (EncodedCorpus.open(encoded, split) for split in ("train", "valid"))
    return TextTokenizer.load(layout.tokenizer(model.tokenizer) / TOKENIZER), train, valid


def compute(
    model: ModelEntry,
    tokenizer: TextTokenizer,
    train: EncodedCorpus,
    valid: EncodedCorpus,
    seed: int,
    folder: Path,
    device: str,
    machine: Machine,
    progress: Progress | None = None,
    report: MetricReporter | None = None,
) -> TrainedNetwork:
    """The training itself, which every process of the machine takes part in."""
    return fit(
        *(model.config, model.training, tokenizer, train, valid),
        seed=seed,
        resume=folder / "resume.ckpt",
        device=device,
        machine=machine,
        progress=progress,
        report=report,
    )


def train_seed(
    layout: Layout,
    name: str,
    model: ModelEntry,
    seed: int,
    folder: Path,
    device: str,
    machine: Machine,
    run: StageRun,
) -> None:
    """Train one seed and keep the outcome in `folder`/model and `folder`/curve.json."""
    tokenizer, train, valid = open_data(layout, model)
    if (folder / "resume.ckpt").is_file():
        say(f"{name}, seed {seed}: goes on from {folder / 'resume.ckpt'}")
    with bar(f"{name}, seed {seed}: steps", model.training.steps) as shown:

        def report(metric: str, value: float, step: int) -> None:
            run.metric(f"{metric}/seed-{seed}", value, step)
            shown.describe(f"{name}, seed {seed}: {metric.replace('_', ' ')} {value:.3f}, steps")

        trained = compute(model, tokenizer, train, valid, seed, folder, device, machine, shown.set, report)
    say(
        f"{name}, seed {seed}: validation loss {trained.curve[-1][1]:.3f}, {trained.steps:,} steps "
        f"in {trained.seconds:.1f} s{machine.in_words} -> {layout.models / name}"
    )
    if trained.filled is not None:
        say(f"{name} started from {trained.filled}")
        run.tag("init_from", str(trained.filled))
    card = ModelCard(
        name=name,
        seed=seed,
        corpus=model.corpus,
        corpus_words=int(train.sentence_words.sum()),
        steps=model.training.steps,
        best_step=trained.best_step,
        parameters=trained.network.parameter_count,
        model=model.config,
        training=model.training,
        encoding=sha256(layout.encoded(model.corpus, model.tokenizer) / MANIFEST),
    )
    write_json(
        folder / "curve.json",
        {
            "points": trained.curve,
            "targets": trained.targets,
            "tokens": trained.tokens,
            "cut": trained.cut,
            "run": {
                "seconds": trained.seconds,
                "device": hardware(),
                "steps": trained.steps,
                "measures": speed(model, trained, device, machine),
            },
        },
    )
    with atomic_dir(folder / "model") as output:
        save_model(output, {"last": trained.network.state_dict(), "best": trained.best}, card, tokenizer)


def speed(model: ModelEntry, trained: TrainedNetwork, device: str, machine: Machine) -> dict[str, float]:
    """How well the last run of a training used its devices; empty where it had no steps left to do.

    The shares are of the seconds of its steps; `flops-utilisation` is of the measured peak of this device's matrix
    products in the training's precision, times the number of devices, and counts real tokens alone.
    """
    work = trained.work
    if not trained.run_tokens:
        return {}
    flops = training_flops(
        model.config,
        trained.network.vocabulary,
        trained.run_tokens,
        work.targets,
        work.pairs / trained.run_tokens,
    )
    peak = matrix_product_peak(device, model.training.precision) * machine.processes
    return {
        "devices": machine.processes,
        "tokens-per-second": trained.run_tokens / work.seconds,
        "flops-per-second": flops / work.seconds,
        "peak-flops-per-second": peak,
        "flops-utilisation": flops / work.seconds / peak,
        "batch-making": work.waiting / work.seconds,
        "padding": 1 - trained.run_tokens / work.places,
    }


def write_curves(path: Path, curves: dict[int, dict[str, list[list[float]]]]) -> None:
    """The validation losses as CSV: seed, step, loss in nats per target."""
    lines = ["seed,step,loss"]
    lines += [f"{seed},{step},{loss:.6f}" for seed, curve in curves.items() for step, loss in curve["points"]]
    with atomic_path(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")


def rows_of_seed(params: Params, name: str, seed: int, folder: Path, device: str) -> list[Result]:
    """What a training leaves: the last validation loss, and the sizes behind it."""
    card = load_card(folder / "model")
    curve = read_json(folder / "curve.json")
    model = params.models[name]
    measures = {
        "loss": Measure(curve["points"][-1][1], curve["targets"]),
        "tokens": Measure(curve["tokens"], 1),
        "parameters": Measure(card.parameters, 1),
    }
    return EvaluatedSystem(name, device, card.scale, seed).rows(
        measures, experiment=params.experiment, table="training", dataset=model.corpus, split="valid"
    )


if __name__ == "__main__":
    main(pretrain)
