"""Our word errors are jiwer's and our BLEU is sacrebleu's; the registry has what settings offer."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import get_args

import jiwer
import numpy as np
import pytest
import sacrebleu

from quartet.config.choices import BleuTokenization, MetricName
from quartet.config.nbest import BleuSettings
from quartet.errors import InputError
from quartet.nbest.metrics import (
    METRICS,
    Bleu,
    CharacterErrorRate,
    CountTable,
    WordErrorRate,
    characters,
    count_errors,
    metric_named,
    unspaced_words,
)
from quartet.nbest.normalise import Normalisation
from quartet.nbest.rerank import Candidates, tune_and_apply, weight_grid
from quartet.nbest.rescored_file import write_rescored
from quartet.nbest.types import Hypothesis, NBest, words
from tests.nbest.lists import nbest, random_lists
from tests.nbest.test_rerank import toy_scores

METRIC = WordErrorRate()


def rate(lists: list[NBest], metric: WordErrorRate = METRIC) -> float:
    """The rate of all hypotheses of lists with references together."""
    return float(metric.corpus(CountTable.of(lists, metric).counts.sum(axis=0, keepdims=True))[0])


def test_texts_without_spaces_are_named_and_have_a_character_error_rate() -> None:
    """One of six and none of three characters is wrong; as words, one of two."""
    texts = [("今天天气很好", "今天天汽很好"), ("你好吗", "你好吗")]
    lists = [nbest(str(index), ref, (text, -1.0)) for index, (ref, text) in enumerate(texts)]
    assert rate(lists) == 50.0
    said = unspaced_words(lists, METRIC) or ""
    assert "今天天气很好" in said
    assert "--metric cer" in said
    assert rate(lists, CharacterErrorRate()) == pytest.approx(100 / 9)
    assert unspaced_words(lists, CharacterErrorRate()) is None
    for reference, text, told in (
        ("你好", "你 好", True),
        ("你 好", "你好", True),
        ("你 好", "你 号", False),
        ("你好", "", False),
    ):
        said = unspaced_words([nbest("u", reference, (text, -1.0))], CharacterErrorRate()) or ""
        assert ("one side" in said, "你 好" in said) == (told, told)
    assert unspaced_words([nbest("u", "the heron", ("a heron", -1.0))], CharacterErrorRate()) is None
    spaced = [
        nbest(str(index), " ".join(ref), (" ".join(text), -1.0)) for index, (ref, text) in enumerate(texts)
    ]
    assert rate(spaced) == pytest.approx(100 / 9)
    assert unspaced_words(spaced, METRIC) is None
    for tokenize, known in (("13a", False), ("intl", False), ("none", False), ("zh", True), ("char", True)):
        assert (unspaced_words(lists, Bleu(tokenize=tokenize)) is None) == known  # type: ignore[arg-type]
    english = [
        nbest("a", "the heron", ("x", -1.0)),
        nbest("b", "你好吗", ("x", -1.0)),
        nbest("c", None, ("x", -1.0)),
    ]
    assert unspaced_words(english, METRIC) is None, "half of them are no reason"


@pytest.mark.parametrize("metric", [WordErrorRate(), CharacterErrorRate()])
def test_every_hypothesis_and_the_corpus_agree_with_jiwer(metric: WordErrorRate) -> None:
    process, theirs_of = {
        "wer": (jiwer.process_words, jiwer.wer),
        "cer": (jiwer.process_characters, jiwer.cer),
    }[metric.name]
    lists = random_lists(300, seed=4)
    table = CountTable.of(lists, metric)
    references, hypotheses, counts = [], [], []
    for index, one in enumerate(lists):
        start, end = table.offsets[index], table.offsets[index + 1]
        assert end - start == len(one.hypotheses)
        assert table.referenced[index] == (one.reference is not None)
        for hypothesis, found in zip(one.hypotheses, table.counts[start:end], strict=True):
            if one.reference is None:
                continue
            theirs = process(one.reference, hypothesis.text)
            errors = theirs.substitutions + theirs.insertions + theirs.deletions
            assert found.tolist() == [errors, theirs.hits + theirs.substitutions + theirs.deletions]
            references.append(one.reference)
            hypotheses.append(hypothesis.text)
            counts.append(found)
    assert len(counts) > 1000
    ours = metric.corpus(np.sum(counts, axis=0, keepdims=True))
    assert ours.tolist() == [100 * theirs_of(references, hypotheses)]


def test_characters_are_code_points_and_one_space_between_words() -> None:
    """A character that two code points make counts as two: NFC joins those that it can before."""
    assert characters(" a  be\u0301\t") == "a be\u0301"
    assert CharacterErrorRate().counts("ab c", ["abc", "", "ab  c", "x ab c"]).tolist() == [
        [1, 4],
        [4, 4],
        [0, 4],
        [2, 4],
    ]


@pytest.mark.parametrize(
    "text", ["", "  ", " a  b ", "a\tb", "a\t b", "a\n\nb", "a\u00a0b", "a\u2003\u2003b", "été"]
)
def test_words_are_split_as_jiwer_splits_them(text: str) -> None:
    assert words(text) == jiwer.process_words("x", text).hypotheses[0]


def test_an_empty_reference_counts_insertions_and_no_words() -> None:
    assert count_errors("", ["", "two words", " "]) == ([0, 2, 0], 0)
    silence = nbest("silence", "", ("two words", -1.0))
    known = nbest("u", "a b", ("a", -1.0))
    assert rate([silence, known]) == 150 == 100 * jiwer.wer(["", "a b"], ["two words", "a"])
    assert rate([silence]) == 200 == 100 * jiwer.wer([""], ["two words"])


def test_a_missing_reference_is_marked_not_counted() -> None:
    lists = [nbest("u", None, ("a", -1.0), ("b", -2.0)), nbest("v", "b", ("a", -1.0))]
    table = CountTable.of(lists, METRIC)
    assert table.referenced.tolist() == [False, True]
    assert table.counts.tolist() == [[0, 0], [0, 0], [1, 1]]
    assert table.merit.tolist() == [0.0, 0.0, -1.0]


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


def test_every_name_has_its_metric() -> None:
    assert list(METRICS) == list(get_args(MetricName))
    for name, known in METRICS.items():
        metric = metric_named(name)
        assert (metric.name, metric.better) == (name, known.better)


def test_the_settings_of_bleu_reach_it() -> None:
    assert metric_named("bleu") == Bleu()
    assert metric_named("bleu", BleuSettings(lowercase=True, tokenize="char")) == Bleu(True, "char")


@pytest.mark.parametrize("settings", [BleuSettings(lowercase=True), BleuSettings(tokenize="zh")])
def test_the_settings_of_bleu_are_refused_for_another_metric(settings: BleuSettings) -> None:
    for name in set(METRICS) - {"bleu"}:
        assert metric_named(name, BleuSettings()) == metric_named(name)
        with pytest.raises(
            InputError, match=f"--bleu-tokenize.*mean nothing with --metric {name}; take them out"
        ):
            metric_named(name, settings)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InputError, match=r"metric: unknown value 'ter'; choose one of wer, cer, bleu"):
        metric_named("ter")


@pytest.mark.parametrize("name", METRICS)
def test_the_words_for_a_metric_are_its_own(name: str) -> None:
    names = {
        "wer": ("WER", "word error rate"),
        "cer": ("CER", "character error rate"),
        "bleu": ("BLEU",),
    }
    known = METRICS[name]
    for text in (known.label, known.axis, known.unit):
        assert [one for one, words in names.items() if any(word in text for word in words)] == [name]
