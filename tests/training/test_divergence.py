"""A loss, gradient or weight that is no number stops every kind of training in one line; a loss that jumps is told."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from quartet.errors import InputError
from quartet.recognise.training import TranslationModule
from quartet.tasks.classification import evaluation as classification
from quartet.tasks.glue import tuning as glue
from quartet.tasks.nli import tuning as nli
from quartet.tasks.race import tuning as race
from quartet.tasks.squad import tuning as squad
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training.divergence import FIRST, CurveModule, DivergenceWatch, WatchedModule
from quartet.training.module import PretrainingModule
from quartet.training.tuning import TaskModel, TuningSettings, load_or_tune
from tests.data.test_passages import full_stops
from tests.recognise import toy
from tests.scoring.test_language_model import random_model
from tests.tasks.nli import test_tuning as nli_toy
from tests.tasks.race import test_tuning as race_toy
from tests.tasks.squad import test_tuning as squad_toy
from tests.training.test_fit import train

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
SETTINGS = TuningSettings(epochs=2, batch_size=4, learning_rate=1e-3, warmup=0.1, seed=1)
TEXTS = [text for text, _, _ in nli_toy.toy(12, 1)]


def classify(model: Any) -> None:
    classification.fit_predict(model, TEXTS, [0, 1] * 6, TEXTS, SETTINGS)


def compare(model: Any) -> None:
    load_or_tune(lambda: nli.SiameseModel(model, 3), nli_toy.toy(12, 1), SETTINGS)


def find(model: Any) -> None:
    windows, _ = squad.question_windows(
        model, squad_toy.toy(12, 1), squad.SpanReading(max_length=64), full_stops
    )
    load_or_tune(lambda: squad.SpanModel(model), windows[:12], SETTINGS)


def choose(model: Any) -> None:
    questions, _ = race.read_choices(model, race_toy.toy(12, 1), 64, full_stops)
    load_or_tune(lambda: race.MultipleChoiceModel(model), questions, SETTINGS)


def label(model: Any) -> None:
    rows = [(row, 1.0) for example in _choices(model) for row in example.rows(1, 2)[:1]]
    glue.fine_tune(model, 2, rows, {}, SETTINGS, "mean", ())


def _choices(model: Any) -> Any:
    return race.read_choices(model, race_toy.toy(12, 1), 64, full_stops)[0]


TUNINGS: list[Callable[[Any], None]] = [classify, compare, find, choose, label]


@pytest.mark.parametrize("tuning", TUNINGS)
def test_a_batch_of_more_examples_than_there_are_is_said(
    tuning: Callable[[Any], None],
    small_corpus: Small,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = random_model("segabert", small_corpus[0])
    tuning(model)
    assert not caplog.messages
    monkeypatch.setitem(globals(), "SETTINGS", replace(SETTINGS, batch_size=1000))
    tuning(model)
    assert caplog.messages == ["batch_size 1,000: a step has all 12 examples"]


def spoil(patch: pytest.MonkeyPatch, owner: Any, step: int, what: str) -> None:
    """At `step` let the loss, or only the gradient, be NaN."""
    original = owner.training_step

    def training_step(self: WatchedModule, *given: Any) -> Tensor:
        if self.global_step == step:
            first = next(self.parameters())
            if what == "gradient":
                first.register_post_accumulate_grad_hook(_nan)
            else:
                first.data.fill_(torch.nan)
        loss: Tensor = original(self, *given)
        return loss

    patch.setattr(owner, "training_step", training_step)


def _nan(parameter: Tensor) -> None:
    assert parameter.grad is not None
    parameter.grad.fill_(torch.nan)


@pytest.mark.parametrize("what", ["loss", "gradient"])
@pytest.mark.parametrize("kind", ["bilm", "segatron-xl"])
def test_a_pretraining_stops_and_names_step_and_batch(
    small_corpus: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, what: str
) -> None:
    """After a resume point: it stays, and what it holds is finite."""
    spoil(monkeypatch, PretrainingModule, 7, what)
    with pytest.raises(InputError) as stopped:
        train(small_corpus, kind, tmp_path / "a.ckpt", validate_every=12)
    said = str(stopped.value)
    assert said.startswith("training step 7 (epoch "), said
    assert f"the {what}" in said and "lower training.learning_rate" in said
    point = torch.load(tmp_path / "a.ckpt", weights_only=True)
    assert point["global_step"] == 5
    assert all(bool(tensor.isfinite().all()) for tensor in point["state_dict"].values())


def test_the_part_of_a_batch_is_named(
    small_corpus: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = PretrainingModule.training_step

    def training_step(self: PretrainingModule, batch: Any, index: int) -> Tensor:
        if self.global_step == 3 and batch.part == 1:
            self.network.tokens.weight.data.fill_(torch.inf)
        return original(self, batch, index)

    monkeypatch.setattr(PretrainingModule, "training_step", training_step)
    with pytest.raises(InputError, match=r"step 3 \(epoch 1, batch 4 of \d+\), part 2 of 2: the loss is nan"):
        train(small_corpus, "bilm", tmp_path / "a.ckpt", accumulate=2)


def test_a_validation_that_is_no_number_is_not_written(
    small_corpus: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoilt(self: PretrainingModule) -> None:
        self._validation_sum = float("nan")
        original(self)

    original = PretrainingModule.on_validation_epoch_end
    monkeypatch.setattr(PretrainingModule, "on_validation_epoch_end", spoilt)
    with pytest.raises(InputError, match=r"training step 5 \(.*\): the validation loss after it is nan"):
        train(small_corpus, "tta", tmp_path / "a.ckpt")


@pytest.mark.parametrize("what", ["loss", "gradient"])
def test_a_translator_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    spoil(monkeypatch, TranslationModule, 2, what)
    with pytest.raises(InputError, match=rf"training step 2 \(epoch 1, batch 3 of \d+\): the {what}"):
        toy.fit(tmp_path / "a.ckpt", steps=5, validate_every=5)


@pytest.mark.parametrize("what", ["loss", "gradient"])
@pytest.mark.parametrize("tuning", TUNINGS)
def test_every_tuning_stops(
    small_corpus: Small, monkeypatch: pytest.MonkeyPatch, tuning: Callable[[Any], None], what: str
) -> None:
    from quartet.training import tuning as module

    spoil(monkeypatch, module._TuningModule, 4, what)
    model = random_model("segabert", small_corpus[0], max_length=64)
    with pytest.raises(InputError, match=rf"^segabert: tuning step 4 \(epoch 2, batch 2 of 3\): the {what}"):
        tuning(model)
    assert all(bool(each.isfinite().all()) for each in model.network.parameters()), "only the copy is tuned"


def test_weights_that_the_last_step_spoils_are_not_used(
    small_corpus: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    from quartet.training import tuning as module

    def spoilt(self: Any, *given: Any) -> None:
        if self.global_step == 6:
            next(self.task.parameters()).data[0] = torch.inf

    monkeypatch.setattr(module._TuningModule, "on_train_batch_end", spoilt)
    with pytest.raises(InputError, match=r"tuning step 5 .*: network\..* is not finite after it"):
        compare(random_model("segabert", small_corpus[0], max_length=64))


def jumps(
    values: list[float], caplog: pytest.LogCaptureFixture, watch: DivergenceWatch | None = None
) -> list[int]:
    """The steps that the watch tells of."""
    watch = watch or DivergenceWatch("training step", 10, "wait")
    caplog.clear()
    with caplog.at_level(logging.WARNING, "quartet"):
        for step, value in enumerate(values):
            watch.loss(torch.tensor(value), step)
    return [record.metric[2] for record in caplog.records]  # type: ignore[attr-defined]


def noisy(steps: int, seed: int) -> list[float]:
    """A loss that falls from 9 to 5, with noise."""
    draw = random.Random(seed)
    return [5 + 4 * 0.97**step + draw.gauss(0, 0.1) for step in range(steps)]


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_no_jump(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    assert jumps(noisy(2000, seed), caplog) == []
    assert jumps([2.0] * 50 + [2.1] * 50, caplog) == [], "a twentieth more is none, even where nothing moves"


def test_a_jump_is_told_once_with_its_step_and_value(caplog: pytest.LogCaptureFixture) -> None:
    values = noisy(300, 1)
    values[200:210] = [8.0] * 10
    assert jumps(values, caplog) == [200]
    assert "training step 200 (epoch 21, batch 1 of 10): the loss jumped from about 5" in caplog.text
    assert caplog.records[0].metric == ("loss_jump", 8.0, 200)  # type: ignore[attr-defined]
    assert jumps([9.0] * (FIRST - 1) + [90.0], caplog) == [], "so early there is nothing to compare with"


def test_a_resumed_watch_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    values = [*noisy(100, 1), 8.0, 8.0]
    whole = jumps(values, caplog)
    first, second = DivergenceWatch("step", 10, ""), DivergenceWatch("step", 10, "")
    assert jumps(values[:60], caplog, first) == []
    second.restore(first.state())
    assert [step + 60 for step in jumps(values[60:], caplog, second)] == whole == [100]


def test_steps_are_compared_with_those_of_their_kind(caplog: pytest.LogCaptureFixture) -> None:
    """Long sentences, rare and harder, are no jump; a long one that is worse than the others is, and so is a short."""
    draw = random.Random(1)
    watch = DivergenceWatch("step", 100, "")

    def told(worse: dict[int, float]) -> list[float]:
        caplog.clear()
        with caplog.at_level(logging.WARNING, "quartet"):
            for step in range(400):
                kind = 200 if step % 40 == 7 else 20
                usual = (7.5 if kind == 200 else 6.0) + draw.gauss(0, 0.1)
                watch.loss(torch.tensor(worse.get(step, usual) * 30), step, targets=30, kind=kind)
        return [record.metric[2] for record in caplog.records]  # type: ignore[attr-defined]

    assert told({}) == []
    assert told({300: 7.5, 301: 7.5, 327: 9.5, 328: 8.0}) == [300, 327]
    assert told({300: 9.5, 327: 9.5}) == [], "single texts that are harder than all others"


def test_the_mean_of_few_targets_may_vary_more(caplog: pytest.LogCaptureFixture) -> None:
    """The same loss for a token: of 3 targets in place of 300 it is no jump."""
    for targets, expected in ((3.0, []), (300.0, [200])):
        draw, watch = random.Random(1), DivergenceWatch("step", 100, "", usual=(300.0, 300.0))
        caplog.clear()
        with caplog.at_level(logging.WARNING, "quartet"):
            for step in range(250):
                count = targets if step in (200, 201) else 300.0
                loss = 6.5 if step in (200, 201) else 5 + draw.gauss(0, 0.1)
                watch.loss(torch.tensor(loss * count), step, targets=count, rows=count)
        assert [record.metric[2] for record in caplog.records] == expected  # type: ignore[attr-defined]


def test_parts_are_one_loss(caplog: pytest.LogCaptureFixture) -> None:
    watch = DivergenceWatch("step", 10, "")
    with caplog.at_level(logging.WARNING, "quartet"):
        for step in range(50):
            for part in range(2):
                watch.loss(torch.tensor(4.0 if step in (40, 41) and part else 1.0), step, part, 2, 0.5, 0.5)
    assert [record.metric[1:] for record in caplog.records] == [(5.0, 40)]  # type: ignore[attr-defined]


def test_the_gradient_is_clipped_as_torch_clips_it() -> None:
    torch.manual_seed(1)
    ours, theirs = nn.Linear(5, 4), nn.Linear(5, 4)
    theirs.load_state_dict(ours.state_dict())
    for layer in (ours, theirs):
        (layer(torch.ones(3, 5)) ** 2).sum().backward()
    DivergenceWatch("step", 1, "").gradient(ours.named_parameters(), 0, clip=0.5)
    torch.nn.utils.clip_grad_norm_(theirs.parameters(), 0.5)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert one.grad is not None and other.grad is not None
        assert torch.equal(one.grad, other.grad)


def test_fp16_skips_a_step_that_overflows_until_nothing_is_left_to_halve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No GPU is needed for the rule: the gradient is spoilt, the scale is given."""
    module = WatchedModule()
    module.layer = nn.Linear(2, 2)  # type: ignore[assignment]
    module.watch = DivergenceWatch("training step", 10, "wait")
    for parameter in module.parameters():
        parameter.grad = torch.full_like(parameter, torch.inf)
    clipped: list[float | None] = []
    monkeypatch.setattr(module, "clip_gradients", lambda optimiser, value, algorithm: clipped.append(value))
    optimiser = torch.optim.SGD(module.parameters(), 0.1)
    for scale in (65536.0, 1.0):
        scaler = type("Scaler", (), {"get_scale": lambda self, scale=scale: scale})()
        plugin = type("Plugin", (), {"scaler": scaler})()
        module._trainer = type("Trainer", (), {"precision_plugin": plugin, "global_step": 3})()  # type: ignore[assignment]
        if scale > 1:
            module.configure_gradient_clipping(optimiser, 1.0)
        else:
            with pytest.raises(InputError, match=r"training step 3 .*: the gradient of layer\.weight"):
                module.configure_gradient_clipping(optimiser, 1.0)
    assert clipped == [1.0, 1.0]


def test_every_kind_of_training_is_watched() -> None:
    """A new LightningModule, or a new task, must be one of those that are tested above."""
    modules = {
        each.__name__
        for one in WatchedModule.__subclasses__()
        for each in (one.__subclasses__() if one is CurveModule else [one])
    }
    assert modules == {"PretrainingModule", "TranslationModule", "_TuningModule"}
    tasks = {each.__name__ for each in TaskModel.__subclasses__() if each.__module__.startswith("quartet.")}
    assert tasks == {"_Classifier", "SiameseModel", "SpanModel", "MultipleChoiceModel", "GlueModel"}
    assert len(tasks) == len(TUNINGS)
