"""A translator learns, repeats itself, and a stopped training goes on bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from quartet.config.recognise import TranslatorConfig
from quartet.errors import InputError
from quartet.kernels import cross_entropy
from quartet.recognise import training, translation
from quartet.recognise.parallel_text import PairSource, ParallelText, encode_pairs
from quartet.recognise.training import TrainedTranslator, TranslationModule, fit_translator
from quartet.recognise.translation import build, fill, weights
from quartet.training.callbacks import ResumePoint
from tests.recognise import toy


def test_it_learns(toy_training: TrainedTranslator) -> None:
    assert [step for step, _ in toy_training.curve] == [100, 200, 300]
    assert toy_training.curve[-1][1] < 0.25 < toy_training.curve[0][1] < 1
    assert (toy_training.steps, toy_training.tokens) == (300, toy_training.run_tokens)
    assert toy_training.targets == int((encode_pairs(toy.DEV, toy.tokenizer(), 24).target.lengths + 1).sum())


class Killed(Exception):
    pass


def killed_at(step: int, patch: pytest.MonkeyPatch) -> None:
    """Make trainings stop right after a step."""
    original = ResumePoint.on_train_batch_end

    def stop(self: ResumePoint, trainer: Any, *rest: Any) -> None:
        original(self, trainer, *rest)
        if trainer.global_step == step:
            raise Killed

    patch.setattr(ResumePoint, "on_train_batch_end", stop)


@pytest.mark.parametrize(("validate", "accumulate"), [(6, 1), (5, 2)])
def test_a_killed_training_goes_on_bit_for_bit(
    validate: int, accumulate: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after step 8, its last resume point at step 5; with dropout, and the best weights of before the stop."""
    model = TranslatorConfig(
        layers=1,
        dim=16,
        heads=2,
        inner=32,
        dropout=0.1,
        attention_dropout=0.1,
        inner_dropout=0.1,
        max_length=24,
    )
    changes = {"steps": 12, "validate_every": validate, "checkpoint_every": 5, "accumulate": accumulate}
    whole = toy.fit(tmp_path / "whole.ckpt", model, **changes)
    with monkeypatch.context() as patch:
        killed_at(8, patch)
        with pytest.raises(Killed):
            toy.fit(tmp_path / "killed.ckpt", model, **changes)
    resumed = toy.fit(tmp_path / "killed.ckpt", model, **changes)
    assert (resumed.steps, resumed.curve, resumed.tokens) == (7, whole.curve, whole.tokens)
    assert 0 < resumed.run_tokens < whole.run_tokens
    for name, tensor in weights(whole.network).items():
        assert torch.equal(tensor, weights(resumed.network)[name]), name
        assert torch.equal(whole.best[name], resumed.best[name]), name


def test_the_same_seed_gives_the_same_weights(tmp_path: Path) -> None:
    first, second = (toy.fit(tmp_path / f"{run}.ckpt", steps=5, validate_every=5) for run in "ab")
    assert first.curve == second.curve
    for name, tensor in weights(first.network).items():
        assert torch.equal(tensor, weights(second.network)[name]), name


def test_the_best_weights_are_those_of_the_lowest_loss(tmp_path: Path) -> None:
    """A rate that is far too high spoils what the warm-up reached."""
    changes = {"steps": 40, "validate_every": 5, "learning_rate": 0.5, "warmup": 0.9, "schedule": "constant"}
    trained = toy.fit(tmp_path / "a.ckpt", **changes)
    lowest = min(loss for _, loss in trained.curve)
    assert dict(trained.curve)[trained.best_step] == lowest < trained.curve[-1][1]
    assert loss_of(trained) == pytest.approx(trained.curve[-1][1], rel=1e-5)
    fill(trained.network, trained.best)
    assert loss_of(trained) == pytest.approx(lowest, rel=1e-5)


def loss_of(trained: TrainedTranslator) -> float:
    """The loss of the dev text, counted apart from the training."""
    module = TranslationModule(trained.network, toy.settings(), 0.1, 1, 10, 100.0, None)
    source = PairSource(encode_pairs(toy.DEV, toy.tokenizer(), 24), batch_tokens=200, seed=None)
    batches = [source.batch(step) for step in range(source.steps_per_epoch)]
    with torch.no_grad():
        return sum(module.loss(batch, 0.0).item() for batch in batches) / trained.targets


