"""`quartet compare`: what it says of two systems, and where."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from quartet.cli.compare import as_object, lines
from quartet.config.choices import MetricName
from quartet.nbest.metrics import WordErrorRate
from quartet.nbest.rescored_file import RescoredLine
from quartet.nbest.system_comparison import Changes, compare
from tests.test_cli import call


def test_compare_says_who_is_better_and_how_sure_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, best in (("a", "a grey herring"), ("b", "a grey heron")):
        lines = [
            {"utt": "u1", "ref": "a grey heron", "best": best, "hypotheses": [{"text": best, "lm": -1.0}]},
        ]
        lines += [
            {"utt": f"u{number}", "ref": "b", "best": "b", "hypotheses": [{"text": "b", "lm": -1.0}]}
            for number in range(2, 12)
        ]
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    files = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert call(monkeypatch, b"", "compare", *files, "--resamples", "10000") == 0
    printed = capsys.readouterr().out
    assert f"b - a         {-100 / 13:.2f} [" in printed
    assert "b better      1\n" in printed
    assert 'fixed         1: "herring" -> "heron" 1\n' in printed
    assert call(monkeypatch, b"", "compare", *files, "--resamples", "1") == 2
    refused = capsys.readouterr()
    assert not refused.out
    least = re.search(r"take (\d+)", refused.err)
    assert least is not None
    assert call(monkeypatch, b"", "compare", *files, "--resamples", least[1]) == 0
    assert call(monkeypatch, b"", "compare", *files, "--resamples", str(int(least[1]) - 1)) == 2
    capsys.readouterr()
    assert call(monkeypatch, b"", "compare", *files, "--json", "--metric", "bleu") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["metric"], found["better"], found["worse"], found["same_text"]) == ("bleu", 1, 0, 10)
    assert found["fixed"] == [{"a": "herring", "b": "heron", "times": 1}]
    (tmp_path / "b").write_text((tmp_path / "b").read_text().splitlines()[0] + "\n")
    assert call(monkeypatch, b"", "compare", *files) == 2
    assert 'utterance "u2": only the first result has it' in capsys.readouterr().err


def test_a_comparison_says_each_count_in_its_place() -> None:
    alike = [RescoredLine("u", "a", "a", {"a": -1.0})]
    changes = Changes(
        fixed=Counter({("b", "c"): 2, ("a", "d"): 2, ("x", "y"): 3, ("z", "z"): 1}),
        broken=Counter(),
        added=14,
        dropped=15,
    )
    found = replace(
        compare(alike, alike, WordErrorRate(), 10, 1),
        utterances=2000,
        without_reference=12,
        wins=3,
        losses=5,
        ties=7,
        same=6,
        changes=changes,
    )
    said = {line[:14].strip(): line[14:] for line in lines(found, "wer", 3)}
    assert re.findall(r"[\d,]*\d", said["utterances"]) == ["2,000", "12"]
    assert (said["b better"], said["b worse"]) == ("3", "5")
    assert re.findall(r"\d+", said["equal"]) == ["7", "6"]
    assert said["fixed"] == '8: "x" -> "y" 3, "a" -> "d" 2, "b" -> "c" 2'
    assert said["broken"] == "0"
    assert re.findall(r"\d+", said["others"]) == ["14", "15"]
    assert ["characters" in " ".join(lines(found, metric, 3)) for metric in get_args(MetricName)] == [
        False,
        True,
        False,
    ]
    told = as_object(found)
    assert (told["utterances"], told["without_reference"]) == (2000, 12)
    assert [told[key] for key in ("better", "worse", "equal", "same_text")] == [3, 5, 7, 6]
    assert [told[f"others_{key}"] for key in ("more", "fewer")] == [14, 15]
    assert [each["times"] for each in told["fixed"]] == [3, 2, 2, 1]
    assert told["broken"] == []


def test_compare_counts_the_words_that_it_is_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A comma apart or not is the same to 13a and another word to none; upper case is another word unless told."""
    reference = "it is a grey heron , is it"
    said = {"a": "it is a grey heron, is it", "b": "It is a grey heron , is it"}
    for name, best in said.items():
        line = {"utt": "u1", "ref": reference, "best": best, "hypotheses": [{"text": best, "lm": -1.0}]}
        (tmp_path / name).write_text(json.dumps(line) + "\n")

    def bleu(*options: str) -> list[bool]:
        files = [str(tmp_path / name) for name in said]
        assert call(monkeypatch, b"", "compare", *files, "--json", "--metric", "bleu", *options) == 0
        found = json.loads(capsys.readouterr().out)
        return [found[name]["value"] > 99.9 for name in said]

    assert bleu() == [True, False]
    assert bleu("--bleu-tokenize", "none") == [False, False]
    assert bleu("--bleu-lowercase") == [True, True]
