"""Scoring many texts: each distinct one once, and a stopped scoring that goes on to the same values."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quartet import code
from quartet.errors import InputError
from quartet.nbest.work_shares import WorkShare, score_share
from quartet.scoring import engine
from quartet.scoring.cache import ScoreCache
from quartet.scoring.engine import score_all
from quartet.scoring.language_model import LanguageModel
from tests.scoring.test_language_model import Small, random_model


class Counting:
    """A scorer whose values tell which texts were scored beside each other; it may be killed at a call."""

    name, scale, device, masks = "counting", "", "cpu", False

    def __init__(self, fingerprint: str = "a", killed_at: int | None = None) -> None:
        self.fingerprint = fingerprint
        self.killed_at = killed_at
        self.calls: list[list[str]] = []

    def token_logprobs(self, texts: Sequence[str], masked: bool = True) -> list[np.ndarray]:
        if len(self.calls) == self.killed_at:
            raise KeyboardInterrupt
        self.calls.append(list(texts))
        return [-np.arange(1.0, len(text) + 1) - len(texts) - masked for text in texts]


TEXTS = ["ccc", "a", "dddd", "a", "", "bb", "ccc", "ee"]


def test_each_distinct_text_is_scored_once_and_longest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "CHUNK", 4)
    model = Counting()
    seen: list[tuple[int, int]] = []
    values = score_all(model, TEXTS, progress=lambda *point: seen.append(point))
    assert model.calls == [["dddd", "ccc", "bb", "ee"], ["a", ""]]
    assert [len(found) for found in values] == [len(text) for text in TEXTS]
    assert seen == [(4, 6), (6, 6)]
    assert score_all(model, []) == []


def test_a_stopped_scoring_goes_on_to_the_same_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "CHUNK", 2)
    whole = score_all(Counting(), TEXTS)
    with ScoreCache(tmp_path / "scores.db") as cache, pytest.raises(KeyboardInterrupt):
        score_all(Counting(killed_at=2), TEXTS, cache=cache)
    with ScoreCache(tmp_path / "scores.db") as cache:
        model = Counting()
        again = score_all(model, TEXTS, cache=cache)
        assert model.calls == [["a", ""]], "the first two chunks were kept"
        assert all(np.array_equal(one, other) for one, other in zip(whole, again, strict=True))
        silent = Counting(killed_at=0)
        assert len(score_all(silent, TEXTS, cache=cache)) == len(TEXTS)


def test_scores_of_other_code_are_not_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_corpus: Small
) -> None:
    class OnesOwn(LanguageModel):
        """Of a user's module: its code is mostly Quartet's."""

    whole = random_model("tta", small_corpus[0])
    model = OnesOwn(whole.network, whole.tokenizer, whole.card)
    with ScoreCache(tmp_path / "scores.db") as cache:
        score_all(model, ["a text"], cache=cache)
        asked: list[tuple[str, ...]] = []

        def edited(*modules: str) -> str:
            asked.append(modules)
            return "edited"

        monkeypatch.setattr(code, "fingerprint", edited)
        monkeypatch.setattr(LanguageModel, "token_logprobs", lambda *_: [np.array([-1.0])])
        (values,) = score_all(model, ["a text"], cache=cache)
    assert values.tolist() == [-1.0]
    assert {"quartet.scoring.engine", "quartet.scoring.language_model"} <= set(asked[0])


def test_what_is_kept_is_not_scored_again(tmp_path: Path) -> None:
    """2,000 texts and 80 more, whose lengths lie among theirs: the model gets the 80."""
    texts = [f"{'a ' * (place % 30)}text {place}" for place in range(2080)]
    new = texts[::26]
    with ScoreCache(tmp_path / "scores.db") as cache:
        first = score_all(Counting(), sorted(set(texts) - set(new)), cache=cache)
        assert len(first) == 2000
        model = Counting()
        seen: list[tuple[int, int]] = []
        score_all(model, texts, cache=cache, progress=lambda *point: seen.append(point))
        assert sorted(text for call in model.calls for text in call) == sorted(new)
        assert len(model.calls) == 1, "in as few batches as they need"
        assert seen == [(2000, 2080), (2080, 2080)]
        silent = Counting(killed_at=0)
        assert len(score_all(silent, texts, cache=cache)) == 2080
        share = Counting()
        assert score_share(share, [*texts, "b"], WorkShare(1, 1), cache) == 2081
        assert share.calls == [["b"]]


def test_other_weights_and_other_readings_are_other_scores(tmp_path: Path) -> None:
    with ScoreCache(tmp_path / "scores.db") as cache:
        score_all(Counting("a"), ["x"], cache=cache)
        for other, masked in ((Counting("b"), True), (Counting("a"), False)):
            score_all(other, ["x"], masked=masked, cache=cache)
            assert other.calls == [["x"]]


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    path.write_text("no database, and long enough to be read as a page " * 100)
    with pytest.raises(InputError, match=r"scores\.db: cannot be used as a cache of scores"):
        ScoreCache(path)
    with pytest.raises(InputError, match="cannot be used as a cache"):
        ScoreCache(tmp_path / "scores.db" / "inside")


@pytest.mark.parametrize("damaged", [b"\0" * 28, b"", None, 7])
def test_what_a_disk_has_damaged_is_scored_again(tmp_path: Path, damaged: object) -> None:
    """SQLite has no checksums of its own."""
    path = tmp_path / "scores.db"
    with ScoreCache(path) as cache:
        whole = score_all(Counting(), ["ccc"], cache=cache)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE scores SET logprobs = ?", [damaged])
    with ScoreCache(path) as cache:
        model = Counting()
        assert np.array_equal(score_all(model, ["ccc"], cache=cache), whole)
        assert model.calls == [["ccc"]]
        assert np.array_equal(score_all(Counting(killed_at=0), ["ccc"], cache=cache), whole)


def test_a_model_has_the_fingerprint_of_its_weights_and_lengths(small_corpus: Small) -> None:
    model, same = (random_model("segatron-xl", small_corpus[0]) for _ in range(2))
    assert model.fingerprint == same.fingerprint
    assert model.at(memory=0).fingerprint != model.fingerprint
    assert random_model("tta", small_corpus[0]).fingerprint != model.fingerprint
    same = random_model("segatron-xl", small_corpus[0])
    same.network.head.bias_V.data[9] += 0.5
    assert same.fingerprint != model.fingerprint


def test_a_cache_does_not_give_the_scores_of_earlier_weights(small_corpus: Small, tmp_path: Path) -> None:
    model = random_model("unilm", small_corpus[0])
    with ScoreCache(tmp_path / "scores.db") as cache:
        (before,) = score_all(model, ["the miller"], cache=cache)
        model.network.head.bias_V.data[9] += 0.5
        (after,) = score_all(model, ["the miller"], cache=cache)
    assert not np.array_equal(before, after)
    assert np.array_equal(after, model.token_logprobs(["the miller"])[0])


class Tenths(Counting):
    """A tenth below zero a letter, in a type that is not that of the cache."""

    def __init__(self, kind: Any) -> None:
        super().__init__(kind.__name__)
        self.kind = kind

    def token_logprobs(self, texts: Sequence[str], masked: bool = True) -> list[np.ndarray]:
        return [self.kind([-0.1] * len(text)) for text in texts]


@pytest.mark.parametrize("kind", [list, np.float32])
def test_a_scorer_may_give_lists_or_other_numbers_and_a_cache_changes_nothing(
    tmp_path: Path, kind: Any
) -> None:
    with ScoreCache(tmp_path / "scores.db") as cache:
        found = [score_all(Tenths(kind), TEXTS, cache=each) for each in (None, cache, cache)]
    for values in found:
        assert [float(each.sum()) for each in values] == [float(each.sum()) for each in found[0]]
        assert np.concatenate(values) == pytest.approx([-0.1] * sum(map(len, TEXTS)), rel=1e-6)


def test_real_scores_do_not_depend_on_the_engine(small_corpus: Small, tmp_path: Path) -> None:
    model = random_model("bilm", small_corpus[0])
    texts = ["the old bridge", "a river", "", "the old bridge", "a long row of words " * 9]
    plain = model.token_logprobs(texts)
    with ScoreCache(tmp_path / "scores.db") as cache:
        for _ in range(2):
            for one, other in zip(plain, score_all(model, texts, cache=cache), strict=True):
                np.testing.assert_allclose(one, other, atol=1e-5)
