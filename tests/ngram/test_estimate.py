"""Our estimator against lmplz, against counting by hand, and against what a probability must be."""

from __future__ import annotations

import gzip
import math
import os
import random
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quartet.config.ngram import NgramConfig
from quartet.errors import InputError
from quartet.ngram.counts import adjusted_counts, count_grams, running_text
from quartet.ngram.estimate import estimate
from quartet.ngram.lmplz import find_lmplz
from tests.ngram.reference import FIXTURES, Arpa, entries, lines_of

POTTER = [line.split() for line in (FIXTURES / "potter.txt").read_text(encoding="utf-8").splitlines()]
FALLBACK = (0.5, 1.0, 1.5)
#: File -> what lmplz was told when it made that of potter.txt.
MADE_BY_LMPLZ = {
    "order-3.arpa.gz": NgramConfig(order=3, estimator="own"),
    "order-5.arpa.gz": NgramConfig(order=5, estimator="own"),
    "order-4-pruned.arpa.gz": NgramConfig(order=4, pruning=(0, 0, 1), estimator="own"),
}

sentences = st.lists(st.lists(st.sampled_from("abcd"), max_size=6), min_size=1, max_size=12)


def assert_equal(ours: Path, theirs: Path) -> None:
    """The same header, the same n-grams in the same order, and every number within 1e-5."""
    assert [line for line in lines_of(ours) if line.startswith("ngram ")] == [
        line for line in lines_of(theirs) if line.startswith("ngram ")
    ]
    for mine, other in zip(entries(ours), entries(theirs), strict=True):
        assert mine[0] == other[0]
        assert mine[1] == pytest.approx(other[1], abs=1e-5), mine
        assert mine[2] == (other[2] if other[2] is None else pytest.approx(other[2], abs=1e-5)), mine


@pytest.mark.parametrize("name", MADE_BY_LMPLZ)
def test_every_number_is_lmplzs(name: str, tmp_path: Path) -> None:
    made = estimate(POTTER, tmp_path / "model.arpa", MADE_BY_LMPLZ[name])
    assert_equal(tmp_path / "model.arpa", FIXTURES / name)
    assert made.made_by == "own"
    assert made.tally.tokens == sum(map(len, POTTER))
    assert sum(made.sizes) == len(entries(FIXTURES / name))


def test_the_text_ends_with_a_word_that_lmplz_counts_in_a_way_of_its_own() -> None:
    grams = count_grams(running_text(POTTER), 2)
    adjusted = adjusted_counts(*grams)
    assert (adjusted[-1], grams[0].count[-1]) == (1, 2), "else the fixtures would not show it"


def test_fallen_back_on_discounts_give_lmplzs_numbers(tmp_path: Path) -> None:
    config = NgramConfig(order=5, discount_fallback=FALLBACK, estimator="own")
    made = estimate([["a", "b", "c"], ["d", "e", "f"]], tmp_path / "model.arpa", config)
    assert made.discounts == (FALLBACK,) * 5
    assert_equal(tmp_path / "model.arpa", FIXTURES / "fallback.arpa")


@pytest.mark.skipif(find_lmplz() is None, reason="lmplz is not installed")
def test_the_installed_lmplz_makes_the_same_model(tmp_path: Path) -> None:
    config = NgramConfig(order=4, pruning=(0, 0, 1), estimator="lmplz")
    made = estimate(POTTER, tmp_path / "model.arpa.gz", config)
    assert made.made_by == "lmplz"
    assert_equal(tmp_path / "model.arpa.gz", FIXTURES / "order-4-pruned.arpa.gz")
    own = estimate(POTTER, tmp_path / "own.arpa.gz", MADE_BY_LMPLZ["order-4-pruned.arpa.gz"])
    assert np.allclose(made.discounts, own.discounts, atol=1e-5)
    with pytest.raises(InputError, match=r"n-grams of order 1: .*set discount_fallback"):
        estimate([["a"]], tmp_path / "none.arpa", NgramConfig(estimator="lmplz"))


