"""The quartet command, as a user calls it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from quartet import cli
from quartet.models.checkpoint import save_model
from quartet.text.encoded import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.scoring.test_language_model import random_model

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
LISTS = {
    "u1": {
        "ref": "a grey heron",
        "hyp_1": {"score": -1.0, "text": "a grey herring"},
        "hyp_2": {"score": -1.5, "text": "A grey heron."},
    },
    "u2": {"ref": "the river", "hyp_1": {"score": -0.5, "text": "the river"}},
}


@pytest.fixture
def model(small_corpus: Small, tmp_path: Path) -> Path:
    made = random_model("bilm", small_corpus[0])
    folder = tmp_path / "model"
    folder.mkdir()
    state = made.network.state_dict()
    save_model(folder, {"last": state, "best": state}, made.card, made.tokenizer)
    return folder


def call(monkeypatch: pytest.MonkeyPatch, text: bytes, *arguments: str) -> int:
    """The exit code of the command with this standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text), encoding="utf-8"))
    with pytest.raises(SystemExit) as stop:
        cli.main(list(arguments))
    code = stop.value.code
    return code if isinstance(code, int) else 0


def test_score_prints_a_line_for_each_line(
    model: Path, small_corpus: Small, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ["the miller crossed the river.", "", "a letter"]
    assert call(monkeypatch, "\n".join(texts).encode(), "score", "--model", str(model)) == 0
    printed = [float(line) for line in capsys.readouterr().out.splitlines()]
    assert printed == pytest.approx(random_model("bilm", small_corpus[0]).score(texts), abs=1e-5)
    assert call(monkeypatch, b"a letter", "score", "--model", str(model), "--intact") == 0
    assert float(capsys.readouterr().out) != pytest.approx(printed[2], abs=1e-5)


def test_embed_prints_a_vector_for_each_line(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, b"a letter\nthe river", "embed", "--model", str(model)) == 0
    vectors = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [len(vector) for vector in vectors] == [24, 24]


def test_rescore_writes_the_lists_reranked(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lists, out = tmp_path / "lists.json", tmp_path / "out.jsonl"
    lists.write_text(json.dumps(LISTS))
    base = ["rescore", "--model", str(model), "--nbest", str(lists), "--out", str(out)]
    assert call(monkeypatch, b"", *base, "--lm-weight", "0") == 0
    first = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["best"] for row in first] == ["a grey herring", "the river"], "weight 0 keeps the first pass"
    assert call(monkeypatch, b"", *base, "--tune", str(lists)) == 0
    assert "WER" in capsys.readouterr().err
    assert call(monkeypatch, b"", *base) == 2
    assert "either --tune LISTS or --lm-weight W" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text", "words"),
    [
        (["score", "--model", "nowhere"], b"", "nowhere: not a trained model"),
        (["score", "--model", "MODEL"], b"good\n\xff\xfe bad", "standard input, line 2: not UTF-8"),
        (
            ["rescore", "--model", "MODEL", "--nbest", "none.json", "--out", "o", "--lm-weight", "0.5"],
            b"",
            "none.json",
        ),
        (
            ["rescore", "--model", "MODEL", "--nbest", "x", "--out", "o", "--lm-weight", "2"],
            b"",
            "between 0 and 1",
        ),
        (["embed", "--model", "MODEL", "--layer", "third"], b"", "neither context nor embed"),
    ],
)
def test_mistakes_end_with_one_line_and_code_two(
    model: Path,
    arguments: list[str],
    text: bytes,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [str(model) if argument == "MODEL" else argument for argument in arguments]
    assert call(monkeypatch, text, *given) == 2
    printed = capsys.readouterr()
    errors = printed.err.strip().splitlines()
    assert len(errors) == 1 and errors[0].startswith("error: ") and words in errors[0]
    assert printed.out == ""
