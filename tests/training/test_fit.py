"""Training: it learns, it repeats itself, and a stopped one goes on bit for bit."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import lightning_fabric.accelerators.cuda
import pytest
import pytorch_lightning.accelerators.cuda
import torch
from pytorch_lightning.callbacks import ModelSummary

from quartet.config.training import TrainingConfig
from quartet.errors import InputError
from quartet.models.architectures import build_for
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training.callbacks import Progress, ResumePoint
from quartet.training.fit import TrainedNetwork, fit
from quartet.training.from_bert import fill
from quartet.training.optim import build_optimiser, schedule
from quartet.training.trainer import quiet_trainer, set_precision
from tests.bert import save_bert
from tests.models.shapes import KINDS, small
from tests.small_corpus import corpus_of

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


def train(
    corpus: Small, kind: str, resume: Path, progress: Progress | None = None, **changes: Any
) -> TrainedNetwork:
    tokenizer, splits = corpus
    settings: dict[str, Any] = {
        "steps": 12,
        "batch_size": 4,
        "learning_rate": 3e-3,
        "validate_every": 6,
        "checkpoint_every": 5,
    }
    config = small(**{"dropout": changes.pop("dropout", 0.1), **KINDS[kind]})
    training = TrainingConfig(**{**settings, **changes})
    return fit(
        config,
        training,
        tokenizer,
        splits["train"],
        splits["valid"],
        seed=7,
        resume=resume,
        progress=progress,
    )


@pytest.mark.parametrize(("kind", "validate"), [("unilm", 6), ("bilm", 5), ("tta", 6), ("segatron-xl", 5)])
def test_a_killed_training_goes_on_bit_for_bit(
    small_corpus: Small, kind: str, validate: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after step 8, its last resume point at step 5; dropout, masks, order and memory all come back.

    So does the curve, also where a validation falls on the step of the resume point.
    """
    whole = train(small_corpus, kind, tmp_path / "whole.ckpt", validate_every=validate)

    class Killed(Exception):
        pass

    original = ResumePoint.on_train_batch_end

    def stop(self: ResumePoint, trainer: Any, *rest: Any) -> None:
        original(self, trainer, *rest)
        if trainer.global_step == 8:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(ResumePoint, "on_train_batch_end", stop)
        with pytest.raises(Killed):
            train(small_corpus, kind, tmp_path / "killed.ckpt", validate_every=validate)
    resumed = train(small_corpus, kind, tmp_path / "killed.ckpt", validate_every=validate)
    assert resumed.steps == 7
    assert resumed.curve == whole.curve
    assert resumed.tokens == whole.tokens
    assert 0 < resumed.run_tokens < whole.run_tokens == whole.tokens
    for name, tensor in whole.network.state_dict().items():
        assert torch.equal(tensor, resumed.network.state_dict()[name]), name


def test_each_point_of_the_curve_is_reported(small_corpus: Small, tmp_path: Path) -> None:
    reported: list[tuple[str, float, int]] = []
    tokenizer, splits = small_corpus
    trained = fit(
        small(**KINDS["tta"]),
        TrainingConfig(steps=50, batch_size=8, learning_rate=5e-3, validate_every=25),
        tokenizer,
        splits["train"],
        splits["valid"],
        seed=7,
        resume=tmp_path / "none.ckpt",
        report=lambda *point: reported.append(point),
    )
    assert [step for step, _ in trained.curve] == [25, 50]
    assert [(name, step) for name, _, step in reported] == [("validation_loss", 25), ("validation_loss", 50)]
    assert trained.curve[-1][1] < trained.curve[0][1] < 5.0
    assert not (tmp_path / "none.ckpt").exists()