@given(sentences, st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_counting_is_counting(texts: list[list[str]], order: int) -> None:
    text = running_text(texts)
    counted: list[Counter[tuple[str, ...]]] = [Counter() for _ in range(order)]
    before: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for tokens in texts:
        words = ("<s>", *tokens, "</s>")
        for end in range(1, len(words)):
            for n in range(1, min(order, end + 1) + 1):
                gram = words[end + 1 - n : end + 1]
                counted[n - 1][gram] += 1
                before[gram[1:]].add(gram[0])
    grams = count_grams(text, order)
    names: list[list[tuple[str, ...]]] = []
    for n, one in enumerate(grams):
        rest = [()] * len(one) if n == 0 else [names[-1][index] for index in one.rest]
        context = [()] * len(one) if n == 0 else [names[-1][index] for index in one.context]
        names.append([(text.words[first], *tail) for first, tail in zip(one.first, rest, strict=True)])
        assert [gram[:-1] for gram in names[-1]] == context
        found = {gram: count for gram, count in zip(names[-1], one.count.tolist(), strict=True) if count}
        assert found == counted[n]
        adjusted = adjusted_counts(one, grams[n + 1] if n + 1 < order else None)
        for gram, count in zip(names[-1], adjusted.tolist(), strict=True):
            raw = n + 1 == order or gram[0] == "<s>"
            assert count == (counted[n][gram] if raw else len(before[gram]))


@given(sentences.filter(any), st.integers(2, 4), st.sampled_from([(), (0, 1), (0, 0, 1), (0, 0, 0, 2)]))
@settings(max_examples=40, deadline=None)
def test_after_any_context_the_probabilities_sum_to_one(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[list[str]],
    order: int,
    pruning: tuple[int, ...],
) -> None:
    path = tmp_path_factory.mktemp("sums") / "model.arpa"
    config = NgramConfig(order=order, pruning=pruning[:order], discount_fallback=FALLBACK, estimator="own")
    estimate(texts, path, config)
    arpa = Arpa(path)
    predicted = [word for word in arpa.words if word != "<s>"]
    contexts = {words[:-1] for words in arpa.table} | {("<unk>",), ("a", "b", "c"), ("<s>", "a", "a")}
    for context in contexts:
        assert math.fsum(10 ** arpa.word(context, word) for word in predicted) == pytest.approx(1, abs=1e-5)


def test_pruning_leaves_out_what_is_rare_and_nothing_else(tmp_path: Path) -> None:
    estimate(POTTER, tmp_path / "whole.arpa", NgramConfig(order=3, estimator="own"))
    estimate(POTTER, tmp_path / "pruned.arpa", NgramConfig(order=3, pruning=(0, 1, 2), estimator="own"))
    grams = count_grams(running_text(POTTER), 3)
    kept = [len(grams[0]), int((grams[1].count > 1).sum()), int((grams[2].count > 2).sum())]
    found = Counter(len(words) for words, _, _ in entries(tmp_path / "pruned.arpa"))
    assert [found[1], found[2], found[3]] == kept
    assert found[3] > 0


def test_the_same_text_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = MADE_BY_LMPLZ["order-3.arpa.gz"]
    for number, name in enumerate(("one.arpa.gz", "two.arpa.gz", "plain.arpa")):
        with monkeypatch.context() as later:
            later.setattr(time, "time", lambda day=number: 1e9 + 86400.0 * day)
            estimate(iter(POTTER), tmp_path / name, config)
    assert (tmp_path / "one.arpa.gz").read_bytes() == (tmp_path / "two.arpa.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.arpa.gz").read_bytes()) == (tmp_path / "plain.arpa").read_bytes()


def test_reserved_tokens_and_empty_sentences_are_left_out_and_told(tmp_path: Path) -> None:
    config = NgramConfig(order=3, discount_fallback=FALLBACK, estimator="own")
    plain = estimate([["a", "b"], ["c"]], tmp_path / "plain.arpa", config)
    odd = estimate([["a", "<unk>", "b"], [], ["<s>", "c"], ["</s>"]], tmp_path / "odd.arpa", config)
    assert (tmp_path / "plain.arpa").read_bytes() == (tmp_path / "odd.arpa").read_bytes()
    assert (plain.tally.reserved, plain.tally.empty) == (0, 0)
    assert (odd.tally.reserved, odd.tally.empty, odd.tally.sentences, odd.tally.tokens) == (3, 2, 2, 3)


def test_text_without_discounts_is_refused_by_its_order_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "model.arpa"
    with pytest.raises(
        InputError, match=r"n-grams of order 1: none of them has the adjusted count 2, .*discount"
    ):
        estimate([["a", "b", "c"]], path, NgramConfig(order=3, estimator="own"))
    draw = random.Random(5)  # every bigram is common: single words are preceded by all, pairs never once
    texts = [[draw.choice("abcdefgh") for _ in range(30)] for _ in range(40)]
    with pytest.raises(InputError, match="n-grams of order 1: "):
        estimate(texts, path, NgramConfig(order=2, estimator="own"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([], "n-grams: there is no token to count"),
        ([[], ["<s>"]], "n-grams: there is no token to count"),
        ([["a", "b c"]], "token 'b c': holds white space"),
        ([["a", ""]], "token '': holds white space or nothing"),
        ([["a", "b\0"]], r"token 'b\\x00': holds white space"),
    ],
)
@pytest.mark.parametrize("estimator", ["own", "auto"])
def test_what_no_file_can_hold_is_refused(
    texts: list[list[str]], said: str, estimator: str, tmp_path: Path
) -> None:
    config = NgramConfig(order=3, discount_fallback=FALLBACK, estimator=estimator)
    with pytest.raises(InputError, match=said):
        estimate(texts, tmp_path / "model.arpa", config)
    assert not list(tmp_path.iterdir())


