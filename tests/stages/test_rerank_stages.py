"""Reranking, two models together and systems against each other, as the stages run them, with models made up."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jiwer
import pytest
import sacrebleu

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.settings import read_params
from quartet.errors import InputError
from quartet.nbest.formats import jsonl
from quartet.nbest.rescored_file import read_rescored, write_texts
from quartet.results import Result, read_results
from quartet.scoring import engine
from quartet.scoring.unknown import UnknownTokens
from stages import combine, compare, rerank
from tests.nbest.lists import random_lists
from tests.nbest.test_other_tools import with_two_letters
from tests.stages.world import first_pass_and_oracle, nothing_judged
from tests.tasks.rerank.toy import Toy


@pytest.fixture
def params(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Params:
    """The preset tiny with two models to rerank, two seeds, and random lists in place of the sample's."""
    other = next(name for name in read_params().models if name != "tta")
    text = (workspace / "params.yaml").read_text()
    for old, new in (
        (r"\n  rerank: \[.*\]", f"\n  rerank: [tta, {other}]"),
        (r"\n  lengths: .*\n  combine: .*", f"\n  lengths: [3]\n  combine: [[tta, {other}]]"),
        (r"\nseeds: \[1\]", "\nseeds: [1, 2]"),
    ):
        text, times = re.subn(old, new, text)
        assert times == 1, old
    (workspace / "params.yaml").write_text(text)
    found = read_params()
    layout = Layout(found.experiment)
    for index, split in enumerate(("dev", "test")):
        jsonl.write(layout.nbest("sample-speech") / f"{split}.jsonl", random_lists(60, 20 + index))

    def toys(_: Params, name: str) -> Iterator[tuple[Toy, int]]:
        """Only tta masks, and only it has both seeds."""
        for seed in found.seeds if name == "tta" else found.seeds[:1]:
            yield Toy("a" if name == "tta" else "b", masks=name == "tta"), seed

    monkeypatch.setattr(rerank, "scorers", toys)
    return found


def rows_by(rows: list[Result], table: str, split: str, metric: str) -> dict[tuple[str, int | None], Result]:
    return {
        (row.system, row.seed): row
        for row in rows
        if (row.table, row.split, row.metric) == (table, split, metric)
    }


def run_all(params: Params) -> tuple[Layout, list[Result]]:
    layout = Layout(params.experiment)
    for name in params.evaluate["rerank"]:
        rerank.rerank(name)
    combine.combine_pairs()
    nothing_judged(params)
    compare.compare_systems()
    rows = [row for name in params.evaluate["rerank"] for row in read_results(layout.rows("rerank", name))]
    rows += read_results(layout.rows("combine")) + read_results(layout.rows("compare"))
    return layout, rows + first_pass_and_oracle(params)


