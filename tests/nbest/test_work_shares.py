"""Shares of the texts: together everything, and the last process scores nothing and writes the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from quartet import cli
from quartet.errors import InputError
from quartet.models.checkpoint import save_model
from quartet.nbest.work_shares import WorkShare, score_share
from quartet.scoring import engine
from quartet.scoring.cache import ScoreCache
from quartet.scoring.language_model import LanguageModel
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.nbest.lists import Words, random_lists
from tests.scoring.test_language_model import random_model

TEXTS = [f"{'a ' * (place % 7)}text {place}" for place in range(50)]


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "CHUNK", 8)


@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_shares_are_whole_chunks_and_everything_once(count: int, tmp_path: Path) -> None:
    sizes = []
    with ScoreCache(tmp_path / "cache") as cache:
        for number in range(1, count + 1):
            model = Words()
            sizes.append(score_share(model, TEXTS, WorkShare(number, count), cache))
            assert sum(map(len, model.calls)) == sizes[-1]
        assert sum(sizes) == len(TEXTS)
        last = Words()
        found = engine.score_all(last, TEXTS, cache=cache)
    assert not last.calls, "the chunks are those that score_all makes"
    for ours, theirs in zip(found, engine.score_all(Words(), TEXTS), strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/0", "a/b", "1/2/3", ""])
def test_what_is_no_share_is_said(text: str) -> None:
    with pytest.raises(InputError, match=r"--shard: .* is no share; write 1/4, 2/4"):
        WorkShare.parse(text, "--shard")


def test_rescored_in_two_processes_the_bytes_are_those_of_one(
    small_corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A real model, whose values depend on a text's batch; unlike the two halves of a file."""
    made = random_model("bilm", small_corpus[0])
    state = made.network.state_dict()
    (tmp_path / "model").mkdir()
    save_model(tmp_path / "model", {"last": state, "best": state}, made.card, made.tokenizer)
    lists = tmp_path / "lists.json"
    content = {
        one.utterance: {
            "ref": one.reference,
            **{
                f"hyp_{place}": {"score": score, "text": each.text}
                for place, (each, score) in enumerate(
                    zip(one.hypotheses, one.first_pass, strict=True), start=1
                )
            },
        }
        for one in random_lists(12, seed=5)
    }
    lists.write_text(json.dumps(content))

    def rescore(out: str, *options: str) -> int:
        words = ["--model", str(tmp_path / "model"), "--nbest", str(lists), "--lm-weight", "0.5"]
        with pytest.raises(SystemExit) as stop:
            cli.main(["rescore", *words, "--out", str(tmp_path / out), *options])
        return int(stop.value.code or 0)

    cache = ["--cache", str(tmp_path / "cache")]
    assert rescore("one.jsonl") == 0
    for share in ("2/2", "1/2"):
        assert rescore("two.jsonl", *cache, "--shard", share) == 0
        assert not (tmp_path / "two.jsonl").exists()
        assert f"share {share}: " in capsys.readouterr().err
    monkeypatch.setattr(LanguageModel, "token_logprobs", _never)
    assert rescore("two.jsonl", *cache) == 0
    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
    assert rescore("three.jsonl", "--shard", "1/2") == 2
    assert "--shard: the scores would be lost; give a --cache" in capsys.readouterr().err


def _never(self: LanguageModel, texts: list[str], masked: bool = True) -> list[np.ndarray]:
    raise AssertionError(f"{texts} were scored before")