# -- lmplz that is not there, or does as it likes ----------------------------------------------------------


def install(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program called lmplz on the PATH."""
    program = folder / "bin" / "lmplz"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nimport os, sys\noptions = sys.argv[1:]\n{body}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent) + os.pathsep + os.environ["PATH"])


def test_lmplz_is_used_where_it_is_installed_and_told_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (
        "text = sys.stdin.read(); import time; time.sleep(0.5)\n"  # it computes when it has read all
        "arpa = options[options.index('--arpa') + 1]\n"
        "open(arpa, 'w').write('\\\\data\\\\\\nngram 1=7\\nngram 2=9\\n\\n' + text)\n"
        "sys.stderr.write('1 7 D1=0.5 D2=1 D3+=1.5\\n2 3/9 D1=0.25 D2=1 D3+=2\\n')\n"
        "keep = [option for option in options if '/' not in option]\n"
        f"open({str(tmp_path / 'told')!r}, 'w').write(' '.join(keep))\n"
    )
    install(tmp_path, body, monkeypatch)
    config = NgramConfig(order=2, pruning=(0, 3), discount_fallback=FALLBACK, estimator="auto")
    made = estimate([["a", "b"], ["é"]], tmp_path / "made" / "model.arpa.gz", config)
    assert (made.made_by, made.sizes) == ("lmplz", (7, 9))
    assert made.discounts == ((0.5, 1.0, 1.5), (0.25, 1.0, 2.0))
    assert lines_of(tmp_path / "made" / "model.arpa.gz")[-3:] == ["a b", "é", ""]
    told = (tmp_path / "told").read_text()
    assert "--order 2" in told and "--prune 0 3" in told and "--discount_fallback 0.5 1.0 1.5" in told
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["model.arpa.gz"]


def test_an_installed_lmplz_is_not_used_unless_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "sys.exit(1)", monkeypatch)
    assert estimate(POTTER, tmp_path / "model.arpa", NgramConfig(order=3)).made_by == "own"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "print('Could not calculate Kneser-Ney discounts for 3-grams', file=sys.stderr, flush=True); os.abort()",
            "n-grams of order 3: .*set discount_fallback",
        ),
        (
            "sys.stderr.write('=== 1/5 Counting\\nno space left\\n----5---10'); sys.exit(3)",
            "code 3: no space left",
        ),
        ("sys.exit(1)", "lmplz: ended with code 1: it says nothing"),
    ],
)
def test_what_lmplz_refuses_is_one_line(
    body: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, body, monkeypatch)
    with pytest.raises(InputError, match=said):
        estimate([["word"] * 1000] * 1000, tmp_path / "made" / "model.arpa", NgramConfig(estimator="lmplz"))
    assert not list((tmp_path / "made").iterdir())


def test_lmplz_that_is_asked_for_and_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="estimator lmplz: there is no program lmplz on the PATH"):
        estimate(POTTER, tmp_path / "model.arpa", NgramConfig(estimator="lmplz"))
    assert estimate(POTTER, tmp_path / "model.arpa", NgramConfig(order=3, estimator="auto")).made_by == "own"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"order": 1}, "order"),
        ({"order": 7}, "order"),
        ({"order": 2, "pruning": (0, 0, 1)}, "3 thresholds for order 2"),
        ({"pruning": (0, 2, 1)}, "must not fall"),
        ({"pruning": (1,)}, "must begin with 0"),
        ({"pruning": (0, -1)}, "pruning"),
        ({"discount_fallback": (0.0, 1.0, 1.5)}, "discount_fallback 0.0 for count 1"),
        ({"discount_fallback": (0.5, 2.5, 1.5)}, "discount_fallback 2.5 for count 2"),
        ({"estimator": "srilm"}, "estimator"),
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        NgramConfig(**wrong)


def test_a_discount_may_be_all_of_its_count() -> None:
    assert NgramConfig(discount_fallback=(1.0, 2.0, 3.0)).discount_fallback == (1.0, 2.0, 3.0)


def test_the_last_threshold_holds_for_the_orders_beyond() -> None:
    assert NgramConfig(order=5, pruning=(0, 0, 1)).thresholds == (0, 0, 1, 1, 1)
    assert NgramConfig(order=3).thresholds == (0, 0, 0)
