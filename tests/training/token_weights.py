"""What it is worth that every token of a training weighs the same, shown on a corpus of sentences::

    PYTHONPATH=src python -m tests.training.token_weights FOLDER/encoded/CORPUS/TOKENIZER TOKENIZER.json

Each objective is trained three ways on equally many steps, which read equally many tokens in the mean: steps whose loss
is the mean over their own targets, of sentences sorted by length (as until every token weighed the same), steps of
equally many tokens divided by one number (as now), and the same number over sentences in any order. All are judged by
one validation loss: the same targets, with the same masks.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from quartet.config.model import ModelConfig
from quartet.config.training import TrainingConfig
from quartet.data import open_source, sentences
from quartet.models.network import Memory, Network
from quartet.objectives import OBJECTIVES
from quartet.objectives.base import LabelledBatch, Objective
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training import randomness
from quartet.training.fit import fit

SEEDS, STEPS, BATCH = (1, 2, 3), 600, 12
#: Objective, architecture, initial deviation and rate of each system: those of params.yaml.
SYSTEMS: dict[str, dict[str, Any]] = {
    "uniLM": {"objective": "clm", "architecture": "encoder", "init_std": 0.1, "rate": 1.5e-3},
    "biLM": {"objective": "mlm", "architecture": "encoder", "init_std": 0.05, "rate": 2e-3},
    "T-TA": {"objective": "lae", "architecture": "tta", "init_std": 0.1, "rate": 1.5e-3},
}


def mean_of_the_step(patch: pytest.MonkeyPatch) -> None:
    """Let each step's loss be the mean over its own targets."""
    summed = Objective.loss

    def mean(
        self: Objective, network: Network, labelled: LabelledBatch, memory: Memory | None = None
    ) -> tuple[Tensor, Memory | None]:
        loss, memory = summed(self, network, labelled, memory)
        return (loss / len(labelled.targets_N) if torch.is_grad_enabled() else loss), memory

    patch.setattr(Objective, "loss", mean)
    patch.setattr(Objective, "targets_per_step", lambda self, lengths: 1.0)


@contextmanager
def way(name: str) -> Iterator[str]:
    """How batches are made, with what has to be put in the place of ours."""
    with pytest.MonkeyPatch.context() as patch:
        if name == "before":
            mean_of_the_step(patch)
        if name == "unsorted":
            patch.setattr(sentences, "POOL", 1)  # of one batch: no other to be sorted with
        yield "tokens" if name == "after" else "sentences"


def loss(objective: Objective, network: Network, corpus: EncodedCorpus, tokenizer: TextTokenizer) -> float:
    """Nats a target."""
    source = open_source(network.config, corpus, tokenizer, batch_size=64, seed=None, batch_by="sentences")
    total = targets = 0.0
    with torch.inference_mode():
        for step in range(source.steps_per_epoch):
            random = randomness.rows(0, randomness.VALIDATION, step)
            labelled = objective.label(source.batch(step), tokenizer.vocab_size, random)
            total += float(objective.loss(network, labelled)[0])
            targets += len(labelled.targets_N)
    return total / targets


def main() -> None:
    """Print a line for each system and way."""
    folder, tokenizer = sys.argv[1], TextTokenizer.load(sys.argv[2])
    train, valid = (EncodedCorpus.open(folder, split) for split in ("train", "valid"))
    for name, of in SYSTEMS.items():
        rate = of["rate"]
        model = ModelConfig(
            **{key: value for key, value in of.items() if key != "rate"},
            reads="sentences",
            positions=("sequence",),
            layers=2,
            dim=128,
            heads=4,
            inner=256,
            dropout=0.0,
            position_init="sinusoid",
            head="tied",
            max_length=200,
        )
        for each in ("before", "after", "unsorted"):
            found = []
            for seed in SEEDS:
                with way(each) as batch_by, tempfile.TemporaryDirectory() as temporary:
                    training = TrainingConfig(
                        steps=STEPS,
                        batch_size=BATCH,
                        batch_by=batch_by,  # type: ignore[arg-type]  # one of the two
                        learning_rate=rate,
                        schedule="cosine",
                        warmup=0.05,
                        mask_probability=0.3,
                        validate_every=STEPS,
                        validation_batches=1,
                    )
                    trained = fit(
                        model,
                        training,
                        tokenizer,
                        train,
                        valid,
                        seed=seed,
                        resume=Path(temporary) / "resume.ckpt",
                    )
                found.append(loss(OBJECTIVES[model.objective](0.3), trained.network, valid, tokenizer))
            values = ", ".join(f"{value:.4f}" for value in found)
            print(f"{name}, {each}: {statistics.mean(found):.4f} ({values})", flush=True)


if __name__ == "__main__":
    main()
