"""Two systems on the same lists: wins and losses, the words behind them, and what does not fit together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import jiwer
import numpy as np
import pytest

from quartet.config.nbest import BleuSettings
from quartet.errors import InputError
from quartet.nbest.metrics import Bleu, CharacterErrorRate, CountTable, Metric, WordErrorRate, count_errors
from quartet.nbest.normalise import Normalisation, default_normalisation
from quartet.nbest.rerank import Candidates
from quartet.nbest.rescored_file import CountingRule, RescoredLine, read_rescored, write_rescored
from quartet.nbest.system_comparison import Changes, changes_of, compare
from tests.nbest.lists import nbest, random_lists
from tests.nbest.test_rerank import toy_scores


def chosen(**texts: tuple[str | None, str]) -> list[RescoredLine]:
    """Results by utterance, from (reference, text)."""
    return [RescoredLine(name, reference, text, {text: -1.0}) for name, (reference, text) in texts.items()]


def test_wins_losses_and_the_words_behind_them() -> None:
    a = chosen(
        p=("the red flour", "the read flower"), q=("a b", "a b"), r=("c", "c d"), s=("e", "e"), t=(None, "x")
    )
    b = chosen(
        r=("c", "c"), q=("a b", "a x"), p=("the red flour", "the red flower"), s=("e", "e"), t=(None, "y")
    )
    found = compare(a, b, WordErrorRate(), samples=10_000, seed=1)
    assert (found.wins, found.losses, found.ties, found.same) == (2, 1, 1, 1)
    assert (found.utterances, found.without_reference) == (4, 1)
    assert found.changes.fixed == Counter({("read", "red"): 1})
    assert found.changes.broken == Counter({("b", "x"): 1})
    assert (found.changes.added, found.changes.dropped) == (0, 1)
    assert (found.a.value, found.b.value) == (100 * (3 / 7), 100 * (2 / 7))
    assert found.difference.value == pytest.approx(-100 / 7)
    assert (found.difference.ci_low, found.difference.p) == (None, None), "of four utterances"


@pytest.mark.parametrize(
    ("metric", "rate"), [(WordErrorRate(), jiwer.wer), (CharacterErrorRate(), jiwer.cer)]
)
def test_the_rates_are_jiwers_and_what_changed_adds_up(
    metric: WordErrorRate, rate: Callable[..., float], tmp_path: Path
) -> None:
    lists = random_lists(150, seed=12)
    subject = Candidates(lists, [toy_scores(one) for one in lists], CountTable.of(lists, metric))
    for name, weight in (("a", 0.0), ("b", 1.0)):
        write_rescored(tmp_path / name, subject, weight, Normalisation())
    a, b = (read_rescored(tmp_path / name) for name in ("a", "b"))
    found = compare(a, b, metric, samples=10_000, seed=1)
    triples = [(one.reference, one.best, other.best) for one, other in zip(a, b, strict=True)]
    known = [(reference, *both) for reference, *both in triples if reference is not None]
    for place, value in ((1, found.a.value), (2, found.b.value)):
        assert value == 100 * rate([each[0] for each in known], [each[place] for each in known])
    errors = [
        sum(count_errors(each[0], [each[place]], metric.units)[0][0] for each in known) for place in (1, 2)
    ]
    changes = found.changes
    gained = changes.fixed.total() - changes.broken.total() - changes.added + changes.dropped
    assert errors[0] - errors[1] == gained
    assert found.wins + found.losses + found.ties == len(known)
    mirrored = compare(b, a, metric, samples=10_000, seed=1)
    assert (mirrored.wins, mirrored.losses) == (found.losses, found.wins)
    assert mirrored.difference.p == pytest.approx(found.difference.p)
    turned = {(right, wrong): times for (wrong, right), times in changes.fixed.items()}
    assert turned == mirrored.changes.broken


def test_bleu_is_compared_too() -> None:
    found = compare(chosen(p=("a b c d", "a b c x")), chosen(p=("a b c d", "a b c d")), Bleu(), 100, 1)
    assert found.wins == 1
    assert found.b.value == pytest.approx(100.0)
    assert found.difference.ci_low is None


def test_missing_words_stand_as_nothing() -> None:
    changes = changes_of([("a b c", "a c", "a b c"), ("a", "a", "")])
    assert changes.fixed == Counter({("", "b"): 1})
    assert changes.broken == Counter({("a", ""): 1})


def test_a_text_without_spaces_changes_by_characters_where_these_are_counted() -> None:
    a, b = chosen(p=("今天天气好", "今天天汽好")), chosen(p=("今天天气好", "今天天气好呀"))
    assert compare(a, b, CharacterErrorRate(), 10, 1).changes == Changes(
        Counter({("汽", "气"): 1}), Counter(), added=1, dropped=0
    )
    assert compare(a, b, WordErrorRate(), 10, 1).changes == Changes(Counter(), Counter(), added=0, dropped=0)


def test_results_of_other_lists_are_refused() -> None:
    a = chosen(p=("a", "a"), q=("b", "b"))
    for b, words in (
        (chosen(p=("a", "a")), '"q": only the first result has it'),
        (chosen(p=("a", "a"), q=("b", "b"), r=("c", "c")), '"r": only the second result has it'),
        (chosen(p=("A", "a"), q=("b", "b")), '"p": its reference differs'),
    ):
        with pytest.raises(InputError, match=words):
            compare(a, b, WordErrorRate(), 10, 1)
    with pytest.raises(InputError, match="no utterance has a reference"):
        compare(chosen(p=(None, "a")), chosen(p=(None, "b")), WordErrorRate(), 10, 1)


def made_for(rule: CountingRule | None) -> list[RescoredLine]:
    return [replace(one, counted=rule) for one in chosen(p=("a b", "a b"))]


CHINESE = BleuSettings(lowercase=False, tokenize="zh")
FOR_WORDS, AS_THEY_WERE = default_normalisation("wer"), Normalisation()


@pytest.mark.parametrize(
    ("a", "b", "metric", "fits"),
    [
        (CountingRule("wer", FOR_WORDS), CountingRule("wer", FOR_WORDS), WordErrorRate(), True),
        (CountingRule("wer", FOR_WORDS), CountingRule("wer", FOR_WORDS), Bleu(), False),
        (CountingRule("bleu", AS_THEY_WERE), CountingRule("bleu", AS_THEY_WERE), WordErrorRate(), False),
        (CountingRule("wer", AS_THEY_WERE), CountingRule("wer", AS_THEY_WERE), Bleu(), True),
        (CountingRule("bleu", FOR_WORDS), CountingRule("bleu", FOR_WORDS), Bleu(), True),
        (CountingRule("wer", FOR_WORDS), CountingRule("wer", AS_THEY_WERE), WordErrorRate(), False),
        (CountingRule("wer", FOR_WORDS), None, WordErrorRate(), True),
        (CountingRule("wer", FOR_WORDS), None, Bleu(), False),
        (None, None, Bleu(), True),
        (CountingRule("bleu", AS_THEY_WERE, CHINESE), None, Bleu(), False),
        (CountingRule("bleu", AS_THEY_WERE, CHINESE), None, Bleu(tokenize="zh"), True),
        (CountingRule("wer", FOR_WORDS, own="a.B"), CountingRule("wer", FOR_WORDS), WordErrorRate(), False),
    ],
    ids=str,
)
def test_texts_that_were_made_for_another_metric_are_refused(
    a: CountingRule | None, b: CountingRule | None, metric: Metric, fits: bool
) -> None:
    for ours, theirs in ((a, b), (b, a)):
        with nullcontext() if fits else pytest.raises(InputError, match="texts are"):
            compare(made_for(ours), made_for(theirs), metric, 200, 1)


GOOD = '{"utt": "u", "best": "a", "hypotheses": [{"text": "a", "lm": -1}]}'
MALFORMED = {
    "empty": ("\n", "holds no list"),
    "not JSON": ("{", "1:2: not valid JSON"),
    "lists": ('{"utt": "u", "hypotheses": []}', 'has no "best"'),
    "no score": (
        '{"utt": "u", "best": "a", "hypotheses": [{"text": "a"}]}',
        "hypothesis 1, lm: a number was expected",
    ),
    "another best": (GOOD.replace('best": "a"', 'best": "b"'), '"best" is none'),
    "counted": (GOOD[:-1] + ', "counted": {"metric": "wer", "lowercase": 1}}', "counted: "),
    "twice": (2 * (GOOD + "\n"), '2: utterance "u" occurs twice'),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_result_is_named(name: str, tmp_path: Path) -> None:
    content, words = MALFORMED[name]
    (tmp_path / "a.jsonl").write_text(content)
    with pytest.raises(InputError) as caught:
        read_rescored(tmp_path / "a.jsonl")
    assert words in str(caught.value)
    assert "a.jsonl" in str(caught.value)


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    lists = [nbest("u", "b", ("a", -1.0), ("b", -2.0)), nbest("v", None, ("c", None))]
    subject = Candidates(lists, [np.array([-5.0, -1.5]), np.array([-3.0])])
    write_rescored(tmp_path / "a.jsonl", subject, 1.0, Normalisation(lowercase=True))
    rule = CountingRule("wer", Normalisation(lowercase=True))
    assert read_rescored(tmp_path / "a.jsonl") == [
        RescoredLine("u", "b", "b", {"a": -5.0, "b": -1.5}, rule),
        RescoredLine("v", None, "c", {"c": -3.0}, rule),
    ]


class Shouted(Normalisation):
    """A normaliser of one's own."""

    def text(self, text: str) -> str:
        return super().text(text).upper()


def test_a_result_says_bleus_tokenizer_and_a_normaliser_of_ones_own(tmp_path: Path) -> None:
    lists = [nbest("u", "b", ("a", -1.0))]
    table = CountTable.of(lists, Bleu(tokenize="zh"))
    subject = Candidates(lists, [np.array([-5.0])], table=table)
    write_rescored(tmp_path / "a.jsonl", subject, 1.0, Shouted())
    own = f"{Shouted.__module__}.Shouted"
    assert read_rescored(tmp_path / "a.jsonl")[0].counted == CountingRule(
        "bleu", Normalisation(), CHINESE, own
    )
