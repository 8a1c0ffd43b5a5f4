"""Two processes learn what one learns: the same curve and weights but for rounding; either goes on for the other."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from quartet.config.training import TrainingConfig
from quartet.errors import InputError
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.training.distributed import Machine
from quartet.training.fit import fit
from tests.conftest import ROOT
from tests.models.shapes import small
from tests.small_corpus import encode_small
from tests.training.two_processes import RESUMED, SHARDED, STEPS, TRAININGS, outcome, spoilt, train

Found = dict[str, Any]
Both = tuple[Path, Found, Found]
#: Whose resume points of one process two go on from.
ONWARDS = [("ddp", "transformer-xl"), ("fsdp", "transformer-xl")]
PAIRS = [("ddp", name) for name in TRAININGS] + [("fsdp", name) for name in SHARDED]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    """A folder with everybody's resume points, and what came out of one process and of two."""
    folder = tmp_path_factory.mktemp("processes")
    corpus = encode_small(folder)
    corpus[0].save(folder / "tokenizer.json")
    one = {name: outcome(train(name, corpus, folder / f"one-{name}.ckpt", Machine())) for name in TRAININGS}
    for strategy, name in ONWARDS:
        shutil.copyfile(folder / f"one-{name}.ckpt", folder / f"resume-{strategy}-{name}.ckpt")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    group = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    group |= {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    two = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.training.two_processes", str(folder)],
            cwd=ROOT,
            env={**os.environ, **group, "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        said = [process.communicate(timeout=300)[0] for process in two]
    finally:
        for process in two:
            process.kill()
    assert [process.returncode for process in two] == [0, 0], "\n".join(said)
    return folder, one, torch.load(folder / "found.pt", weights_only=True)


def same(ours: Found, theirs: Found) -> None:
    """But for the order in which numbers are added."""
    assert [step for step, _ in ours["curve"]] == [step for step, _ in theirs["curve"]] == [2, 4, 6, 7]
    losses = [[loss for _, loss in found["curve"]] for found in (ours, theirs)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)
    for key in ("targets", "tokens"):
        assert ours[key] == theirs[key], key
    assert ours["best"][0] == theirs["best"][0]
    for mine, other in ((ours["weights"], theirs["weights"]), (ours["best"][1], theirs["best"][1])):
        assert mine.keys() == other.keys() and mine
        for name in mine:
            assert torch.allclose(mine[name], other[name], atol=1e-4), name


@pytest.mark.parametrize(("strategy", "name"), PAIRS)
def test_two_processes_learn_what_one_learns(both: Both, strategy: str, name: str) -> None:
    _, one, two = both
    same(two[f"{strategy} {name}"], one[name])
    assert two[f"{strategy} {name}"]["work"] == one[name]["work"]
    assert one[name]["curve"][0][1] - one[name]["curve"][-1][1] > 0.01, "it learns something in so few steps"


@pytest.mark.parametrize(("strategy", "name"), ONWARDS)
def test_two_processes_go_on_for_one(both: Both, strategy: str, name: str) -> None:
    _, one, two = both
    resumed = two[f"{strategy} {name} resumed"]
    assert resumed["steps"] == STEPS - RESUMED
    same(resumed, one[name])


@pytest.mark.parametrize(("strategy", "name"), PAIRS)
def test_one_process_goes_on_for_two(both: Both, strategy: str, name: str) -> None:
    folder, one, _ = both
    corpus = _opened(folder)
    resumed = outcome(train(name, corpus, folder / f"{strategy}-{name}.ckpt", Machine()))
    assert resumed["steps"] == STEPS - RESUMED
    same(resumed, one[name])


def _opened(folder: Path) -> Any:
    from quartet.text.tokenizer import TextTokenizer

    splits = {split: EncodedCorpus.open(folder / "encoded", split) for split in ("train", "valid")}
    return TextTokenizer.load(folder / "tokenizer.json"), splits


@pytest.mark.parametrize("strategy", ["ddp", "fsdp"])
def test_all_processes_stop_where_one_would(both: Both, strategy: str) -> None:
    folder, _, two = both
    with pytest.raises(InputError) as stopped:
        spoilt(_opened(folder), folder / "none.ckpt", Machine())
    assert two[f"{strategy} stopped"].split(":")[0] == str(stopped.value).split(":")[0]


def test_devices_share_the_parts_of_a_batch() -> None:
    assert [Machine("ddp", devices).rounds(8) for devices in (1, 2, 3, 8, 16)] == [8, 4, 3, 1, 1]


def test_more_devices_than_rows_are_refused(both: Both, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"trainer\.devices: 6 of them divide a batch into 6 parts, and its batch_size is 5"
    ):
        train("tta", _opened(both[0]), tmp_path / "none.ckpt", Machine("ddp", 6))


def test_sharded_weights_want_another_precision_than_fp16(both: Both, tmp_path: Path) -> None:
    tokenizer, splits = _opened(both[0])
    training = TrainingConfig(steps=1, batch_size=4, learning_rate=1e-3, precision="fp16")
    with pytest.raises(InputError, match=r"trainer\.strategy: fsdp does not train in fp16"):
        fit(
            *(small(), training, tokenizer, splits["train"], splits["valid"]),
            seed=1,
            resume=tmp_path / "none.ckpt",
            device="cuda",
            machine=Machine("fsdp", 2),
        )
