"""The scores that an evaluation keeps: those alone that answer what is asked now."""

from __future__ import annotations

from pathlib import Path

import pytest

from quartet.tasks.rerank.evaluation import KeptScores
from tests.tasks.rerank.toy import Toy


@pytest.mark.parametrize("changed", ["nothing", "text", "model", "device", "settings", "reading", "code"])
def test_only_answers_to_the_same_question_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    texts = ["a b", "a", "c"]

    def calls(model: Toy, masked: bool, texts: list[str], settings: str = "threads: 1") -> int:
        monkeypatch.setattr(Toy, "patience", 1000)
        with KeptScores(tmp_path, settings) as kept:
            known = kept.scored(model, texts, masked)
        fresh = dict(zip(texts, model.token_logprobs(texts, masked), strict=True))
        assert all((known[text] == fresh[text]).all() for text in texts)
        assert len(list(tmp_path.glob("**/*.sqlite"))) == 1, "of the last one alone"
        return 1000 - int(Toy.patience) - 1

    assert calls(Toy("a", masks=True), True, texts) == 1
    again = Toy("b" if changed == "model" else "a", masks=True)
    if changed == "device":
        again.device = "cuda"
    elif changed == "code":
        monkeypatch.setattr("quartet.code.fingerprint", lambda *modules: "another")
    more = [*texts, "d"] if changed == "text" else texts
    settings = "threads: 2" if changed == "settings" else "threads: 1"
    assert calls(again, changed != "reading", more, settings) == (0 if changed == "nothing" else 1)


def test_what_older_versions_left_is_removed(tmp_path: Path) -> None:
    before = tmp_path / "0123"
    before.mkdir(parents=True)
    (before / "scores.sqlite").touch()
    with pytest.raises(KeyboardInterrupt), KeptScores(tmp_path, ""):
        raise KeyboardInterrupt
    assert (before / "scores.sqlite").exists()
    with KeptScores(tmp_path, ""):
        pass
    assert not before.exists()