def test_parts_give_the_gradient_of_the_whole() -> None:
    torch.manual_seed(1)
    module = TranslationModule(build(toy.MODEL, 340), toy.settings(), 0.1, 1, 10, 100.0, None)
    batch = PairSource(encode_pairs(toy.TRAIN, toy.tokenizer(), 24), batch_tokens=200, seed=1).batch(0)
    gradients = []
    for parts in (1, 3):
        module.zero_grad()
        for part in batch.split(parts):
            module.loss(part, 0.1).backward()
        gradients.append([each.grad.clone() for each in module.parameters() if each.grad is not None])
    for whole, summed in zip(*gradients, strict=True):
        assert torch.allclose(whole, summed, rtol=1e-5, atol=1e-5)


def test_padding_for_a_gpu_and_its_masks_change_no_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(1)
    module = TranslationModule(build(toy.MODEL, 340), toy.settings(), 0.1, 1, 10, 100.0, None)
    encoded = encode_pairs(toy.TRAIN, toy.tokenizer(), 24)
    found = []
    for on_gpu in (False, True):
        batch = PairSource(encoded, batch_tokens=200, seed=1, few_shapes=on_gpu).batch(2)
        if on_gpu:
            monkeypatch.setattr(training, "masks", translation.whole_masks)
        module.zero_grad()
        loss = module.loss(batch, 0.1)
        loss.backward()
        found.append(
            [loss.detach(), *(each.grad.clone() for each in module.parameters() if each.grad is not None)]
        )
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, atol=1e-4)


def test_a_compiled_translator_learns_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Traced as for the compiler, and run as it stands, which needs no C++; nothing is traced after the first steps."""
    traced: list[int] = []
    compiled = torch.nn.Module.compile

    def backend(graph: torch.fx.GraphModule, _: Any) -> Any:
        traced.append(len(traced))
        return graph.forward

    expected = toy.fit(tmp_path / "plain.ckpt", steps=12, validate_every=6)
    assert traced == []
    monkeypatch.setattr(
        torch.nn.Module, "compile", lambda module, **options: compiled(module, backend=backend, **options)
    )
    monkeypatch.setattr(cross_entropy, "_compiled_tile", lambda: cross_entropy._of_tile)
    found = toy.fit(tmp_path / "compiled.ckpt", steps=12, validate_every=6, compile=True)
    assert 0 < len(traced) < 12
    assert [loss for _, loss in found.curve] == pytest.approx([loss for _, loss in expected.curve], abs=1e-3)
    assert weights(found.network).keys() == weights(expected.network).keys()


def test_label_smoothing_mixes_in_the_uniform_distribution() -> None:
    torch.manual_seed(1)
    module = TranslationModule(build(toy.MODEL, 340), toy.settings(), 0.1, 1, 10, 100.0, None)
    batch = PairSource(encode_pairs(toy.DEV, toy.tokenizer(), 24), batch_tokens=200, seed=None).batch(0)
    with torch.no_grad():
        plain, uniform = module.loss(batch, 0.0), module.loss(batch, 1.0)
        assert torch.allclose(module.loss(batch, 0.1), 0.9 * plain + 0.1 * uniform)


def test_the_curve_is_reported_and_the_last_point_belongs_to_the_weights(tmp_path: Path) -> None:
    seen: list[tuple[str, float, int]] = []
    pieces = toy.tokenizer()
    pairs = encode_pairs(toy.DEV, pieces, 24)
    trained = fit_translator(
        toy.MODEL,
        toy.settings(steps=8, validate_every=5),
        pieces.vocab_size,
        pairs,
        pairs,
        label_smoothing=0.0,
        seed=1,
        resume=tmp_path / "a.ckpt",
        report=lambda *point: seen.append(point),
    )
    assert [step for step, _ in trained.curve] == [5, 8]
    assert [(name, value) for name, value, _ in seen] == [
        ("validation_loss", loss) for _, loss in trained.curve
    ]


def test_a_loss_that_is_no_number_and_text_that_is_too_long_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"training step \d+ \(.*\): the loss is .*learning_rate"):
        toy.fit(tmp_path / "a.ckpt", learning_rate=1e30, clip=0.0, warmup=0.0)
    pieces = toy.tokenizer()
    long = encode_pairs(ParallelText(("der Hund " * 30,), ("the dog",)), pieces, 24)
    with pytest.raises(InputError, match="the dev text: no pair is within max_length 24"):
        fit_translator(
            toy.MODEL,
            toy.settings(),
            pieces.vocab_size,
            encode_pairs(toy.DEV, pieces, 24),
            long,
            label_smoothing=0.1,
            seed=1,
            resume=tmp_path / "b.ckpt",
        )
