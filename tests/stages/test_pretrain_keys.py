"""What every key of a model, and of its training, moves: the weights, or the curve."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import quartet
from pipeline.settings import read_params
from quartet.results import read_results
from quartet.runtime import peak
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.encoding import encode_corpus
from quartet.text.tokenizer import TextTokenizer, train_tokenizer
from quartet.training.fit import TrainedNetwork, fit
from quartet.training.pretraining import Pretraining
from tests.models.shapes import KINDS
from tests.small_corpus import documents
from tests.stages.world import CORPUS, LAYOUT, TOKENIZER_NAME, World, all_different

TRAINING: dict[str, Any] = {
    "steps": 4,
    "batch_size": 4,
    "learning_rate": 0.3,
    "warmup": 0.25,
    "schedule": "linear",
    "schedule_steps": 0,
    "weight_decay": 0.01,
    "betas": [0.9, 0.999],
    "epsilon": 1e-8,
    "clip": 0.1,
    "precision": "fp32",
    "validate_every": 2,
    "validation_batches": 2,
    "loss_on_specials": False,
}
SIZES: dict[str, Any] = {
    "layers": 2,
    "dim": 16,
    "heads": 2,
    "inner": 16,
    "dropout": 0.0,
    "attention_dropout": 0.0,
    "max_length": 12,
    "init_std": 0.3,
    "norm_epsilon": 1e-5,
}

#: Of all models: another value of each key.
SHARED: dict[str, Any] = {
    "layers": 1,
    "heads": 4,
    "inner": 24,
    "dim": 24,
    "dropout": 0.3,
    "attention_dropout": 0.3,
    "max_length": 8,
    "init_std": 0.2,
    "norm_epsilon": 1e-2,
    "tokenizer": "other",
    "corpus": "other",
}
#: Of their trainings.
TRAINED: dict[str, Any] = {
    "steps": 6,
    "batch_size": 3,
    "learning_rate": 0.2,
    "warmup": 0.0,
    "schedule": "cosine",
    "schedule_steps": 9,
    "weight_decay": 0.5,
    "betas": [0.5, 0.8],
    "epsilon": 1e-2,
    "clip": 0.2,
    "precision": "bf16",
    "validate_every": 1,
    "validation_batches": 1,
    "loss_on_specials": True,
}
#: Of one kind of model: the keys with which it starts, and others.
OWN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "tta": (
        {"position_init": "normal", "head": "transform"},
        {
            "position_init": "sinusoid",
            "head": "tied",
            "positions": ["token"],
            "tta__mask": "word",
            "tta__first_query": "mask_token",
            "tta__normalise_inputs": False,
            "reads": "spans",
        },
    ),
    "segabert": (
        {
            "maxima": {"token": 5, "sentence": 3, "paragraph": 3, "overflow": "paper"},
            "spans": {"form": "paper"},
        },
        {
            "maxima__token": 4,
            "maxima__sentence": 2,
            "maxima__paragraph": 2,
            "maxima__overflow": "released",
            "spans__form": "released",
            "positions": ["token", "sentence"],
            "position_init": "split-sinusoid",
            "training__mask_probability": 0.5,
            "training__max_selected": 1,
        },
    ),
    "segatron-xl": (
        {"recurrence": {"memory": 8, "index": "running", "offset": "exact"}},
        {
            "recurrence__memory": 4,
            "recurrence__index": "reset",
            "recurrence__offset": "released",
            "adaptive": {"cutoffs": [20, 40], "div_val": 1},
            "positions": ["sequence"],
        },
    ),
}


@pytest.fixture
def started(world: World) -> World:
    """The small corpus, the same under another name without its first document, and another tokenizer."""
    world.corpus()
    other = train_tokenizer("word", [text for one in documents(12, 1) for text in one.sentences], 40, True)
    LAYOUT.tokenizer("other").mkdir()
    other.save(LAYOUT.tokenizer("other") / "tokenizer.json")
    encode_corpus(LAYOUT.segments(CORPUS), other, LAYOUT.encoded(CORPUS, "other"))
    shutil.copytree(LAYOUT.segments(CORPUS), LAYOUT.segments("other"))
    path = LAYOUT.segments("other") / "train.jsonl"
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[1:]), encoding="utf-8")
    encode_corpus(LAYOUT.segments("other"), world.tokenizer, LAYOUT.encoded("other", TOKENIZER_NAME))
    settings = world.settings()
    world.set(
        corpora__other=settings["corpora"][CORPUS], tokenizers__other=settings["tokenizers"][TOKENIZER_NAME]
    )
    world.monkeypatch.setattr(peak, "matrix_product_peak", lambda *_: 1.0)
    return world


def fitted(world: World) -> TrainedNetwork:
    """What the library trains of the settings of the model."""
    model = read_params().models["tta"]
    encoded = LAYOUT.encoded(model.corpus, model.tokenizer)
    splits = (EncodedCorpus.open(encoded, split) for split in ("train", "valid"))
    tokenizer = TextTokenizer.load(LAYOUT.tokenizer(model.tokenizer) / "tokenizer.json")
    resume = world.folder / "resume.ckpt"
    return fit(model.config, model.training, tokenizer, *splits, seed=read_params().seeds[0], resume=resume)


@pytest.mark.parametrize("kind", OWN)
def test_every_key_moves_the_weights_or_the_curve(started: World, kind: str) -> None:
    own, others = OWN[kind]
    sizes = {**SIZES, **({"head": "tied"} if "xl" in kind else {})}
    entry: dict[str, Any] = {
        **{"architecture": "encoder", "reads": "sentences", "positions": ["sequence"], "corpus": CORPUS},
        **{
            "tokenizer": TOKENIZER_NAME,
            **sizes,
            **KINDS[kind],
            **own,
            "max_length": 12,
            "training": TRAINING,
        },
    }
    changes = {f"models__tta__{key}": value for key, value in others.items()}
    if kind == "tta":
        changes |= {f"models__tta__{key}": value for key, value in SHARED.items()}
        changes |= {f"models__tta__training__{key}": value for key, value in TRAINED.items()}

    def run() -> Any:
        trained = fitted(started)
        state = trained.network.state_dict().items()
        return {name: tensor.tolist() for name, tensor in state}, trained.curve

    base = {"models": {"tta": entry}, "runtime__models": []}
    all_different(started.moved(run, base, changes))


@pytest.mark.parametrize("weights", ["last", "best"])
def test_the_stage_leaves_what_the_library_trains_of_each_seed(started: World, weights: str) -> None:
    entry = {**started.settings()["models"]["tta"], "training": {**TRAINING, "weights": weights}}
    started.set(models__tta=entry, seeds=[5, 3])
    started.start("pretrain", "tta")
    rows = [row for row in read_results(LAYOUT.rows("pretrain", "tta")) if row.metric == "loss"]
    lines = [line.split(",") for line in LAYOUT.curve("tta").read_text().splitlines()[1:]]
    for seed, folder in ((5, ""), (3, "seed-3")):
        model = quartet.load(LAYOUT.models / "tta" / folder)
        started.set(seeds=[seed])
        trained = fitted(started)
        assert model.seed == seed
        expected = trained.network.state_dict() if weights == "last" else trained.best
        for name, tensor in model.network.state_dict().items():
            assert torch.equal(tensor, expected[name]), name
        curve = [(int(step), float(loss)) for each, step, loss in lines if int(each) == seed]
        assert [step for step, _ in curve] == [step for step, _ in trained.curve]
        assert [loss for _, loss in curve] == pytest.approx([loss for _, loss in trained.curve], abs=1e-5)
        assert [row.value for row in rows if row.seed == seed] == pytest.approx([trained.curve[-1][1]])


def test_the_share_of_the_peak_is_of_all_devices(started: World) -> None:
    """100 tokens in 4 seconds, of which one was waited, in 125 places; each of two devices could do 1,000 a second."""
    asked: list[tuple[Any, ...]] = []

    def told(answer: float) -> Callable[..., float]:
        def compute(*given: Any) -> float:
            asked.append(given)
            return answer

        return compute

    started.monkeypatch.setattr(peak, "training_flops", told(2000.0))
    started.monkeypatch.setattr(peak, "matrix_product_peak", told(1000.0))
    model = read_params().models["tta"]
    work = SimpleNamespace(targets=80, pairs=900, seconds=4.0, waiting=1.0, places=125)
    trained: Any = SimpleNamespace(work=work, run_tokens=100, network=SimpleNamespace(vocabulary=300))
    assert peak.training_speed(model, trained, "cpu", 2) == {
        "devices": 2,
        "tokens-per-second": 25.0,
        "flops-per-second": 500.0,
        "peak-flops-per-second": 2000.0,
        "flops-utilisation": 0.25,
        "batch-making": 0.25,
        "padding": pytest.approx(0.2),
    }
    assert asked == [(model.config, 300, 100, 80, 9.0), ("cpu", model.training.precision)]
    trained.run_tokens = 0
    assert peak.training_speed(model, trained, "cpu", 2) == {}


def test_a_training_has_the_same_name_whatever_the_order_of_the_disk(started: World) -> None:
    model, listed = read_params().models["tta"], Path.iterdir
    names = set()

    def folder(seed: int) -> Path:
        encoded = LAYOUT.encoded(model.corpus, model.tokenizer)
        tokenizer = LAYOUT.tokenizer(model.tokenizer) / "tokenizer.json"
        return Pretraining("tta", model, encoded, tokenizer, seed, "cpu", started.folder, "").folder

    for back in (False, True):

        def in_order(folder: Path, back: bool = back) -> Iterator[Path]:
            return iter(sorted(listed(folder), reverse=back))

        with started.monkeypatch.context() as patch:
            patch.setattr(Path, "iterdir", in_order)
            names.add(folder(1))
    assert len(names) == 1
    assert folder(2) not in names
