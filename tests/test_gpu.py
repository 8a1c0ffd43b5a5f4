"""On a GPU: every model computes what it does on the processor, trains, scores, searches and is timed there.

Skipped where there is none. Run them by ``python -m pytest tests/test_gpu.py`` on a machine that has one.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch

from quartet.config.recognise import BeamConfig
from quartet.config.training import TrainingConfig
from quartet.recognise.beam import search
from quartet.runtime.benchmark import benchmark, cut_texts
from quartet.runtime.hf_bert import bert_like
from quartet.runtime.peak import matrix_product_peak
from quartet.runtime.systems import on_device, systems_of
from quartet.scoring.network_reader import Layer
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training.divergence import SEEN_TOGETHER
from quartet.training.fit import TrainedNetwork, fit
from tests.models.shapes import KINDS, VARIANTS, small
from tests.recognise import toy
from tests.runtime.test_benchmark import RUNNING
from tests.scoring.test_language_model import TEXTS, random_model

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


def train(corpus: Small, kind: str, resume: Path, device: str, **changes: Any) -> TrainedNetwork:
    """40 steps, without dropout unless it is asked for: devices draw other numbers for it."""
    tokenizer, splits = corpus
    config = small(**{**VARIANTS[kind], "dropout": changes.pop("dropout", 0.0)})
    progress = changes.pop("progress", None)
    settings = {"steps": 40, "batch_size": 8, "learning_rate": 3e-3, "validate_every": 20, **changes}
    training = TrainingConfig(**settings)
    return fit(
        config,
        training,
        tokenizer,
        splits["train"],
        splits["valid"],
        seed=7,
        resume=resume,
        device=device,
        progress=progress,
    )


@pytest.mark.parametrize("kind", VARIANTS)
def test_scores_and_vectors_are_the_processors(small_corpus: Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0])
    moved = on_device(model, "cuda")
    assert next(moved.network.parameters()).is_cuda
    for masked in (True, False) if model.masks else (True,):
        here, there = (each.token_logprobs(TEXTS, masked=masked) for each in (model, moved))
        for one, other in zip(here, there, strict=True):
            assert np.allclose(one, other, atol=1e-4)
    for layer in set(get_args(Layer)) & set(model.layers):
        assert np.allclose(model.embed(TEXTS, layer), moved.embed(TEXTS, layer), atol=1e-4), layer
    documents = small_corpus[1]["test"]
    here, there = (list(each.corpus_logprobs(documents)) for each in (model, moved))
    assert len(here) == len(there) > 0
    for one, other in zip(here, there, strict=True):
        assert np.allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("kind", VARIANTS)
def test_the_same_scores_come_twice(small_corpus: Small, kind: str) -> None:
    moved = on_device(random_model(kind, small_corpus[0]), "cuda")
    first, second = (moved.token_logprobs(TEXTS) for _ in range(2))
    assert all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("kind", VARIANTS)
def test_training_follows_the_processors_curve(small_corpus: Small, kind: str, tmp_path: Path) -> None:
    here, there = (
        train(small_corpus, kind, tmp_path / f"{device}.ckpt", device) for device in ("cpu", "cuda")
    )
    assert here.tokens == there.tokens
    for (step, expected), (also, loss) in zip(here.curve, there.curve, strict=True):
        assert step == also
        assert loss == pytest.approx(expected, rel=5e-3)


@pytest.mark.parametrize("kind", VARIANTS)
def test_no_step_waits_for_the_gpu(small_corpus: Small, kind: str, tmp_path: Path) -> None:
    """From the sixth on to the last before losses are looked at, PyTorch refuses whatever would wait."""
    last = SEEN_TOGETHER - 1

    def refuse(done: int, steps: int) -> None:
        torch.cuda.set_sync_debug_mode("error" if 5 <= done < last else "default")

    try:
        trained = train(
            small_corpus,
            kind,
            tmp_path / "a.ckpt",
            "cuda",
            steps=last,
            validate_every=last,
            dropout=0.1,
            progress=refuse,
        )
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert trained.steps == last


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
@pytest.mark.parametrize("kind", KINDS)
def test_half_precision_learns_what_single_precision_does(
    small_corpus: Small, kind: str, precision: str, tmp_path: Path
) -> None:
    full = train(small_corpus, kind, tmp_path / "full.ckpt", "cuda")
    half = train(small_corpus, kind, tmp_path / "half.ckpt", "cuda", precision=precision)
    assert half.curve[-1][1] < half.curve[0][1]
    assert half.curve[-1][1] == pytest.approx(full.curve[-1][1], rel=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_a_training_with_dropout_goes_on_where_it_stopped(
    small_corpus: Small, kind: str, tmp_path: Path
) -> None:
    """The GPU's random state comes back too: one run of 40 steps, and one of 25 that goes on from its step 20."""
    settings: dict[str, Any] = {"dropout": 0.3, "checkpoint_every": 20, "schedule_steps": 40}
    whole = train(small_corpus, kind, tmp_path / "whole.ckpt", "cuda", **settings)
    train(small_corpus, kind, tmp_path / "part.ckpt", "cuda", **{**settings, "steps": 25})
    resumed = train(small_corpus, kind, tmp_path / "part.ckpt", "cuda", **settings)
    assert resumed.steps == 20
    assert resumed.curve[-1][1] == pytest.approx(whole.curve[-1][1], rel=1e-3)


def test_a_translator_learns_and_searches_there(tmp_path: Path) -> None:
    here, there = (toy.fit(tmp_path / f"{device}.ckpt", device=device) for device in ("cpu", "cuda"))
    assert there.curve[-1][1] == pytest.approx(here.curve[-1][1], rel=0.05)
    translator = toy.translator(there)
    beam = BeamConfig(size=5, extra_tokens=5)
    expected = search(translator, toy.DEV.source, beam).lists
    translator.network.to("cuda")
    found = search(translator, toy.DEV.source, beam).lists
    for one, other in zip(expected, found, strict=True):
        assert [each.text for each in one] == [each.text for each in other]
        for each, also in zip(one, other, strict=True):
            assert math.isclose(each.log_probability, also.log_probability, abs_tol=1e-3)


def test_run_times_are_taken_there(small_corpus: Small) -> None:
    models = [random_model(kind, small_corpus[0], max_length=64) for kind in ("unilm", "bilm", "tta")]
    moved = [on_device(model, "cuda") for model in models]
    systems = [system for model in moved for system in systems_of(model)] + bert_like(moved[1], "cuda")
    assert {system.device for system in systems} == {"cuda"}
    timings = list(benchmark(systems, cut_texts(RUNNING, [1, 5], 3), 3))
    assert all(timing.milliseconds.value > 0 for timing in timings)
    assert {timing.system.name for timing in timings} == {system.name for system in systems}


def test_the_peak_of_the_gpu_is_measured_in_either_type() -> None:
    single, half = (matrix_product_peak("cuda", precision) for precision in ("fp32", "bf16"))
    assert half > single > 1e11
