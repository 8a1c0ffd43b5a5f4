"""Normalisation treats both sides alike and leaves scores and order alone; counts say what a set holds."""

from __future__ import annotations

import doctest
import time

import pytest

from quartet.nbest import normalise
from quartet.nbest.normalise import Normalisation, name_key
from quartet.nbest.types import count
from tests.nbest.lists import SMALL, lists_of, nbest


@pytest.mark.parametrize(
    ("lowercase", "strip", "text", "expected"),
    [
        (False, False, "  It's\ta  TEST. ", "It's a TEST."),
        (True, False, "It's ÉTÉ.", "it's été."),
        (False, True, "It's, well-known: 'Tis the dogs' 3.5!", "It's well known Tis the dogs 3 5"),
        (False, True, "don’t “quote” — me…", "don't quote me"),
        (False, True, "a_b costs $3 + 5°", "a b costs $3 + 5°"),
        (True, True, "--- ...", ""),
        (False, True, "「你好，世界」……他说：“好！”", "你好世界他说好"),
        (False, True, "レオナルド・ダ・ヴィンチ、コーヒー。", "レオナルドダヴィンチコーヒー"),
        (False, True, "你好， 世界 A，B 用C，好 3、4", "你好 世界 A B 用C 好 3 4"),  # where one may stand
        (
            False,
            True,
            "한국,말 བོད་སྐད",
            "한국 말 བོད སྐད",
        ),  # the first have spaces, the second dots, between words
        (False, True, "好，$，好", "好$好"),
        (False, False, "cafe\u0301 ole\u0301", "caf\u00e9 ol\u00e9"),  # NFD
        (False, False, "hel\u200blo wor\u00adld\ufeff", "hello world"),
        (False, True, "it\u02bcs it\u2018s it\uff07s it\u00b4s \u02bctis", "it's it's it's it's \u02bctis"),
        (
            False,
            True,
            "x\u0302\u2019s \u0915\u094d\u092f\u093e'\u0938",
            "x\u0302's \u0915\u094d\u092f\u093e'\u0938",
        ),
        (True, False, "J\u030c", "\u01f0"),  # composed only in lower case
        (False, False, "it &apos;s &quot;a&quot; &#124; AT&amp;T", 'it \'s "a" | AT&T'),
        (False, False, "he ho@@ ped th@@", "he hoped th"),
        (False, False, "\u2581he \u2581ho ped </s>", "he hoped"),
        (False, False, "\u2581he\u2581hoped<eos>", "he hoped"),
        (False, False, "he\u2581hoped there", "he hoped there"),
        (False, False, "<s> Hello \uffed, you </s> </s>", "Hello, you"),
        (False, False, "a \uffed \uffed b  \uffed\uffed", "ab"),
        (False, False, " <pad> <s>  a <eos> </s> b <eos>\n</s> <pad> ", "a b"),
        (False, False, "<pad> <pad>", ""),
        (False, False, "<|0.00|> the cat<|1.00|><|en|>", "the cat"),
        (False, False, "[CLS] the <eps> cat <SIL> <blank> [SEP]<EOS>", "the cat"),
        (False, False, "the|cat", "the cat"),
        (False, False, "t h e | c a t |", "the cat"),
        (False, False, "the c ##at ## 1", "the cat ## 1"),
        (False, False, "\u0120the \u0120c af\u00c3\u00a9", "the caf\u00e9"),
        (False, False, "the</w> c at</w>", "the cat"),
        (False, False, "well @-@ known @-@ to 1 @,@ 000 me@here", "well-known-to 1,000 me@here"),
        (
            False,
            False,
            "it&#39;s&nbsp;the&#x27;s caf&eacute; &bra; &nothing; AT&T",
            "it's the's caf\u00e9 [ &nothing; AT&T",
        ),
        (False, False, "the\x07 cat\x9b sat\x0bon\x0cthe\x85mat\U000e0101", "the cat sat on the mat"),
        (False, False, "a < b & c <unk> @@ x", "a < b & c <unk> @@ x"),
    ],
)
def test_texts(lowercase: bool, strip: bool, text: str, expected: str) -> None:
    setting = Normalisation(lowercase, strip)
    assert setting.text(text) == expected
    assert setting.text(setting.text(text)) == expected


@pytest.mark.parametrize(
    "text",
    ["<{} x", "\uffed{}x", "a{}\uffed\uffed{}<", "</s>{}x</s>", "@@{}<"],
)
@pytest.mark.parametrize("part", [" ", "</s>", "@@ ", " \uffed"])
def test_the_time_is_linear_in_the_length(text: str, part: str) -> None:
    def seconds(size: int) -> float:
        long = text.format(part * size, part * size)
        started = time.process_time()
        Normalisation(lowercase=True, strip_punctuation=True).text(long)
        return time.process_time() - started

    assert seconds(64_000) < 2, "a square would be 16 s or more"


def test_lists_change_in_hypotheses_and_reference_alike() -> None:
    one = nbest("u", "A, b.", ("a B!", -1.0), ("A b", -2.0))
    (out,) = Normalisation(lowercase=True, strip_punctuation=True).lists([one])
    assert out == nbest("u", "a b", ("a b", -1.0), ("a b", -2.0))
    (missing,) = Normalisation(lowercase=True).lists([nbest("u", None, ("A", -1.0))])
    assert missing.reference is None


@pytest.mark.parametrize(
    ("name", "other"), [("caf\u00e9-1", "cafe\u0301-1"), ("\ufeffu1", "u1"), ("u1 ", "u1")]
)
def test_names_of_utterances_are_the_same_in_either_spelling(name: str, other: str) -> None:
    assert name_key(name) == name_key(other)
    assert name_key("U1") != name_key("u1")


def test_counts_of_a_set() -> None:
    assert count(lists_of("mlm-scoring", SMALL)) == {
        "lists": 4,
        "hypotheses": 8,
        "distinct_texts": 7,
        "longest_list": 3,
        "empty_hypotheses": 2,
        "lists_without_scores": 0,
        "missing_references": 1,
        "empty_references": 1,
        "reference_words": 9,
    }


def test_the_worked_example() -> None:
    assert doctest.testmod(normalise).failed == 0
