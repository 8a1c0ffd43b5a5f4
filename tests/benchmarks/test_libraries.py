"""Comparisons with other libraries: with stand-ins for the peers here, and with the peers where they are installed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.peers import minicons, pretraining, vectors, worker
from quartet.errors import InputError
from quartet.hugging_face import open_model, open_tokenizer
from quartet.scoring.pretrained_lm import load_pretrained
from tests.benchmarks.peers_setup import SENTENCES, small_setup

#: The peers' python, where they are to be tested themselves.
PYTHON = "QUARTET_PEERS_PYTHON"

#: Answers as a peer does, with scores that are known and seconds of its own.
SCRIPT = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "load" in asked:
        answer = {"torch": asked["kind"]}
    else:
        answer = {"seconds": 2.0 + (asked["batch"] - 4) ** 2, "scores": [KNOWN[text] for text in asked["texts"]]}
    print(json.dumps(answer), flush=True)
"""


@pytest.mark.parametrize("wrong_by", [0.0, 0.5])
def test_minicons_is_compared_at_its_quickest_and_only_with_our_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong_by: float
) -> None:
    setup = small_setup(tmp_path)
    scores = load_pretrained(str(setup.bert)).score(SENTENCES)
    known = {text: score + wrong_by for text, score in zip(SENTENCES, scores, strict=True)}
    (tmp_path / minicons.SCRIPT).write_text(f"KNOWN = {known!r}\n{SCRIPT}")
    monkeypatch.setattr(worker, "WORKERS", tmp_path)
    if wrong_by:
        with pytest.raises(InputError, match=r"masked scores, nats: they differ by 0\.5"):
            minicons.study(setup)
        return
    found = minicons.study(setup)
    assert found.sizes["minicons_batch"] == 4
    assert found.seconds["minicons"] == 2.0
    assert [str(figure.demand) for figure in found.figures] == ["at least 30", "at least 3"]
    assert found.sizes["peer"] == {"torch": "masked"}


class InProcess:
    """A peer's answers without its process."""

    answers: Any

    def __init__(self, python: object, script: str) -> None:
        pass

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def ask(self, **question: Any) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = type(self).answers(**question)
        return answer


@pytest.mark.parametrize("specials", [True, False])
def test_vectors_are_compared_with_the_special_tokens_in_their_mean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, specials: bool
) -> None:
    setup = small_setup(tmp_path)
    bert, tokenizer = open_model(setup.bert, "AutoModelForMaskedLM").bert, open_tokenizer(setup.bert)

    def answers(load: str = "", texts: list[str] | None = None, **rest: Any) -> dict[str, Any]:
        if texts is None:
            return {"torch": "x"}
        found = []
        with torch.inference_mode():
            for text in texts:
                hidden_TD = bert(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
                found.append((hidden_TD if specials else hidden_TD[1:-1]).mean(0).tolist())
        return {"seconds": 1.0, "vectors": found}

    monkeypatch.setattr(vectors, "Worker", type("Peer", (InProcess,), {"answers": staticmethod(answers)}))
    if not specials:
        with pytest.raises(InputError, match="nothing was timed"):
            vectors.study(setup)
        return
    found = vectors.study(setup)
    assert found.seconds["sentence-transformers"] == 1.0
    assert found.checks[0].difference < 1e-5


@pytest.fixture
def trainer_peer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The worker's own class, whose tokenizer and loss need no more than transformers; training takes 3 seconds."""
    spec = importlib.util.spec_from_file_location("trainer_worker", worker.WORKERS / pretraining.SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    started: list[Any] = []

    def answers(
        start: dict[str, Any] | None = None, loss: dict[str, Any] | None = None, train: Any = None
    ) -> dict[str, Any]:
        if start is not None:
            started.append(module.Peer(start))
            return {"tokens": started[0].tokens, "versions": {}}
        if loss is not None:
            return {"loss": started[0].loss(**loss)}
        return {"seconds": 3.0}

    monkeypatch.setattr(pretraining, "Worker", type("Peer", (InProcess,), {"answers": staticmethod(answers)}))
    return module


def test_the_trainer_reads_our_tokens_and_has_our_loss(tmp_path: Path, trainer_peer: Any) -> None:
    found = pretraining.study(small_setup(tmp_path))
    checks = {check.what: check for check in found.checks}
    assert checks["MLM: loss of one masked batch, nats per target"].difference < 1e-5
    assert {check.difference for name, check in checks.items() if "tokens" in name} == {0.0}
    assert [figure.name for figure in found.figures if figure.demand] == [
        "tokens/s, MLM, fp32: ours / Trainer"
    ]
    assert len(found.figures) == 4
    assert found.sizes["tokens_per_second"]["MLM, fp32, Trainer"] == found.sizes["tokens"] / 3.0


def test_another_loss_is_not_timed(
    tmp_path: Path, trainer_peer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = trainer_peer.Peer.loss
    monkeypatch.setattr(trainer_peer.Peer, "loss", lambda self, **batch: real(self, **batch) + 0.01)
    with pytest.raises(InputError, match="nothing was timed"):
        pretraining.study(small_setup(tmp_path))


@pytest.mark.skipif(PYTHON not in os.environ, reason=f"{PYTHON} names no python with the peers")
def test_the_peers_themselves(tmp_path: Path) -> None:
    (tmp_path / "texts").write_text("\n".join(SENTENCES))
    options = {
        "words": 3,
        "hypotheses": 2,
        "timed": 5,
        "trained": 16,
        "batch-size": 8,
        "rounds": 1,
        "threads": 1,
    }
    command = [
        sys.executable,
        "-m",
        "benchmarks.peers",
        "--texts",
        str(tmp_path / "texts"),
        "--shape",
        "tiny",
    ]
    command += [part for name, value in options.items() for part in (f"--{name}", str(value))]
    command += ["--peers-python", os.environ[PYTHON], "--json", str(tmp_path / "out.json")]
    command += ["--precision", "fp32", "--only", "minicons", "--only", "vectors", "--only", "trainer"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(json.loads((tmp_path / "out.json").read_text())) == {"minicons", "vectors", "trainer"}