def written(path: Path) -> tuple[list[str], list[str]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    known = [row for row in rows if "ref" in row]
    return [row["ref"] for row in known], [row["best"] for row in known]


def test_jiwer_on_the_written_files_gives_the_rows(params: Params) -> None:
    layout, rows = run_all(params)
    values = rows_by(rows, "rerank", "test", "wer")
    pair = "-and-".join(params.evaluate["rerank"])
    one, other = params.evaluate["rerank"]
    alone = [(one, one, 1), (one, one, 2), (one, f"{one}-intact", 2), (other, other, 1)]
    for model, system, seed in alone:
        path = layout.reranked(layout.rescored(model), seed, system, "sample-speech", "test")
        assert values[system, seed].value == 100 * jiwer.wer(*written(path))
    for seed in (1, 2):
        path = layout.reranked(layout.combined, seed, pair, "sample-speech", "test")
        assert values[pair, seed].value == 100 * jiwer.wer(*written(path))
    tuned = rows_by(rows, "rerank", "test", "wer-best-on-test")
    assert set(tuned) == {key for key in values if key[1] is not None}
    assert all(row.value <= values[key].value for key, row in tuned.items())
    assert values["oracle", None].value <= min(row.value for row in values.values())
    assert set(rows_by(rows, "rerank", "dev", "wer")) >= set(tuned)


def test_unknown_tokens_are_in_the_rows_and_the_scores(
    params: Params, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, (name, _) = Layout(params.experiment), params.evaluate["rerank"]
    rerank.rerank(name)
    assert not rows_by(read_results(layout.rows("rerank", name)), "rerank", "test", "oov")
    path = layout.reranked(layout.rescored(name), 1, name, "sample-speech", "test")
    before = {text: lm for row in read_rescored(path) for text, lm in row.lm.items()}

    def unknown_tokens(self: Toy, texts: list[str]) -> list[UnknownTokens]:
        found = []
        for words in map(str.split, texts):
            places = [place for place, word in enumerate(words) if word == "c"]
            found.append(UnknownTokens(len(words), places, [-5.0] * len(places)))
        return found

    monkeypatch.setattr(Toy, "unknown_tokens", unknown_tokens, raising=False)
    rerank.rerank(name)
    after = {text: lm for row in read_rescored(path) for text, lm in row.lm.items()}
    words = [word for text in before for word in text.split()]
    assert "c" in words
    for text, lm in before.items():
        if text:
            assert after[text] == pytest.approx(lm - 5.0 * text.split().count("c"))
    shares = rows_by(read_results(layout.rows("rerank", name)), "rerank", "test", "oov")
    assert shares[name, 1].value == pytest.approx(words.count("c") / len(words))
    assert shares[name, 1].n == len(words)

    for handling in ("warn", "error"):
        text = Path("params.yaml").read_text().replace("\nrerank:\n", f"\nrerank:\n  unknown: {handling}\n")
        Path("params.yaml").write_text(text)
        if handling == "warn":
            rerank.rerank(name)
            assert {text: lm for row in read_rescored(path) for text, lm in row.lm.items()} == before
            assert rows_by(read_results(layout.rows("rerank", name)), "rerank", "test", "oov") == shares
            Path("params.yaml").write_text(text.replace("  unknown: warn\n", ""))
        else:
            with pytest.raises(InputError, match="unknown"):
                rerank.rerank(name)


def test_jiwers_command_on_the_written_texts_gives_the_row(params: Params, tmp_path: Path) -> None:
    layout = Layout(params.experiment)
    name = params.evaluate["rerank"][0]
    for split in ("dev", "test"):
        path = layout.nbest("sample-speech") / f"{split}.jsonl"
        jsonl.write(path, with_two_letters(jsonl.read(path)))
    rerank.rerank(name)
    path = layout.reranked(layout.rescored(name), 1, name, "sample-speech", "test")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    texts, references = tmp_path / "hyp.txt", tmp_path / "ref.txt"
    assert write_texts(((row["best"], row.get("ref")) for row in rows), texts, references) == 0
    program = Path(sys.executable).with_name("jiwer")
    said = subprocess.run(
        [program, "-r", references, "-h", texts], capture_output=True, text=True, check=True
    )
    values = rows_by(read_results(layout.rows("rerank", name)), "rerank", "test", "wer")
    assert values[name, 1].value == 100 * float(said.stdout)


def test_references_have_perplexities_of_the_reading_that_has_any(params: Params) -> None:
    layout = Layout(params.experiment)
    for name in params.evaluate["rerank"]:
        rerank.rerank(name)
    rows = [row for name in params.evaluate["rerank"] for row in read_results(layout.rows("rerank", name))]
    found = rows_by(rows, "reference-perplexity", "test", "pppl")
    one, other = params.evaluate["rerank"]
    assert set(found) == {(one, 1), (one, 2), (other, 1)}, "none of the intact input"
    references = [each.reference for each in jsonl.read(layout.nbest("sample-speech") / "test.jsonl")]
    words = [word for text in references if text for word in text.split()]
    nats = sum(0.5 if word == "a" else 3.0 for word in words) / len(words)
    assert found[one, 1].value == pytest.approx(math.exp(nats))
    assert found[one, 1].n == len(words)
    assert not rows_by(rows, "reference-perplexity", "dev", "pppl-word"), (
        "the toy cannot tell what it does not know"
    )
    medians = rows_by(rows, "reference-perplexity", "dev", "pppl-median")
    assert medians[one, 1].n < 60, "missing and empty references count in none"
    assert medians[one, 1].ci_low is not None


def test_a_killed_reranking_goes_on_and_comes_to_the_same_bytes(
    params: Params, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = Layout(params.experiment)
    name = params.evaluate["rerank"][0]
    monkeypatch.setattr(engine, "CHUNK", 100)

    def outputs() -> dict[str, bytes]:
        files = [layout.rows("rerank", name), layout.wer_curve(name), *layout.rescored(name).iterdir()]
        return {path.name: path.read_bytes() for path in files}

    def calls(patience: float) -> float:
        """How often the model was asked, until it was done or killed."""
        monkeypatch.setattr(Toy, "patience", patience)
        rerank.rerank(name)
        return patience - Toy.patience

    asked = calls(1000)
    whole = outputs()
    resume = layout.artifacts / "resume"
    shutil.rmtree(resume)
    half = asked // 2
    assert half > 2
    shutil.rmtree(layout.rescored(name))
    with pytest.raises(KeyboardInterrupt):
        calls(half)
    assert calls(1000) == asked - half, "no chunk twice"
    assert outputs() == whole
    kept = {path: path.read_bytes() for path in resume.rglob("*") if path.is_file()}
    shutil.rmtree(layout.rescored(name))
    assert calls(1000) == 0, "another run finds all that it asks for"
    assert outputs() == whole
    assert {path: path.read_bytes() for path in resume.rglob("*") if path.is_file()} == kept


def test_lengths_and_pairs_have_rows_of_their_own(params: Params) -> None:
    _, rows = run_all(params)
    short, long = (rows_by(rows, "rerank-length", split, "wer") for split in ("0-3", "4-"))
    whole = rows_by(rows, "rerank", "test", "wer")
    assert set(short) == set(long) == set(whole)
    for key, row in whole.items():
        assert short[key].n + long[key].n == row.n
    differences = rows_by(rows, "rerank-pairs", "test", "wer-difference")
    systems = {system for system, seed in whole if seed is not None}
    assert len(systems) == 4
    assert len(differences) == len(systems) * (len(systems) - 1) // 2
    for (system, seed), row in differences.items():
        assert seed is None, "over both seeds"
        apart = []
        for each in (1, 2):
            ours, theirs = (whole.get((one, each), whole.get((one, 1))) for one in system.split(" - "))
            apart.append(ours.value - theirs.value)
        assert row.value == pytest.approx(sum(apart) / 2)
        better = rows_by(rows, "rerank-pairs", "test", "better")[system, None].value
        worse = rows_by(rows, "rerank-pairs", "test", "worse")[system, None].value
        assert better + worse <= row.n


def test_lists_of_translations_are_judged_by_bleu(params: Params, workspace: Path) -> None:
    text = (workspace / "params.yaml").read_text()
    (workspace / "params.yaml").write_text(
        text.replace("metric: wer", "metric: bleu\n    bleu: {lowercase: true, tokenize: none}", 1)
    )
    layout, rows = run_all(read_params())
    values = rows_by(rows, "rerank", "test", "bleu")
    for name in params.evaluate["rerank"]:
        references, texts = written(layout.reranked(layout.rescored(name), 1, name, "sample-speech", "test"))
        theirs = sacrebleu.corpus_bleu(texts, [references], lowercase=True, tokenize="none")
        assert values[name, 1].value == theirs.score
    assert values["oracle", None].value > values["first-pass", None].value
    assert rows_by(rows, "rerank", "test", "wer") == {}
    header, first, *_ = layout.wer_curve("tta").read_text().splitlines()
    assert header == "list,split,system,seed,metric,weight,value"
    assert first.startswith("sample-speech,dev,tta,1,bleu,0,")


def test_a_set_of_lists_can_have_its_own_score_and_grid(params: Params, workspace: Path) -> None:
    """Means a token in the place of sums, and the weights that it names."""
    text = (workspace / "params.yaml").read_text()
    own = "metric: wer\n    score: mean\n    weights: {start: 0.0, stop: 0.3, step: 0.1}"
    (workspace / "params.yaml").write_text(text.replace("metric: wer", own, 1))
    layout, rows = run_all(read_params())
    one, other = params.evaluate["rerank"]
    model = Toy("b", masks=False)
    lines = (
        layout.reranked(layout.rescored(other), 1, other, "sample-speech", "test").read_text().splitlines()
    )
    worded = [each for line in lines for each in json.loads(line)["hypotheses"] if each["text"]]
    assert len(worded) > 100
    for each in worded:
        assert each["lm"] == pytest.approx(model.token_logprobs([each["text"]])[0].mean())
    curve = [line.split(",")[5] for line in layout.wer_curve(other).read_text().splitlines()[1:]]
    assert curve == ["0", "0.1", "0.2", "0.3"] * 2
    weights = rows_by(rows, "rerank", "test", "weight")
    assert all(row.value <= 0.3 for row in weights.values())
    assert (f"{one}-and-{other}", 1) in weights


def test_scores_of_other_lists_are_refused(params: Params) -> None:
    layout = Layout(params.experiment)
    for name in params.evaluate["rerank"]:
        rerank.rerank(name)
    jsonl.write(layout.nbest("sample-speech") / "dev.jsonl", random_lists(60, 99))
    with pytest.raises(ValueError, match=r"has other hypotheses here; run dvc repro"):
        combine.combine_pairs()


def test_lists_without_any_reference_cannot_be_judged(params: Params) -> None:
    path = Layout(params.experiment).nbest("sample-speech") / "test.jsonl"
    jsonl.write(path, [dataclasses.replace(one, reference=None) for one in random_lists(5, 1)])
    with pytest.raises(ValueError, match=r"test\.jsonl: no list has a reference; name a file of them"):
        rerank.rerank("tta")


def test_a_reading_that_there_is_not_is_named(params: Params, workspace: Path) -> None:
    text = (workspace / "params.yaml").read_text()
    one, other = params.evaluate["rerank"]
    (workspace / "params.yaml").write_text(text.replace(f"[[{one}, {other}]]", f"[[{one}, {other}-intact]]"))
    for name in params.evaluate["rerank"]:
        rerank.rerank(name)
    with pytest.raises(
        ValueError, match=rf"rerank.combine: {other}-intact reranked nothing; there are {one}, "
    ):
        combine.combine_pairs()