def test_a_training_does_nothing_that_is_not_asked_for(
    small_corpus: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Lightning by itself takes a GPU where there is one, keeps checkpoints and logs, and draws a bar."""
    for module in (lightning_fabric.accelerators.cuda, pytorch_lightning.accelerators.cuda):
        monkeypatch.setattr(module.CUDAAccelerator, "is_available", lambda: True)
        monkeypatch.setattr(module.CUDAAccelerator, "auto_device_count", lambda: 1)
    monkeypatch.setattr(torch.nn.Module, "compile", lambda module, **options: pytest.fail("it compiles"))
    monkeypatch.chdir(tmp_path)
    trained = train(small_corpus, "tta", tmp_path / "resume.ckpt", steps=2, validate_every=2)
    assert {tensor.device.type for tensor in trained.network.state_dict().values()} == {"cpu"}
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")


def test_the_last_point_of_the_curve_belongs_to_the_weights(small_corpus: Small, tmp_path: Path) -> None:
    trained = train(small_corpus, "tta", tmp_path / "a.ckpt", steps=8, validate_every=5)
    assert [step for step, _ in trained.curve] == [5, 8]


def test_a_loss_that_is_no_number_stops_the_training(small_corpus: Small, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"training step \d+ \(.*\): the loss is .*learning_rate"):
        train(small_corpus, "unilm", tmp_path / "a.ckpt", learning_rate=1e30, clip=0.0, warmup=0.0)


@pytest.mark.parametrize("kind", ["unilm", "bilm", "tta", "segatron-xl"])
def test_accumulated_parts_are_one_batch(small_corpus: Small, kind: str, tmp_path: Path) -> None:
    """The same curve and weights but for rounding: the parts weigh by their targets, and share masks and memory."""
    changes: dict[str, Any] = {"steps": 6, "validate_every": 3, "checkpoint_every": 2, "dropout": 0.0}
    whole = train(small_corpus, kind, tmp_path / "1.ckpt", **changes)
    parts = train(small_corpus, kind, tmp_path / "3.ckpt", accumulate=3, **changes)
    assert [loss for _, loss in parts.curve] == pytest.approx([loss for _, loss in whole.curve], abs=1e-5)
    assert parts.tokens == whole.tokens
    resumed = train(small_corpus, kind, tmp_path / "3.ckpt", accumulate=3, **changes)
    assert resumed.steps == 2, "the resume point of step 4 was left there"
    assert resumed.curve == parts.curve
    for name, tensor in parts.network.state_dict().items():
        assert torch.allclose(tensor, whole.network.state_dict()[name], atol=1e-4), name
        assert torch.equal(tensor, resumed.network.state_dict()[name]), name


def test_mixed_precision(small_corpus: Small, tmp_path: Path) -> None:
    full, mixed = (
        train(small_corpus, "segatron-xl", tmp_path / name, precision=name) for name in ("fp32", "bf16")
    )
    assert mixed.curve != full.curve
    assert mixed.curve[-1][1] == pytest.approx(full.curve[-1][1], abs=0.05)
    assert all(tensor.dtype == torch.float32 for tensor in mixed.network.state_dict().values())
    for precision in ("fp16", "tf32"):
        with pytest.raises(InputError, match=rf"training\.precision: {precision} cannot be used on cpu"):
            train(small_corpus, "tta", tmp_path / "a.ckpt", precision=precision)


def test_products_are_tf32_where_it_is_asked_for_alone() -> None:
    """Of our own trainings, of translators and of fine-tunings: all take their precision from here."""
    products = torch.backends.cuda.matmul
    assert set_precision("tf32", "cuda") == "32-true"
    assert products.allow_tf32
    for precision in ("bf16", "fp16", "fp32"):
        set_precision("tf32", "cuda")
        set_precision(precision, "cuda")
        assert not products.allow_tf32


def test_a_trainer_says_shows_and_keeps_nothing_by_itself() -> None:
    training = TrainingConfig(steps=7, batch_size=4, learning_rate=1e-3, validate_every=7, clip=0.5)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        trainer = quiet_trainer("cpu", training)
        for module in ("pytorch_lightning.trainer.data", "torch.utils.data.dataloader", "elsewhere"):
            warnings.warn_explicit(module, UserWarning, "file", 1, module)
    assert [str(one.message) for one in heard] == ["elsewhere"]
    assert (trainer.max_steps, trainer.gradient_clip_val) == (7, 0.5)
    assert (trainer.loggers, trainer.checkpoint_callbacks, trainer.progress_bar_callback) == ([], [], None)
    assert not [one for one in trainer.callbacks if isinstance(one, ModelSummary)]  # type: ignore[attr-defined]
    for name in ("pytorch_lightning.utilities.rank_zero", "lightning_fabric.plugins"):
        assert not logging.getLogger(name).isEnabledFor(logging.WARNING)


def test_the_best_weights_are_kept(small_corpus: Small, tmp_path: Path) -> None:
    """A rate that drives the loss up in the end: the best weights are of the lowest point, also after a resume."""
    changes: dict[str, Any] = {
        "schedule": "constant",
        "schedule_steps": 60,
        "learning_rate": 0.1,
        "warmup": 0.5,
        "clip": 0.0,
        "validate_every": 2,
        "checkpoint_every": 25,
    }
    trained = train(small_corpus, "unilm", tmp_path / "a.ckpt", steps=60, **changes)
    step, lowest = min(trained.curve, key=lambda point: point[1])
    assert trained.best_step == step < 60 and lowest < trained.curve[-1][1]
    shorter = train(small_corpus, "unilm", tmp_path / "b.ckpt", steps=step, **changes)
    for name, tensor in shorter.network.state_dict().items():
        assert torch.equal(tensor, trained.best[name]), name
    again = train(small_corpus, "unilm", tmp_path / "a.ckpt", steps=60, **changes)
    assert again.steps == 10 and again.best_step == step
    assert all(torch.equal(again.best[name], trained.best[name]) for name in trained.best)


@pytest.mark.parametrize("kind", ["tta", "bilm"])
def test_a_training_starts_from_a_bert(small_corpus: Small, kind: str, tmp_path: Path) -> None:
    save_bert(tmp_path / "bert")
    tokenizer, splits = small_corpus
    config = small(**KINDS[kind], norm_epsilon=1e-12, init_from=str(tmp_path / "bert"))
    training = TrainingConfig(
        steps=3, batch_size=4, learning_rate=1e-30, validate_every=1, checkpoint_every=1
    )
    resume = tmp_path / "a.ckpt"
    trained = fit(config, training, tokenizer, splits["train"], splits["valid"], seed=7, resume=resume)
    torch.manual_seed(0)
    expected = build_for(config, tokenizer)
    assert trained.filled == fill(expected, tokenizer, str(tmp_path / "bert"))
    for name, tensor in trained.network.layers.state_dict().items():
        assert torch.allclose(tensor, expected.layers.state_dict()[name]), name
    again = fit(config, training, tokenizer, splits["train"], splits["valid"], seed=7, resume=resume)
    assert again.steps == 1 and again.filled is None, "a resumed training goes on from its own weights"
    assert again.curve == trained.curve


def test_schedules() -> None:
    settings: dict[str, Any] = {"steps": 100, "batch_size": 1, "learning_rate": 1.0, "warmup": 0.1}
    linear = schedule(TrainingConfig(**settings))
    assert [round(linear(step), 6) for step in (0, 4, 9, 10, 55, 100)] == [0.1, 0.5, 1.0, 1.0, 0.5, 0.0]
    cosine = schedule(TrainingConfig(**settings, schedule="cosine"))
    assert cosine(55) == pytest.approx(0.5) and cosine(100) == pytest.approx(0.0)
    assert schedule(TrainingConfig(**settings, schedule="constant"))(99) == 1.0
    unfinished = schedule(TrainingConfig(**settings, schedule="cosine", schedule_steps=200))
    assert unfinished(19) == 1.0 and unfinished(110) == pytest.approx(0.5) and unfinished(99) > 0.5
    root = schedule(TrainingConfig(**settings, schedule="inverse-sqrt"))
    assert root(9) == 1.0 and root(39) == pytest.approx(0.5)


def test_weight_decay_spares_biases_and_normalisation() -> None:
    layer = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.LayerNorm(3))
    config = TrainingConfig(steps=1, batch_size=1, learning_rate=1.0, weight_decay=0.5)
    groups = build_optimiser(layer, config)[0].param_groups
    assert [(len(group["params"]), group["weight_decay"]) for group in groups] == [(1, 0.5), (3, 0.0)]


@pytest.mark.parametrize("split", ["training", "validation"])
@pytest.mark.parametrize("kind", ["unilm", "segabert", "transformer-xl"])
def test_an_empty_split_ends_with_one_line(
    small_corpus: Small, kind: str, split: str, tmp_path: Path
) -> None:
    tokenizer, splits = small_corpus
    given = {**splits, {"training": "train", "validation": "valid"}[split]: corpus_of([])}
    with pytest.raises(InputError, match=f"the {split} split: has no text"):
        train((tokenizer, given), kind, tmp_path / "a.ckpt", steps=1)
