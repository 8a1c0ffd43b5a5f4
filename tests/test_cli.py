"""The quartet command, as a user calls it."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from typer.main import get_group

import quartet
from quartet import cli
from quartet.cli.rescore import file_and_weight
from quartet.config.choices import ScoringPrecision
from quartet.errors import InputError
from quartet.models.checkpoint import save_model
from quartet.nbest.formats import FORMATS
from quartet.scoring.language_model import LanguageModel
from quartet.text.encoded_corpus import EncodedCorpus
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


def test_a_byte_order_mark_is_no_text(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = []
    for mark in ("", "\ufeff"):
        text = f"{mark}a letter\n\nthe river".encode()
        assert call(monkeypatch, text, "score", "--model", str(model)) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] and len(printed[0].splitlines()) == 3


def test_without_a_model_it_is_the_one_that_comes_with_quartet(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, b"a letter", "score", "--model", str(model)) == 0
    expected = capsys.readouterr().out
    monkeypatch.setattr("quartet.shipped_model.IN_CLONE", model)
    assert call(monkeypatch, b"a letter", "score") == 0
    assert capsys.readouterr().out == expected
    monkeypatch.setattr("quartet.shipped_model.IN_CLONE", tmp_path / "nowhere")
    assert call(monkeypatch, b"a letter", "score") == 2
    assert capsys.readouterr().err.startswith("error: --model: is missing")


def test_embed_prints_a_vector_for_each_line(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, b"a letter\nthe river", "embed", "--model", str(model)) == 0
    vectors = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [len(vector) for vector in vectors] == [24, 24]
    opened = quartet.load(model)
    assert isinstance(opened, LanguageModel)
    for options, masked in (([], True), (["--intact"], False)):
        assert call(monkeypatch, b"a letter", "embed", "--model", str(model), *options) == 0
        expected = opened.embed(["a letter"], masked=masked)[0]
        assert json.loads(capsys.readouterr().out) == pytest.approx(expected.tolist(), abs=1e-5)
    assert not np.allclose(*(opened.embed(["a letter"], masked=masked) for masked in (True, False)))


def test_embed_refuses_a_layer_that_is_the_same_for_every_text(
    small_corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What stands before the text has read nothing, where a model reads left to right."""
    made = random_model("unilm", small_corpus[0])
    state = made.network.state_dict()
    save_model(tmp_path, {"last": state, "best": state}, made.card, made.tokenizer)
    command = ["embed", "--model", str(tmp_path), "--layer"]
    assert call(monkeypatch, b"a letter", *command, "first") == 2
    assert "choose one of context, embed, table, last" in capsys.readouterr().err
    assert call(monkeypatch, b"a letter", *command, "last") == 0


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
    said = capsys.readouterr().err
    assert "WER" in said
    assert "1 of the 2 lists are among those of --tune" in said, "u2 has but one hypothesis"
    assert call(monkeypatch, b"", *base, "--tune", str(lists), "--weight-step", "1") == 0
    assert re.search(r"weight [01], chosen on ", capsys.readouterr().err)
    assert call(monkeypatch, b"", *base, "--lm-weight", "0", "--weight-step", "0.1") == 2
    assert "--weight-step: means nothing without --tune" in capsys.readouterr().err
    assert call(monkeypatch, b"", *base, "--tune", str(lists), "--weight-step", "0") == 2
    assert "--weight-step: 0.0 is not above 0 and at most 1" in capsys.readouterr().err
    assert call(monkeypatch, b"", *base, "--tune", str(lists), "--weight-step", "1e-9") == 2
    assert "more than 100,000 weights" in capsys.readouterr().err
    assert call(monkeypatch, b"", *base) == 2
    assert "either --tune LISTS or --lm-weight W" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text", "words"),
    [
        (["score", "--model", "nowhere"], b"", "nowhere: no such folder"),
        (["score", "--model", "MODEL"], b"good\n\xff\xfe bad", "/dev/stdin: line 2: byte 0xff is not UTF-8"),
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
        (
            ["embed", "--model", "MODEL", "--layer", "third"],
            b"",
            "none of context, embed, table, first, last",
        ),
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


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def mixed_lists(tmp_path: Path) -> Path:
    """Three lists, the second of them malformed."""
    path = tmp_path / "lists.json"
    path.write_text(
        json.dumps({"z": LISTS["u1"], "bad": {"hyp_1": {"score": "x", "text": "a"}}, "a": LISTS["u2"]})
    )
    return path


def test_a_malformed_list_ends_it_without_output_or_is_left_out_and_named(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lists, out = mixed_lists(tmp_path), tmp_path / "results" / "out.jsonl"
    base = ["rescore", "--model", str(model), "--nbest", str(lists), "--out", str(out), "--lm-weight", "0.5"]
    assert call(monkeypatch, b"", *base) == 2
    errors = capsys.readouterr().err.strip().splitlines()
    assert len(errors) == 1
    assert 'lists.json: utterance "bad", hyp_1, score: a number was expected' in errors[0]
    assert not out.parent.exists()
    assert call(monkeypatch, b"", *base, "--skip-malformed") == 0
    said = capsys.readouterr().err
    assert "refused: " in said and 'utterance "bad", hyp_1, score' in said
    assert "3 lists in, 2 read, 1 refused" in said
    assert [row["utt"] for row in rows(out)] == ["z", "a"], "the order of the input"
    assert list(out.parent.iterdir()) == [out]


def test_other_formats_references_and_costs(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("u-1 a grey herring\nu-2 a grey heron\n")
    (tmp_path / "ac").write_text("u-1 10\nu-2 30\n")
    (tmp_path / "lm").write_text("u-1 1\nu-2 1\n")
    (tmp_path / "refs.trn").write_text("A grey heron. (u)\n")
    out = tmp_path / "out.jsonl"
    arguments = ["rescore", "--model", str(model), "--nbest", str(tmp_path / "text"), "--out", str(out)]
    arguments += ["--format", "kaldi", "--scores", f"{tmp_path / 'ac'}=0.1", "--scores", str(tmp_path / "lm")]
    arguments += ["--references", str(tmp_path / "refs.trn"), "--lm-weight", "0"]
    assert call(monkeypatch, b"", *arguments) == 0
    assert "WER, %: 33.33 -> 33.33" in capsys.readouterr().err
    (row,) = rows(out)
    assert row["ref"] == "a grey heron"
    assert [each["first_pass"] for each in row["hypotheses"]] == [-2.0, -4.0]
    moses = ["moses" if each == "kaldi" else each for each in arguments[:-4]]
    assert call(monkeypatch, b"", *moses, "--lm-weight", "0") == 2
    assert "has its scores in the same file" in capsys.readouterr().err
    arguments[arguments.index("--scores") + 1] += "x"
    assert call(monkeypatch, b"", *arguments) == 2
    assert "--scores: a finite number was expected as the weight" in capsys.readouterr().err


def test_the_mean_and_lists_without_scores_and_bleu(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lists, out = tmp_path / "lists.json", tmp_path / "out.jsonl"
    lists.write_text(json.dumps([{"input": ["A b c d", "A b c"], "output": "A b c d"}]))
    base = [
        "rescore",
        "--model",
        str(model),
        "--nbest",
        str(lists),
        "--out",
        str(out),
        "--format",
        "hyporadise",
    ]
    assert call(monkeypatch, b"", *base, "--lm-weight", "0", "--metric", "bleu", "--score", "mean") == 0
    said = capsys.readouterr().err
    assert "BLEU: 100.00 -> 100.00; no first-pass scores: the rank stands for them" in said
    (row,) = rows(out)
    assert row["ref"] == "A b c d", "for BLEU the texts stay as they are"
    assert [each["first_pass"] for each in row["hypotheses"]] == [0.0, -1.0]
    mean = row["hypotheses"][0]["lm"]
    assert call(monkeypatch, b"", *base, "--lm-weight", "0", "--no-lowercase", "--no-strip-punctuation") == 0
    assert rows(out)[0]["hypotheses"][0]["lm"] < 2 * mean < 0, "a sum over several tokens"


def test_a_weight_stands_behind_the_last_equals_sign_of_a_files_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for text, expected in {
        "ac": ("ac", 1.0),
        "ac=0.5": ("ac", 0.5),
        "exp/lmwt=10/ac.txt": ("exp/lmwt=10/ac.txt", 1.0),
        "exp/lmwt=10/ac.txt=2e-1": ("exp/lmwt=10/ac.txt", 0.2),
        "a=1=-3": ("a=1", -3.0),
        "-=2": ("/dev/stdin", 2.0),
    }.items():
        path, weight = file_and_weight(text, "--scores")
        assert (path.as_posix(), weight) == expected
    (tmp_path / "ac=0.5").touch()
    assert file_and_weight("ac=0.5", "--scores") == (Path("ac=0.5"), 1.0)
    (tmp_path / "ac").touch()
    with pytest.raises(InputError, match=r"ac and ac=0\.5 are files: which\?; write ac=0\.5=1"):
        file_and_weight("ac=0.5", "--scores")
    assert file_and_weight("ac=0.5=1", "--scores") == (Path("ac=0.5"), 1.0)


def test_an_input_is_never_overwritten(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lists = mixed_lists(tmp_path)
    before = lists.read_bytes()
    arguments = [
        "rescore",
        "--model",
        str(model),
        "--nbest",
        str(lists),
        "--out",
        str(lists),
        "--lm-weight",
        "0.5",
    ]
    assert call(monkeypatch, b"", *arguments) == 2
    assert "is one of the files to read" in capsys.readouterr().err
    assert lists.read_bytes() == before


def test_compare_refuses_texts_that_were_made_for_another_metric(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lists, files = tmp_path / "lists.json", [str(tmp_path / name) for name in ("a", "b")]
    lists.write_text(json.dumps(LISTS))
    for file, weight in zip(files, "01", strict=True):
        given = ["--model", str(model), "--nbest", str(lists), "--lm-weight", weight, "--out", file]
        assert call(monkeypatch, b"", "rescore", *given, "--metric", "bleu") == 0
    capsys.readouterr()
    assert call(monkeypatch, b"", "compare", *files) == 2
    assert not capsys.readouterr().out, "no figure"
    assert call(monkeypatch, b"", "compare", *files, "--metric", "bleu") == 0
    assert not capsys.readouterr().err
    older = [{key: value for key, value in row.items() if key != "counted"} for row in rows(Path(files[0]))]
    Path(files[0]).write_text("".join(json.dumps(row) + "\n" for row in older))
    assert call(monkeypatch, b"", "compare", *files, "--metric", "bleu") == 0
    (said,) = capsys.readouterr().err.splitlines()
    assert files[0] in said


@pytest.mark.parametrize("command", ["score", "embed", "rescore", "compare"])
def test_every_command_shows_an_example(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, b"", command, "--help") == 0
    assert f"Example: quartet {command}" in " ".join(capsys.readouterr().out.split())


def test_rescore_is_the_librarys_and_writes_what_other_tools_count(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lists, out = tmp_path / "lists.json", tmp_path / "out.jsonl"
    lists.write_text(json.dumps({**LISTS, "u3": {"hyp_1": {"score": -1.0, "text": "I"}}}))
    texts, references = tmp_path / "hyp.txt", tmp_path / "ref.txt"
    base = ["rescore", "--model", str(model), "--nbest", str(lists), "--out", str(out), "--lm-weight", "0.5"]
    assert call(monkeypatch, b"", *base, "--text-out", str(texts)) == 0
    assert rows(out) == list(quartet.rescore(quartet.load(model), lists, weight=0.5))
    assert texts.read_text().splitlines() == [row["transcript"] for row in rows(out)]
    assert "1 lines of text have fewer than two letters: jiwer's command leaves" in capsys.readouterr().err
    assert call(monkeypatch, b"", *base, "--text-out", str(texts), "--ref-out", str(references)) == 0
    assert references.read_text() == "a grey heron\nthe river\n"
    assert texts.read_text().splitlines() == [row["transcript"] for row in rows(out)[:2]], (
        "u3 has no reference"
    )
    assert "fewer than two letters" not in capsys.readouterr().err
    before = lists.read_bytes()
    for clash in (lists, out):
        assert call(monkeypatch, b"", *base, "--ref-out", str(clash)) == 2
        assert "error: --ref-out: " in capsys.readouterr().err
    assert lists.read_bytes() == before


def test_the_option_names_every_format() -> None:
    option = next(
        each for each in get_group(cli.app).commands["rescore"].params if each.name == "input_format"
    )
    assert all(name in getattr(option, "help", "") for name in FORMATS)


def test_scores_are_kept_for_the_next_run(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lists, out, cache = tmp_path / "lists.json", tmp_path / "out.jsonl", tmp_path / "scores.sqlite"
    lists.write_text(json.dumps(LISTS))
    base = ["rescore", "--model", str(model), "--nbest", str(lists), "--out", str(out), "--lm-weight", "0.5"]
    assert call(monkeypatch, b"", *base, "--cache", str(cache)) == 0
    first = out.read_bytes()

    def never(self: LanguageModel, texts: list[str], masked: bool = True) -> list[np.ndarray]:
        raise AssertionError(f"{texts} were scored before")

    monkeypatch.setattr(LanguageModel, "token_logprobs", never)
    out.unlink()
    assert call(monkeypatch, b"", *base, "--cache", str(cache)) == 0
    assert out.read_bytes() == first


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ([], "a grey heron"),
        (["--no-lowercase"], "A grey heron"),
        (["--no-strip-punctuation"], "a grey heron."),
        (["--metric", "bleu"], "A grey heron."),
        (["--metric", "bleu", "--lowercase"], "a grey heron."),
    ],
)
def test_texts_are_made_alike_as_is_asked_for(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], text: str
) -> None:
    lists, out = tmp_path / "lists.json", tmp_path / "out.jsonl"
    lists.write_text(json.dumps(LISTS))
    base = ["rescore", "--model", str(model), "--nbest", str(lists), "--out", str(out), "--lm-weight", "0"]
    assert call(monkeypatch, b"", *base, *options) == 0
    assert rows(out)[0]["hypotheses"][1]["text"] == text


def test_lists_to_tune_on_have_references_of_their_own(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the other lists name other utterances."""
    (tmp_path / "lists.json").write_text(json.dumps(LISTS))
    named = {f"dev-{name}": one for name, one in LISTS.items()}
    (tmp_path / "dev.json").write_text(
        json.dumps({name: {**one, "ref": None} for name, one in named.items()})
    )
    for file, given in (("refs.json", LISTS), ("dev-refs.json", named)):
        references = {name: one["ref"] for name, one in given.items()}
        (tmp_path / file).write_text(json.dumps(references))
    monkeypatch.chdir(tmp_path)
    base = ["rescore", "--model", str(model), "--nbest", "lists.json", "--out", "out.jsonl"]
    options = ["--tune", "dev.json", "--tune-references", "dev-refs.json", "--references", "refs.json"]
    assert call(monkeypatch, b"", *base, *options) == 0
    (tmp_path / "dev.json").write_text(json.dumps(named))
    found = quartet.rescore(quartet.load(model), Path("lists.json"), tune=Path("dev.json"))
    assert rows(tmp_path / "out.jsonl") == list(found)


def test_lists_are_scored_in_the_precision_that_is_asked_for(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists, out = tmp_path / "lists.json", tmp_path / "out.jsonl"
    lists.write_text(json.dumps(LISTS))
    base = ["rescore", "--model", str(model), "--nbest", str(lists), "--out", str(out), "--lm-weight", "0.5"]
    found = {}
    for precision in get_args(ScoringPrecision):
        assert call(monkeypatch, b"", *base, "--precision", precision) == 0
        found[precision] = rows(out)
        opened = quartet.load(model, precision=precision)
        assert found[precision] == list(quartet.rescore(opened, lists, weight=0.5))
    assert len({str(one) for one in found.values()}) == len(found) > 1


@pytest.mark.parametrize("command", ["score", "embed"])
def test_lines_are_read_in_the_precision_that_is_asked_for(
    model: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for precision in get_args(ScoringPrecision):
        text = b"the miller crossed the river."
        assert call(monkeypatch, text, command, "--model", str(model), "--precision", precision) == 0
        found.append(json.loads(capsys.readouterr().out))
        opened = quartet.load(model, precision=precision)
        assert isinstance(opened, LanguageModel)
        read = opened.score if command == "score" else opened.embed
        assert found[-1] == pytest.approx(read([text.decode()])[0], abs=1e-5)
    assert found[0] != found[1]


def test_an_option_of_one_value_is_refused_twice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = 0
    for name, command in get_group(cli.app).commands.items():
        for option in command.params:
            single = option.opts[0].startswith("-") and not option.multiple  # type: ignore[attr-defined]
            if single and option.name != "help":
                given = [option.opts[0]] if option.is_flag else [option.opts[0], "1"]  # type: ignore[attr-defined]
                assert call(monkeypatch, b"", name, *given, *given) == 2
                assert f"{option.opts[-1]}: is given 2 times" in capsys.readouterr().err
                tried += 1
    assert tried > 30
