"""A step of any training asks its device for nothing: no value, no count, no place is read back.

Told without a GPU, on PyTorch's device ``meta``: its tensors have shapes and no numbers, so whoever reads one fails.
And every operation of a step is seen, which tells of copies too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from quartet.config.training import TrainingConfig
from quartet.data import open_source
from quartet.data.batch import Tensors
from quartet.data.pairs import pair_inputs
from quartet.kernels import cross_entropy
from quartet.models.architectures import build_for
from quartet.models.network import Network
from quartet.objectives import OBJECTIVES
from quartet.recognise.parallel_text import PairSource, encode_pairs
from quartet.recognise.training import TranslationModule
from quartet.recognise.translation import build
from quartet.tasks.classification.evaluation import _Classifier
from quartet.tasks.glue.tuning import GlueModel
from quartet.tasks.nli.tuning import SiameseModel
from quartet.tasks.race.tuning import MultipleChoiceModel, read_choices
from quartet.tasks.squad.tuning import SpanModel, question_windows
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training import randomness
from quartet.training.distributed import Machine
from quartet.training.divergence import SEEN_TOGETHER, WatchedModule
from quartet.training.module import PretrainingModule
from quartet.training.tuning import TaskModel, _TuningModule
from tests.data.test_passages import full_stops
from tests.models.shapes import VARIANTS, small
from tests.recognise import toy
from tests.scoring.test_language_model import random_model
from tests.tasks.race import test_tuning as race_toy
from tests.tasks.squad import test_tuning as squad_toy

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
CONFIG = TrainingConfig(steps=200, batch_size=8, learning_rate=1e-3)


@pytest.fixture(autouse=True)
def _no_autocast(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device has none."""
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda device: False)
    monkeypatch.setattr(cross_entropy.torch, "autocast", lambda *_, **__: torch.enable_grad())  # type: ignore[attr-defined]


class Waits(TorchDispatchMode):
    """Sees every operation, and notes those that a GPU would be waited for.

    Attributes:
        found: their names.
    """

    #: Operations whose outcome is a number in Python, or has as many elements as the numbers say.
    READS = ("_local_scalar_dense", "is_nonzero", "equal", "nonzero", "masked_select", "_unique2", "bincount")

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found: list[str] = []

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        name = func.name().removeprefix("aten::").split(".")[0]
        own = [each for each in args if isinstance(each, Tensor)]
        by_mask = name == "index" and any(
            index is not None and index.dtype == torch.bool for index in args[1]
        )
        target = torch.device(kwargs["device"]).type if kwargs.get("device") is not None else None
        copied = (
            name in ("_to_copy", "copy_") and len({each.device.type for each in own} | {target} - {None}) > 1
        )
        if (name in self.READS and any(each.is_meta for each in own)) or by_mask or copied:
            self.found.append(name)
        return func(*args, **kwargs)


class Run:
    """What Lightning does with a module in each step, but for the optimiser's own.

    Attributes:
        parts: of a step, which come one after the other.
    """

    def __init__(self, module: WatchedModule, monkeypatch: pytest.MonkeyPatch, parts: int = 1) -> None:
        self.module = module.to("meta").train()
        self.parts = parts
        self.step = 0
        monkeypatch.setattr(type(module), "global_step", property(lambda _: self.step))

    def __call__(self, parts: Sequence[Tensors]) -> None:
        for part in parts:
            loss = self.module.training_step(part, self.step)
            assert isinstance(loss, Tensor)
            loss.backward()  # type: ignore[no-untyped-call]
        self.module.watch.gradient(self.module.named_parameters(), self.step, 1.0)
        self.module.zero_grad()
        self.step += 1

    def looks_at_the_last_alone(self, items: Sequence[Tensors]) -> None:
        """Of 50 steps, the first few of which are tried."""
        there = [item.to("meta") for item in items]
        steps = [there[at : at + self.parts] for at in range(0, len(there), self.parts)]
        with Waits() as seen:
            for step in steps:
                self(step)
        assert seen.found == [] and len(steps) > 1
        self.step = SEEN_TOGETHER - 1
        with Waits() as seen, pytest.raises((RuntimeError, NotImplementedError), match="meta"):
            self(steps[0])
        assert seen.found != []


def pretraining(
    corpus: Small, kind: str, monkeypatch: pytest.MonkeyPatch, parts: int = 1
) -> tuple[Run, list[Tensors]]:
    tokenizer, splits = corpus
    model = small(**{**VARIANTS[kind], "dropout": 0.1, "attention_dropout": 0.1})
    source = open_source(model, splits["train"], tokenizer, batch_size=8, seed=1)
    objective = OBJECTIVES[model.objective]()
    config = TrainingConfig(steps=200, batch_size=8, learning_rate=1e-3, accumulate=parts)
    module = PretrainingModule(
        build_for(model, tokenizer), objective, config, 1, 100, 50.0, 8.0, Machine(), "cuda"
    )
    items: list[Tensors] = [
        objective.label(part, tokenizer.vocab_size, randomness.rows(1, 0, step), module.network.edges)
        for step in range(4)
        for part in source.batch(step).split(parts, trim=False)
    ]
    return Run(module, monkeypatch, parts), items


