"""pretrain@<model>: train a model for every seed, going on where an earlier run was stopped."""

from __future__ import annotations

from pipeline.decisive_settings import decisive_settings
from pipeline.layout import TOKENIZER, Layout
from pipeline.params import entry
from pipeline.run import choose_device, hardware, is_follower, launch, main, set_threads
from pipeline.settings import load
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import StageRun, stage_run
from quartet.files import atomic_dir, keep_only
from quartet.models.checkpoint import copy_model
from quartet.results import write_results
from quartet.runtime.peak import training_speed
from quartet.training.distributed import Machine
from quartet.training.kept_training import write_curves
from quartet.training.pretraining import Pretraining


def pretrain(name: str) -> None:
    """Put each seed's model into artifacts/<experiment>/models/<name>, its rows and its validation curve beside."""
    params = load()
    launch(params.trainer)
    machine = Machine(params.trainer.strategy, params.trainer.devices, params.trainer.nodes)
    layout = Layout(params.experiment)
    model = entry(params.models, name, "models")
    set_threads(params.threads)
    device = choose_device(params.device)
    encoded, tokenizer = (
        layout.encoded(model.corpus, model.tokenizer),
        layout.tokenizer(model.tokenizer) / TOKENIZER,
    )
    settings = decisive_settings(params, "pretrain", name)
    trainings = [
        Pretraining(name, model, encoded, tokenizer, seed, device, layout.resume(name, seed), settings)
        for seed in params.seeds
    ]
    if is_follower(params.trainer):
        for training in trainings:
            if not training.finished:
                training.fit(machine)
        return
    with stage_run(params, "pretrain", name, resume=trainings[0].folder) as run:
        for training in trainings:
            if not training.finished and (other := training.take_over()):
                say(f"{name}: has been trained as {other}")
            if not training.finished:
                train(training, machine, run)
            training.describe()
            training.resume.unlink(missing_ok=True)
            run.stopwatch.add(f"train/seed-{training.seed}", **training.record()["run"])
        run.check()
        with atomic_dir(layout.models / name) as output:
            for training in trainings:
                place = output if training is trainings[0] else output / f"seed-{training.seed}"
                place.mkdir(exist_ok=True)
                copy_model(training.model, place)
        write_curves(layout.curve(name), {each.seed: each.record()["points"] for each in trainings})
        rows = [row for each in trainings for row in each.rows(params.experiment)]
        write_results(layout.rows("pretrain", name), rows)
        run.metric("tokens_cut", trainings[0].record()["cut"])
    keep_only([each.folder for each in trainings])


def train(training: Pretraining, machine: Machine, run: StageRun) -> None:
    """Train one seed, with a progress bar and a live curve, and keep the outcome."""
    title, seed, model = f"{training.name}, seed {training.seed}", training.seed, training.entry
    if training.resume.is_file():
        say(f"{title}: goes on where it was stopped")
    with bar(f"{title}: steps", model.training.steps) as shown:

        def report(metric: str, value: float, step: int) -> None:
            run.metric(f"{metric}/seed-{seed}", value, step)
            shown.describe(f"{title}: {metric.replace('_', ' ')} {value:.3f}, steps")

        trained = training.fit(machine, shown.set, report)
    say(
        f"{title}: validation loss {trained.curve[-1][1]:.3f}, {trained.steps:,} steps "
        f"in {trained.seconds:.1f} s{machine.in_words}"
    )
    if trained.filled is not None:
        say(f"{training.name} started from {trained.filled}")
        run.tag("init_from", str(trained.filled))
    took = {"seconds": trained.seconds, "device": hardware(), "steps": trained.steps}
    speed = training_speed(model, trained, training.device, machine.processes)
    training.keep(trained, {**took, "measures": speed})


if __name__ == "__main__":
    main(pretrain)
