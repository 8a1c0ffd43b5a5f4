"""The comparison with other libraries: turns, peers in other processes, and the command's figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.files import read_json
from quartet.runtime.peers import exported, minicons, ours, worker
from quartet.runtime.peers.paired import Paired, in_turns
from quartet.scoring.pretrained import load_pretrained

TEXTS = ["the cat sat on the mat", "a cat", "the dog sat on the old mat near the cat"]
SMALL = exported.Shape(layers=1, dim=16, heads=2, inner=32, vocabulary=200)

#: Answers as a peer does, with scores that are wrong by 0.5 and seconds of its own.
SCRIPT = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "load" in asked:
        answer = {"torch": asked["kind"]}
    else:
        answer = {"seconds": 2.0 * asked["batch"], "scores": [KNOWN[text] + 0.5 for text in asked["texts"]]}
    print(json.dumps(answer), flush=True)
"""


def test_ways_take_turns_and_the_first_round_does_not_count() -> None:
    ran: list[str] = []

    def way(name: str, seconds: float) -> float:
        ran.append(name)
        return seconds * len(ran)

    timed = in_turns({"a": lambda: way("a", 1.0), "b": lambda: way("b", 2.0)}, rounds=2)
    assert ran == ["a", "b"] * 3
    assert timed.seconds == {"a": [3.0, 5.0], "b": [8.0, 12.0]}
    assert timed.median("b") == 10.0
    assert timed.ratio("b", "a") == {"median": (8 / 3 + 12 / 5) / 2, "least": 12 / 5, "largest": 8 / 3}


def test_a_way_that_does_not_tell_its_time_is_timed() -> None:
    timed = in_turns({"a": lambda: None}, rounds=3)
    assert len(timed.seconds["a"]) == 3
    assert all(seconds > 0 for seconds in timed.seconds["a"])


def test_the_median_ratio_is_of_rounds_not_of_medians() -> None:
    timed = Paired({"a": [1.0, 10.0, 1.0], "b": [2.0, 20.0, 8.0]})
    assert timed.ratio("b", "a")["median"] == 2.0


def test_a_vocabulary_is_filled_up_with_pieces_that_no_text_has() -> None:
    tokenizer = exported.filled_tokenizer(TEXTS, 300)
    assert tokenizer.vocab_size == 300
    assert tokenizer.tokens([299])[0].startswith("[unused")
    assert max(max(ids) for ids in tokenizer.encode_batch([*TEXTS, "[unused3]"])) < 299


def test_minicons_worker_is_told_apart_from_us_by_its_own_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported.save_bert(tmp_path / "bert", SMALL, exported.filled_tokenizer(TEXTS, SMALL.vocabulary))
    known = dict(zip(TEXTS, load_pretrained(str(tmp_path / "bert")).score(TEXTS), strict=True))
    (tmp_path / minicons.SCRIPT).write_text(f"KNOWN = {known!r}\n{SCRIPT}")
    monkeypatch.setattr(worker, "WORKERS", tmp_path)
    found = minicons.study(sys.executable, tmp_path / "bert", TEXTS, timed=2, batches=[1, 3], rounds=2)
    assert found["largest_difference"] == pytest.approx(0.5)
    assert (found["kind"], found["peer"], found["timed_texts"]) == ("masked", {"torch": "masked"}, 2)
    assert found["seconds"]["minicons-3"] == 6.0
    assert set(found["ratios"]) == {"minicons-1 / quartet", "minicons-3 / quartet"}


def test_a_peer_that_is_not_installed_ends_with_its_last_words() -> None:
    with (
        worker.Worker(sys.executable, minicons.SCRIPT) as peer,
        pytest.raises(InputError, match=r"the peer ended: ModuleNotFoundError: No module named 'minicons'"),
    ):
        peer.ask(load="x", kind="masked", threads=1)
    with pytest.raises(InputError, match="cannot be run"):
        worker.Worker("no/such/python", minicons.SCRIPT)


def test_our_own_study_scores_the_same_list_by_every_system() -> None:
    found = ours.study(SMALL, exported.filled_tokenizer(TEXTS, SMALL.vocabulary), TEXTS, rounds=1)
    assert set(found["seconds"]) == {"tta", "unilm", "bilm", "products"}
    assert set(found["ratios"]) == {"tta / unilm", "tta / its matrix products", "bilm / tta"}
    assert found["words"] == sum(len(text.split()) for text in TEXTS)
    assert found["gflop_of_products"] > 0


def test_the_command_prints_a_table_and_writes_one_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "texts").write_text("\n".join(TEXTS))
    command = [
        sys.executable,
        "-m",
        "quartet.runtime.peers",
        "--texts",
        str(tmp_path / "texts"),
        "--rounds",
        "1",
    ]
    short = subprocess.run([*command, "--words", "50"], capture_output=True, text=True, check=False)
    assert short.returncode == 2
    assert "18 words, 2500 are needed" in short.stderr
    out = tmp_path / "ratios.json"
    command += ["--words", "2", "--hypotheses", "2", "--threads", "1", "--json", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "tta / its matrix products" in done.stdout
    assert read_json(out)["ours"]["texts"] == 2
    assert json.loads(out.read_text())["machine"].endswith("1 threads")
