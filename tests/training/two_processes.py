"""What a process of a group does in test_distributed.py: the same trainings, each process with its share of the rows.

    MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 LOCAL_RANK=0 python -m tests.training.two_processes FOLDER

FOLDER holds the encoded corpus, and resume points that one process left; here the first process writes what came out.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from torch import distributed

from quartet.config.training import TrainingConfig
from quartet.errors import InputError
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training.distributed import Machine
from quartet.training.fit import TrainedNetwork, fit
from tests.models.shapes import VARIANTS, small

#: Trained by one process and by two: MLM, LAE, recurrence with memory, a softmax of which a rank may miss a cluster.
TRAININGS: dict[str, dict[str, Any]] = {
    "bilm": {"accumulate": 3},
    "tta": {},
    "transformer-xl": {"accumulate": 2},
    "segatron-xl-adaptive": {"batch_size": 2},
}
#: Those that are also trained with a share of the weights on each device.
SHARDED = ("transformer-xl",)
STEPS, RESUMED = 7, 5


def train(
    name: str, corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]], resume: Path, machine: Machine
) -> TrainedNetwork:
    """Seven steps without dropout; a resume point stays of the fifth."""
    tokenizer, splits = corpus
    training = TrainingConfig(
        **{
            **{"steps": STEPS, "batch_size": 5, "learning_rate": 3e-3, "warmup": 0.0, "clip": 0.5},
            **{"validate_every": 2, "checkpoint_every": RESUMED},
            **{"epsilon": 1e-4},  # else Adam makes a step of what rounding leaves of no gradient
            **TRAININGS[name],
        }
    )
    config = small(**VARIANTS[name], init_std=0.2)
    return fit(
        config, training, tokenizer, splits["train"], splits["valid"], seed=7, resume=resume, machine=machine
    )


def outcome(trained: TrainedNetwork) -> dict[str, Any]:
    """What has to be the same."""
    return {
        "curve": trained.curve,
        "targets": trained.targets,
        "tokens": trained.tokens,
        "steps": trained.steps,
        "work": [trained.run_tokens, trained.work.targets, trained.work.pairs],
        "weights": trained.network.state_dict(),
        "best": (trained.best_step, trained.best),
    }


def main(folder: Path) -> None:
    """Train everything, from the start and from one process's resume points."""
    torch.set_num_threads(1)
    tokenizer = TextTokenizer.load(folder / "tokenizer.json")
    corpus = tokenizer, {split: EncodedCorpus.open(folder / "encoded", split) for split in ("train", "valid")}
    found: dict[str, Any] = {}
    for strategy, names in (("ddp", tuple(TRAININGS)), ("fsdp", SHARDED)):
        machine = Machine(strategy, 2)  # type: ignore[arg-type]
        for name in names:
            found[f"{strategy} {name}"] = outcome(
                train(name, corpus, folder / f"{strategy}-{name}.ckpt", machine)
            )
            point = folder / f"resume-{strategy}-{name}.ckpt"
            if point.is_file():
                found[f"{strategy} {name} resumed"] = outcome(train(name, corpus, point, machine))
        try:
            spoilt(corpus, folder / "none.ckpt", machine)
        except InputError as error:
            found[f"{strategy} stopped"] = str(error)
    if distributed.get_rank() == 0:
        torch.save(found, folder / "found.pt")


def spoilt(corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]], resume: Path, machine: Machine) -> None:
    """A training whose loss is no number after the first step."""
    tokenizer, splits = corpus
    training = TrainingConfig(steps=4, batch_size=4, learning_rate=1e30, clip=0.0, warmup=0.0)
    fit(
        *(small(**VARIANTS["unilm"]), training, tokenizer, splits["train"], splits["valid"]),
        seed=7,
        resume=resume,
        machine=machine,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