@pytest.mark.parametrize(("kind", "parts"), [("tta", 1), *((kind, 2) for kind in VARIANTS)])
def test_of_fifty_steps_only_the_last_looks(
    small_corpus: Small, kind: str, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, items = pretraining(small_corpus, kind, monkeypatch, parts)
    run.looks_at_the_last_alone(items)


@pytest.mark.parametrize("parts", [1, 2])
def test_nor_do_a_translators_steps(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = toy.tokenizer()
    source = PairSource(encode_pairs(toy.TRAIN, pieces, 24), batch_tokens=200, seed=1, few_shapes=True)
    config = toy.settings(accumulate=parts)
    module = TranslationModule(build(toy.MODEL, pieces.vocab_size), config, 0.1, 1, 10, 100.0, None, "cuda")
    items = [part for step in range(3) for part in source.batch(step).split(parts, trim=False)]
    Run(module, monkeypatch, parts).looks_at_the_last_alone(items)


def classifier(corpus: Small, kind: str) -> tuple[TaskModel[Any, Any], list[Any]]:
    task = _Classifier(random_model(kind, corpus[0]), 2)
    return task, [("the miller crossed the river", 0), ("a grey heron", 1)]


def siamese(corpus: Small, kind: str) -> tuple[TaskModel[Any, Any], list[Any]]:
    task = SiameseModel(random_model(kind, corpus[0]), 3)
    return task, [("the miller crossed", "the river", 0), ("a grey heron", "a letter", 2)]


def glue(corpus: Small, kind: str) -> tuple[TaskModel[Any, Any], list[Any]]:
    model = random_model(kind, corpus[0])
    rows = pair_inputs(corpus[0], model.card.model.reads, ["a grey heron", "a miller"], ["yes", "no"], 24)
    return GlueModel(model, 2, "cls"), [(each.row, number) for number, each in enumerate(rows)]


def scores(corpus: Small, kind: str) -> tuple[TaskModel[Any, Any], list[Any]]:
    model = random_model(kind, corpus[0])
    rows = pair_inputs(corpus[0], model.card.model.reads, ["a grey heron", "a miller"], None, 24)
    return GlueModel(model, 0, "mean"), [(each.row, 2.5) for each in rows]


def questions(corpus: Small, kind: str) -> tuple[TaskModel[Any, Any], list[Any]]:
    model = random_model(kind, corpus[0], max_length=64)
    windows, _ = question_windows(model, squad_toy.toy(4, 1), squad_toy.READING, full_stops)
    return SpanModel(model), windows


def choices(corpus: Small, kind: str) -> tuple[TaskModel[Any, Any], list[Any]]:
    model = random_model(kind, corpus[0], max_length=64)
    return MultipleChoiceModel(model), read_choices(model, race_toy.toy(4, 1), 64, full_stops)[0]


@pytest.mark.parametrize("kind", ["unilm", "bilm", "tta", "segabert"])
@pytest.mark.parametrize("task_of", [classifier, siamese, glue, scores, questions, choices])
def test_nor_do_those_of_a_tuning(
    small_corpus: Small,
    task_of: Callable[[Small, str], tuple[TaskModel[Any, Any], list[Any]]],
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task, examples = task_of(small_corpus, kind)
    task.model.device = "cuda"
    module = _TuningModule(task, CONFIG, 1, 100, None, None)
    Run(module, monkeypatch).looks_at_the_last_alone([task.batch(examples) for _ in range(2)])


def reading(read: str) -> Callable[[Network, Tensor, Tensor, None], Tensor]:
    """The networks' loss, which looks at what it is given, by these calls one after the other."""
    original = Network.loss

    def loss(self: Network, hidden_ND: Tensor, targets_N: Tensor, known: None) -> Tensor:
        found: Any = hidden_ND
        for name in read.split("."):
            found = found[found > 0] if name == "masked" else getattr(found, name)()
        return original(self, hidden_ND, targets_N, known)

    return loss


@pytest.mark.parametrize(
    ("read", "seen"),
    [
        ("sum.item", "_local_scalar_dense"),
        ("any.tolist", "_to_copy"),
        ("nonzero", "nonzero"),
        ("cpu", "_to_copy"),
        ("isfinite.all.__bool__", "_local_scalar_dense"),
        ("masked", "index"),
    ],
)
def test_a_network_that_reads_is_caught(
    small_corpus: Small, read: str, seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, items = pretraining(small_corpus, "tta", monkeypatch)
    monkeypatch.setattr(Network, "loss", reading(read))
    there = items[0].to("meta")
    with Waits() as waits, pytest.raises((RuntimeError, NotImplementedError), match="meta"):
        run([there])
    assert waits.found == [seen]


def test_what_is_copied_within_a_step_is_seen(small_corpus: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    """To a GPU too: from memory that is not pinned it waits for the copy."""
    run, items = pretraining(small_corpus, "tta", monkeypatch)
    original = Network.loss
    there = items[0].to("meta")

    def loss(self: Network, hidden_ND: Tensor, targets_N: Tensor, known: None) -> Tensor:
        return original(self, hidden_ND, torch.zeros(len(targets_N)).long().to("meta"), known)

    monkeypatch.setattr(Network, "loss", loss)
    with Waits() as waits:
        run([there])
    assert waits.found == ["_to_copy"]
