"""What lists and references are is told by their words: names, other texts, tokens that one side alone has."""

from __future__ import annotations

from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.nbest.formats import NBestFiles, read
from quartet.nbest.guards import check_shared_words, look_like_names, stray_tokens
from tests.nbest.lists import nbest

NUMBERS = ("one", "two", "three", "four", "five", "six")
HEARD = [
    nbest(str(place), f"the {word} cats", (f"the {word} cat", -1.0)) for place, word in enumerate(NUMBERS)
]


def test_first_words_that_no_list_has_are_names() -> None:
    assert look_like_names(["1089-0 the one cats", "1089-1 the two cats"], HEARD) == ["1089-0", "1089-1"]
    assert look_like_names([f"speaker{chr(97 + at)} the cats" for at in range(10)], HEARD)
    assert not look_like_names(["alpha the one cats", "beta the two cats"], HEARD), (
        "two such lines may be texts"
    )
    assert not look_like_names(["1089-0 the one cats", "1089-0 the two cats"], HEARD), "names differ"
    assert not look_like_names(["one cats", "1089-1 the two cats"], HEARD), "a hypothesis has the word"


def test_names_are_no_words_of_references(tmp_path: Path) -> None:
    (tmp_path / "beams.tsv").write_text("he hoped\t-1\nhe hope\t-2\nstuff it\t-1\nstuff in\t-2\n")
    (tmp_path / "refs.txt").write_text("1089-0000 HE HOPED\n1089-0001 STUFF IT\n")
    files = NBestFiles(tmp_path / "beams.tsv", references=tmp_path / "refs.txt", beam=2)
    with pytest.raises(InputError, match='begin with names \\("1089-0000", "1089-0001"'):
        read("nemo", files)
    (tmp_path / "refs.txt").write_text("HE HOPED\nSTUFF IT\n")
    assert [one.reference for one in read("nemo", files).lists] == ["HE HOPED", "STUFF IT"]


def test_references_of_other_texts_are_refused() -> None:
    check_shared_words(HEARD, "refs")
    other = [nbest(one.utterance, "eins zwei drei", ("the cat", -1.0)) for one in HEARD]
    with pytest.raises(InputError, match=r'0 of the 18 words .* "eins zwei drei" stands beside "the cat"'):
        check_shared_words(other, "refs")
    check_shared_words(other[:4], "refs")
    chinese = [nbest(one.utterance, "今天天气很好", ("今天天气好", -1.0)) for one in HEARD]
    check_shared_words(chinese, "refs")


def test_a_token_of_one_side_is_named_with_its_count() -> None:
    marked = [
        nbest(one.utterance, one.reference, (f"{one.hypotheses[0].text} zzend", -1.0)) for one in HEARD[:5]
    ] + HEARD[5:]
    assert not stray_tokens(HEARD[:4])
    lines = stray_tokens(marked)
    assert [line.partition(" ")[0] for line in lines] == ['"cat"', '"zzend"', '"cats"']
    assert lines[1].startswith('"zzend" is in 5 of 6 first hypotheses and in none of the references; WER')
    assert "61.11, without it 33.33" in lines[1], "6 of 18 words are cat for cats, and 5 are insertions"
