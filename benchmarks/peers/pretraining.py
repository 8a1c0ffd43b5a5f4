"""Pretraining: our `fit` against the Trainer of transformers, on the same sentences, sizes and batches."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import torch

from benchmarks.peers.benchmark_result import BenchmarkFigure, BenchmarkResult, EqualityCheck, at_least, equal
from benchmarks.peers.models import model_config
from benchmarks.peers.paired_times import in_turns
from benchmarks.peers.setup import BenchmarkSetup
from benchmarks.peers.training import RepeatableTraining, encode_sentences
from benchmarks.peers.worker import Worker
from quartet.config.model import ModelConfig
from quartet.data import open_source
from quartet.models.architectures import build_for
from quartet.objectives.base import IGNORED
from quartet.objectives.mlm import MaskedLM
from quartet.training.from_bert import fill
from quartet.training.randomness import CORRUPTION, rows

SCRIPT = "trainer_worker.py"

#: Tokens of an input, as of the T-TA paper; both dropouts are BERT's 0.1 but on attention weights, where both have 0.
MAX_LENGTH, DROPOUT = 128, 0.1

#: Tokens a second over those of the Trainer, for MLM, and on a GPU for CLM too.
DEMAND = at_least(2)

#: Nats a target that the two losses of one masked batch may be apart.
LOSS_TOLERANCE = 1e-3


def study(setup: BenchmarkSetup) -> BenchmarkResult:
    """Train one epoch of the same sentences: MLM as BertForMaskedLM, and CLM as a GPT2LMHeadModel of equal sizes.

    The Trainer comes with the DataCollatorForLanguageModeling, as it is, and once more grouping inputs by length. A
    token is a real one: padding does not count, the two special tokens of each sentence do.
    """
    sentences = setup.spread(setup.trained)
    with Worker(setup.peer, SCRIPT) as worker:
        told = worker.ask(
            start={
                "bert": str(setup.bert),
                "shape": setup.described(),
                "texts": sentences,
                "max_length": MAX_LENGTH,
                "dropout": DROPOUT,
                "batch_size": setup.batch_size,
                "output": str(setup.folder / "trainer"),
                "threads": torch.get_num_threads(),
                "device": setup.device,
            }
        )
        corpus = encode_sentences(setup.folder / "pretraining", sentences, setup.tokenizer)
        tasks = {
            "MLM": replace(
                model_config("bilm", setup.shape, MAX_LENGTH),
                dropout=DROPOUT,
                norm_epsilon=1e-12,
                init_from=str(setup.bert),
            ),
            "CLM": replace(model_config("unilm", setup.shape, MAX_LENGTH), dropout=DROPOUT, head="tied"),
        }
        checks = [_same_loss(setup, tasks["MLM"], corpus, worker)]
        figures: list[BenchmarkFigure] = []
        seconds: dict[str, float] = {}
        sizes = setup.described() | {
            "sentences": len(sentences),
            "tokens": told["tokens"],
            "batch_size": setup.batch_size,
            "peer": told["versions"],
        }
        outcome = BenchmarkResult(figures, checks, seconds, sizes)
        # In bf16 first: on a GPU it is the one that counts.
        for precision in sorted(setup.precisions):
            for task, config in tasks.items():
                if setup.is_over:
                    continue
                epoch = RepeatableTraining(
                    config,
                    setup.tokenizer,
                    corpus,
                    setup.batch_size,
                    precision,
                    setup.device,
                    setup.folder,
                )
                label = f"{task}, {precision}"
                ways = {f"{label}, Quartet": epoch.seconds}
                for name, grouped in (("Trainer", False), ("Trainer, grouped by length", True)):
                    ways[f"{label}, {name}"] = partial(_trained, worker, task, precision, grouped)
                checks.append(_same_tokens(label, epoch, int(told["tokens"])))
                found = in_turns(ways, setup.rounds)
                seconds |= found.medians
                for name in list(ways)[1:]:
                    demanded = name == f"{label}, Trainer" and (task == "MLM" or setup.on_gpu)
                    demand = DEMAND if demanded else None
                    ratios = found.ratios(name, f"{label}, Quartet")
                    figures.append(
                        BenchmarkFigure.of(
                            f"tokens/s, {label}: ours / {name.removeprefix(label + ', ')}", ratios, demand
                        )
                    )
                sizes["tokens_per_second"] = {name: told["tokens"] / value for name, value in seconds.items()}
                setup.tell(outcome)
    return outcome


def _trained(worker: Worker, task: str, precision: str, grouped: bool) -> float:
    return float(worker.ask(train={"task": task, "precision": precision, "grouped": grouped})["seconds"])


def _same_tokens(label: str, epoch: RepeatableTraining, theirs: int) -> EqualityCheck:
    return equal(f"{label}: real tokens of the epoch", [epoch.tokens()], [theirs], 0)


def _same_loss(
    setup: BenchmarkSetup, config: ModelConfig, corpus: dict[str, Any], worker: Worker
) -> EqualityCheck:
    """The loss of one masked batch by the same weights, without dropout."""
    network = build_for(config, setup.tokenizer)
    assert config.init_from is not None
    fill(network, setup.tokenizer, config.init_from)
    source = open_source(
        config, corpus["train"], setup.tokenizer, batch_size=min(8, setup.batch_size), seed=1
    )
    batch = source.batch(0)
    objective = MaskedLM()
    with torch.inference_mode():
        random = rows(1, CORRUPTION, 0)
        inputs_BT, targets_BT = objective.training_pair(batch, network.vocabulary, random)
        labelled = objective.label(batch, network.vocabulary, random)
        total, _ = objective.loss(network.eval(), labelled)
    theirs = worker.ask(
        loss={
            "ids": inputs_BT.tolist(),
            "real": batch.real_BT.long().tolist(),
            "labels": targets_BT.where(targets_BT != IGNORED, -100).tolist(),
        }
    )["loss"]
    return equal(
        "MLM: loss of one masked batch, nats per target",
        [float(total) / len(labelled.targets_N)],
        [theirs],
        LOSS_TOLERANCE,
    )
