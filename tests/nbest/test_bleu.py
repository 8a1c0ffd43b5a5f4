"""Our BLEU is sacrebleu's: of every choice, of every weight, and what its command prints for the written file."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from quartet.config.choices import BleuTokenization
from quartet.nbest.bleu import Bleu
from quartet.nbest.metrics import CountTable
from quartet.nbest.normalise import Normalisation
from quartet.nbest.rerank import Candidates, tune_and_apply, weight_grid
from quartet.nbest.rescored_file import write_rescored
from quartet.nbest.types import Hypothesis, NBest
from tests.nbest.lists import nbest
from tests.nbest.test_rerank import toy_scores

WORDS = ["the", "The", "boat", "boats,", "came", "back", "$3.50", "before-dark", "naïve", "!"]


def translations(count: int, seed: int) -> list[NBest]:
    """Lists of 1 to 6 texts near their reference, some of them empty, a few references missing or empty."""
    generator = random.Random(seed)
    lists = []
    for index in range(count):
        reference = generator.choices(WORDS, k=generator.choice([0, 3, 8, 14]))
        hypotheses = []
        for _ in range(generator.randint(1, 6)):
            text = [word for word in reference if generator.random() < 0.8]
            hypotheses.append(Hypothesis(" ".join(text), round(-9 * generator.random(), 3)))
        known = None if index % 9 == 8 else " ".join(reference)
        lists.append(NBest(f"u{index}", tuple(hypotheses), known))
    return lists


def candidates(count: int, seed: int, metric: Bleu) -> Candidates:
    lists = translations(count, seed)
    return Candidates(lists, [toy_scores(one) for one in lists], CountTable.of(lists, metric))


@pytest.mark.parametrize(
    ("lowercase", "tokenize"), [(False, "13a"), (True, "13a"), (False, "intl"), (True, "none")]
)
@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
def test_the_choice_has_sacrebleus_figure(lowercase: bool, tokenize: BleuTokenization, weight: float) -> None:
    subject = candidates(120, 1, Bleu(lowercase, tokenize))
    selection = subject.select(weight)
    pairs = [
        (one.reference, one.hypotheses[index].text)
        for one, index in zip(subject.lists, selection.chosen, strict=True)
        if one.reference is not None
    ]
    theirs = sacrebleu.corpus_bleu(
        [text for _, text in pairs], [[text for text, _ in pairs]], lowercase=lowercase, tokenize=tokenize
    )
    assert selection.value == theirs.score
    assert 0 < selection.value < 100


def test_the_oracle_picks_the_best_smoothed_sentence() -> None:
    subject = candidates(80, 2, Bleu())
    metric = sacrebleu.metrics.bleu.BLEU(effective_order=True)
    for one, index in zip(subject.lists, subject.oracle.chosen, strict=True):
        if one.reference is None:
            assert index == 0
            continue
        scores = [metric.sentence_score(each.text, [one.reference]).score for each in one.hypotheses]
        assert index == int(np.argmax(scores))
    assert subject.oracle.value > subject.first_pass_selection.value


def test_the_weight_with_the_most_bleu_on_dev_is_chosen() -> None:
    dev = [nbest("d", "a b c d", ("x y z w", -1.0), ("a b c d", -2.0))]
    candidate = Candidates(dev, [np.array([-2.0, -0.5])], CountTable.of(dev, Bleu()))
    result = tune_and_apply(candidate, candidate, weight_grid(0, 1, 0.1))
    assert result.weight == pytest.approx(0.5)
    assert result.first_pass.value == pytest.approx(0.0, abs=1e-9)
    assert result.reranked.value == pytest.approx(100.0)


def test_sacrebleus_command_on_the_written_file_prints_the_reported_figure(tmp_path: Path) -> None:
    metric = Bleu(lowercase=True)
    lists = [one for one in translations(90, 3) if one.reference is not None]
    subject = Candidates(lists, [toy_scores(one) for one in lists], CountTable.of(lists, metric))
    write_rescored(tmp_path / "out.jsonl", subject, 0.3, Normalisation())
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    for name in ("best", "ref"):
        (tmp_path / name).write_text("".join(row[name] + "\n" for row in rows), encoding="utf-8")
    files = [tmp_path / "ref", "-i", tmp_path / "best"]
    command = [sys.executable, "-m", "sacrebleu", *files, "-lc", "-w", "10", "-f", "json"]
    printed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert f"{printed['score']:.10f}" == f"{subject.select(0.3).value:.10f}"
    assert printed["signature"] == metric.signature


def test_equal_texts_are_counted_once_and_empty_ones_count() -> None:
    counts = Bleu().counts("a b c d e", ["a b", "", "a b"])
    assert counts.tolist() == [
        [2, 5, 2, 1, 0, 0, 2, 1, 0, 0],
        [0, 5] + 8 * [0],
        [2, 5, 2, 1, 0, 0, 2, 1, 0, 0],
    ]
    assert Bleu().corpus(counts[1:2]).tolist() == [0.0]
    assert Bleu().counts("", ["a"]).tolist() == [[1, 0, 0, 0, 0, 0, 1, 0, 0, 0]]
