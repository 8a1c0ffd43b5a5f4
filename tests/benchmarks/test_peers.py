"""What all comparisons stand on: turns, peers in other processes, and random models in the form of Hugging Face."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.peers import minicons, models, worker
from benchmarks.peers.paired_times import STEADY_CALLS, PairedTimes, in_turns, quickest_way, steady_call
from quartet.errors import InputError
from quartet.hugging_face import open_tokenizer
from quartet.runtime.hf_bert import BertShape, save_bert

TEXTS = ["the cat sat on the mat", "a cat", "the dog sat on the old mat near the cat"]
SMALL = BertShape(layers=1, dim=16, heads=2, inner=32, vocabulary=200)


def test_ways_take_turns_and_the_first_round_does_not_count() -> None:
    ran: list[str] = []

    def way(name: str, seconds: float) -> float:
        ran.append(name)
        return seconds * len(ran)

    found = in_turns({"a": lambda: way("a", 1.0), "b": lambda: way("b", 2.0)}, rounds=2)
    assert ran == ["a", "b"] * 3
    assert found.seconds == {"a": [3.0, 5.0], "b": [8.0, 12.0]}
    assert found.medians == {"a": 4.0, "b": 10.0}
    assert found.ratios("b", "a") == [8 / 3, 12 / 5]


def test_a_short_way_gives_the_median_of_many_calls() -> None:
    taken = iter([9.0, 1.0] + [2.0] * (STEADY_CALLS - 2))
    assert steady_call(lambda: next(taken))() == 2.0
    assert next(taken, None) is None


def test_the_quickest_way_is_found_after_a_first_call_that_does_not_count() -> None:
    slow_at_first = iter([9.0, 1.0])
    assert quickest_way({"a": lambda: 2.0, "b": lambda: next(slow_at_first)}) == "b"


def test_ratios_are_of_rounds_not_of_medians() -> None:
    found = PairedTimes({"a": [1.0, 10.0, 1.0], "b": [2.0, 20.0, 8.0]})
    assert found.ratios("b", "a") == [2.0, 2.0, 8.0]


def test_a_vocabulary_is_filled_up_with_pieces_that_no_text_has() -> None:
    tokenizer = models.filled_tokenizer(TEXTS, 300)
    assert tokenizer.vocab_size == 300
    assert tokenizer.tokens([299])[0].startswith("[unused")
    assert max(max(ids) for ids in tokenizer.encode_batch([*TEXTS, "[unused3]"])) < 299


def test_the_exported_bert_has_our_ids(tmp_path: Path) -> None:
    ours = models.filled_tokenizer(TEXTS, SMALL.vocabulary)
    save_bert(tmp_path, SMALL, ours)
    theirs = open_tokenizer(tmp_path)
    assert theirs(TEXTS, add_special_tokens=False)["input_ids"] == ours.encode_batch(TEXTS)
    assert (theirs.pad_token_id, theirs.cls_token_id, theirs.sep_token_id, theirs.mask_token_id) == (
        0,
        2,
        3,
        4,
    )


def test_a_peer_that_is_not_installed_ends_with_its_last_words() -> None:
    with (
        worker.Worker(sys.executable, minicons.SCRIPT) as peer,
        pytest.raises(InputError, match=r"the peer ended: ModuleNotFoundError: No module named 'minicons'"),
    ):
        peer.ask(load="x", kind="masked", threads=1)
    with pytest.raises(InputError, match="cannot be run"):
        worker.Worker("no/such/python", minicons.SCRIPT)
