"""Moses, NeMo and Kaldi: what is legal is read exactly, what is malformed is named with its line."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.nbest.formats import IngestedLists, NBestFiles, read
from tests.nbest.lists import nbest

MOSES = """\
0||| this one .  ||| d: 0 -7.6 lm: -41 w: -9 ||| -14.6
0 ||| this , two ||| LM0= -41.3 Distortion0= 0 ||| -1.5e1 ||| 0-0 1-2=2 ||| 0-1
0 |||  ||| lm_0=-3.5 tm=2 ||| -20
2 ||| a ||| ||| 3
"""


def moses(tmp_path: Path, text: str, references: str | None = None, skip: bool = False) -> IngestedLists:
    path = tmp_path / "nbest.gz"
    path.write_bytes(gzip.compress(text.encode()))
    other = None if references is None else tmp_path / "reference.txt"
    if other is not None:
        other.write_text(references)
    return read("moses", NBestFiles(path, references=other), skip)


def test_moses_in_its_several_styles(tmp_path: Path) -> None:
    reading = moses(tmp_path, MOSES, "first\nlost\n\nlost too\n")
    assert reading.lists == [
        nbest("0", "first", ("this one .", -14.6), ("this , two", -15.0), ("", -20.0)),
        nbest("1", "lost", ("", 0.0)),
        nbest("2", "", ("a", 3.0)),
        nbest("3", "lost too", ("", 0.0)),
    ]
    assert reading.missing == ("1", "3")
    without = moses(tmp_path, MOSES)
    assert [one.utterance for one in without.lists] == ["0", "1", "2"], "a gap shows without references too"
    assert without.missing == ("1",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 ||| a ||| f ||| nan\n", 'nbest.gz:1: a finite number was expected as the score, not "nan"'),
        ("0 ||| a ||| f ||| 1e999\n", "nbest.gz:1: the score is inf"),
        ("0 ||| a ||| f\n", "nbest.gz:1: has 3 fields"),
        ("0 ||| a ||| f ||| -1", "nbest.gz:1: the last line does not end"),
        ("0 ||| a ||| f ||| -1\n\n", "nbest.gz:2: does not start with a sentence's number"),
        ("00 ||| a ||| f ||| -1\n", "nbest.gz:1: does not start with a sentence's number"),
        (
            "0 ||| a ||| f ||| -1\n1 ||| a ||| f ||| -1\n0 ||| b ||| f ||| -2\n",
            'sentence "0": occurs twice, first on',
        ),
        ("0 ||| a ||| f ||| -1.51 ||| b ||| f ||| -2\n", "two lines may run together"),
    ],
)
def test_malformed_moses_lines_are_named(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        moses(tmp_path, text)
    assert words in str(caught.value)


MARIAN = """\
0 ||| hello world ||| 0-0 1-1 ||| F0= -3.2 ||| -1.6
0 ||| hello word ||| 0.9,0.1 0.2,8e-1 ||| WordScores= -1.5 -2.5 ||| F0= -4 ||| -2
0 ||| |||  ||| F0=-6 ||| -3
1 ||| hello ||| WordScores= -0.5 ||| F0= -0.5 F1= -1 ||| -0.75
1 ||| 0-0 ||| F0= -2 ||| -1
"""


def test_marian_has_alignments_and_scores_of_words_before_the_features(tmp_path: Path) -> None:
    """As its output_printer.h prints: text, alignment, word scores, breakdown of the score, the normalised score."""
    assert moses(tmp_path, MARIAN).lists == [
        nbest("0", None, ("hello world", -1.6), ("hello word", -2.0), ("", -3.0)),
        nbest("1", None, ("hello", -0.75), ("0-0", -1.0)),
    ]


def test_a_lost_line_takes_the_lists_beside_it_with_it(tmp_path: Path) -> None:
    rows = [f"{sentence} ||| a ||| f ||| -1" for sentence in (0, 0, 1, 2, 2, 3)]
    reading = moses(tmp_path, "\n".join([*rows[:3], "||| lost", *rows[3:]]) + "\n", skip=True)
    assert [one.utterance for one in reading.lists] == ["0", "3"]
    assert reading.entries == 5
    assert [str(error).partition("nbest.gz:")[2][:1] for error in reading.refused] == ["4", "3", "5"]


def test_moses_references_must_reach_the_last_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"reference\.txt: has 2 lines, and the lists go up to number 2"):
        moses(tmp_path, MOSES, "first\nsecond\n")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.tsv", "id\ttext\n{0}\tone\n{1}\ttwo\n{2}\tthree\n"),
        ("r.json", '{{"{0}": "one", "{1}": "two", "{2}": "three"}}\n'),
        ("r.trn", "one ({0})\ntwo ({1})\nthree ({2})\n"),
    ],
)
@pytest.mark.parametrize("form", ["moses", "nemo"])
def test_named_references_are_numbered_as_the_lists_are(
    form: str, name: str, content: str, tmp_path: Path
) -> None:
    """Else each list would have the reference of its neighbour, and one none."""
    right, wrong, line, beam = (
        (0, 1, "{0} ||| {0} ||| ||| -1\n", None) if form == "moses" else (1, 0, "{0}\t-1\n", 1)
    )
    files = NBestFiles(tmp_path / "nbest", references=tmp_path / name, beam=beam)
    files.hypotheses.write_text("".join(line.format(at) for at in range(3)))
    (tmp_path / name).write_text(content.format(wrong, wrong + 1, wrong + 2))
    with pytest.raises(InputError, match=f"number the references from {right}"):
        read(form, files)
    (tmp_path / name).write_text(content.format(right, right + 1, right + 2))
    assert [one.reference for one in read(form, files).lists] == ["one", "two", "three"]


def test_moses_numbers_from_1_are_refused_with_a_remedy_that_works(tmp_path: Path) -> None:
    rows, refs = ["{} ||| a ||| ||| -1\n", "{} ||| b ||| ||| -1\n"], "a\nb\n"
    numbered = {first: "".join(row.format(first + at) for at, row in enumerate(rows)) for first in (0, 1)}
    for references in (refs, None):
        with pytest.raises(InputError, match="number the lists from 0"):
            moses(tmp_path, numbered[1], references)
        assert [one.utterance for one in moses(tmp_path, numbered[0], references).lists] == ["0", "1"]
    lost = moses(tmp_path, "0 ||| ||| ||| 0\n" + numbered[1])
    assert [one.hypotheses[0].text for one in lost.lists] == ["", "a", "b"]
    lost = moses(tmp_path, numbered[1], "lost\n" + refs)
    assert (lost.missing, [one.reference for one in lost.lists]) == (("0",), ["lost", "a", "b"])
    path = tmp_path / "nbest.gz"
    left = read("moses", NBestFiles(path), skip_missing=True)
    assert [one.utterance for one in left.lists] == ["1", "2"]


def nemo(
    tmp_path: Path, text: str, beam: int = 2, references: str | None = None, skip: bool = False
) -> IngestedLists:
    path = tmp_path / "beams.tsv"
    path.write_text(text)
    other = None if references is None else tmp_path / "reference.txt"
    if other is not None:
        other.write_text(references)
    return read("nemo", NBestFiles(path, references=other, beam=beam), skip)


def test_nemo_beams_are_told_apart_by_counting(tmp_path: Path) -> None:
    text = "a b\t-1.25\n\t-2\nc\t-0.5\nd  e\t-.75\n"
    assert nemo(tmp_path, text, references="a b\n\n").lists == [
        nbest("1", "a b", ("a b", -1.25), ("", -2.0)),
        nbest("2", "", ("c", -0.5), ("d  e", -0.75)),
    ]
    with pytest.raises(InputError, match=r"reference\.txt: has 3 lines for 2 lists"):
        nemo(tmp_path, text, references="a\nb\nc\n")
    with pytest.raises(InputError, match=r"beams\.tsv:4: utterance 2: has 1 of 3 lines; the beam is another"):
        nemo(tmp_path, text, beam=3)
    with pytest.raises(
        InputError, match=r"beams\.tsv:2: a text, a tab and a score were expected, not 1 fields"
    ):
        nemo(tmp_path, "a\t-1\nb -2\n")
    with pytest.raises(InputError, match=r'beams\.tsv:1: .* not "-inf"'):
        nemo(tmp_path, "a\t-inf\nb\t-2\n")


def test_nemo_refuses_a_list_and_keeps_the_count_of_the_others(tmp_path: Path) -> None:
    reading = nemo(tmp_path, "a\t-1\nb\t-2\nc\nd\t-4\ne\t-5\nf\t-6\n", references="A\nC\nE\n", skip=True)
    assert [(one.utterance, one.reference) for one in reading.lists] == [("1", "A"), ("3", "E")]
    assert (reading.entries, len(reading.refused)) == (3, 1)


@pytest.mark.parametrize("sign", [1, -1])
def test_nemo_names_the_beam_that_the_scores_tell(sign: int, tmp_path: Path) -> None:
    first = [-1.0, -2.5, -2.0, -3.5]
    text = "".join(f"t{at}\t{sign * (score - step)}\n" for at, score in enumerate(first) for step in range(3))
    for beam in (2, 4):
        with pytest.raises(InputError) as caught:
            nemo(tmp_path, text, beam)
        assert "beam 3" in caught.value.remedy
    path = tmp_path / "beams.tsv"
    read(
        "nemo", NBestFiles(path, beam=4), scores_are="scores"
    )  # it is said: lists of 4 that are not in order
    lists = read("nemo", NBestFiles(path, beam=3), scores_are="scores" if sign == 1 else "costs").lists
    assert [one.first_pass[0] for one in lists] == first


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("beam", [2, 8, 16])
def test_nemo_names_a_beam_of_which_the_given_one_is_a_multiple_or_a_part(
    beam: int, sign: int, tmp_path: Path
) -> None:
    first = random.Random(1).choices(range(-20, 0), k=32)
    text = "".join(f"t\t{sign * (score - step)}\n" for score in first for step in range(4))
    with pytest.raises(InputError) as caught:
        nemo(tmp_path, text, beam)
    assert "beam 4" in caught.value.remedy
    path = tmp_path / "beams.tsv"
    lists = read("nemo", NBestFiles(path, beam=4), scores_are="scores" if sign == 1 else "costs").lists
    assert [one.first_pass[0] for one in lists] == first
    assert len(read("nemo", NBestFiles(path, beam=beam), scores_are="scores").lists) == 128 // beam


@pytest.mark.parametrize("beam", [2, 3, 8])
def test_nemo_lists_with_any_scores_are_seldom_refused(beam: int, tmp_path: Path) -> None:
    """Of lists of many lengths, in any order of the scores within a list and of the lists; few rise in all."""
    draw = random.Random(beam)
    for count in range(2, 60):
        lists = [sorted(draw.choices(range(-99, 0), k=beam), reverse=True) for _ in range(count)]
        if count % 2:
            lists.sort(reverse=True)
        for one in lists[::3]:
            at = draw.randrange(beam - 1)
            one[at], one[at + 1] = one[at + 1], one[at]
        nemo(tmp_path, "".join(f"t\t{score}\n" for one in lists for score in one), beam)


def test_nemo_lists_out_of_order_may_have_another_beam(tmp_path: Path) -> None:
    scores = (-3, -2, -1, -9, -8, -8.5, -7, -5, -6)
    with pytest.raises(InputError) as caught:
        nemo(tmp_path, "".join(f"t\t{score}\n" for score in scores), 1 + 2)
    assert "--beam" in caught.value.remedy
    assert "--scores-are" in caught.value.remedy


@pytest.mark.parametrize(
    ("beam", "scores"),
    [(2, [-1, -2, -3, -4, -1, -5, -6, -7]), (3, [-1, -1, -2, -1, -1, -1]), (4, [-1, -1, -1, -2])],
)
def test_nemo_beams_that_fit_their_scores_are_read(beam: int, scores: list[float], tmp_path: Path) -> None:
    lists = nemo(tmp_path, "".join(f"t\t{score}\n" for score in scores), beam).lists
    assert [one.first_pass[0] for one in lists] == scores[::beam]


TEXT = "spk-u-2-1 a b\nspk-u-2-2\nspk-u-1-2 d\nspk-u-1-1  c\n"
ACOUSTIC = "spk-u-2-1 10\nspk-u-2-2 5.5\nspk-u-1-1 -3\nspk-u-1-2 20\n"
GRAPH = "spk-u-2-1 1\nspk-u-2-2 4\nspk-u-1-1 2\nspk-u-1-2 0.25\n"


def kaldi(
    tmp_path: Path, text: str = TEXT, costs: tuple[str, ...] = (ACOUSTIC, GRAPH), skip: bool = False
) -> IngestedLists:
    (tmp_path / "text").write_text(text)
    scores = []
    for name, content, weight in zip(("ac_cost", "lm_cost"), costs, (0.5, 1.0), strict=False):
        (tmp_path / name).write_text(content)
        scores.append((tmp_path / name, weight))
    return read("kaldi", NBestFiles(tmp_path / "text", tuple(scores)), skip)


def test_kaldi_scores_are_minus_the_weighted_costs(tmp_path: Path) -> None:
    assert kaldi(tmp_path).lists == [
        nbest("spk-u-2", None, ("a b", -6.0), ("", -6.75)),
        nbest("spk-u-1", None, ("c", -0.5), ("d", -10.25)),
    ]
    assert kaldi(tmp_path, costs=()).lists == [
        nbest("spk-u-2", None, ("a b", None), ("", None)),
        nbest("spk-u-1", None, ("c", None), ("d", None)),
    ]


def test_kaldi_ids_and_costs_are_no_words(tmp_path: Path) -> None:
    """A language model scores them without a word, as it does any text."""
    with pytest.raises(InputError, match=r"holds numbers, and no words; .*int2sym\.pl -f 2- words\.txt"):
        kaldi(tmp_path, "u-1 12 4031 7\nu-2 12 4031\nu-3\n", costs=())
    with pytest.raises(InputError, match="costs are for --scores"):
        kaldi(tmp_path, ACOUSTIC, costs=())
    digits = kaldi(tmp_path, "u-1 1 2 7\nu-2 1 2\n", costs=()).lists
    assert digits == [nbest("u", None, ("1 2 7", None), ("1 2", None))]
    assert kaldi(tmp_path, "u-1 in 1999\nu-2 1999\n", costs=()).entries == 1


@pytest.mark.parametrize(
    ("text", "costs", "words"),
    [
        (TEXT + "spk 3\n", (), 'text:5: "spk" is not an utterance, a minus and a rank'),
        (TEXT + "u-0 a\n", (), 'text:5: "u-0" is not an utterance'),
        (TEXT + "spk-u-1-1 a\n", (), 'text:5: the key "spk-u-1-1" occurs twice'),
        (TEXT + "spk-u-1-4 a\n", (), "spk-u-1-3 is missing but spk-u-1-4 is there"),
        (TEXT + "spk-u-1-3 a\n", (ACOUSTIC,), 'ac_cost: has no line "spk-u-1-3", which another file has'),
        (TEXT, (ACOUSTIC + "spk-u-1-3 2\n",), 'text: has no line "spk-u-1-3"'),
        (TEXT, (ACOUSTIC + "new-1 2\n",), 'text: has no line "new-1"'),
        (TEXT, (ACOUSTIC.replace("5.5", "nan"),), "ac_cost:2: a finite number was expected as the cost"),
        (TEXT, (ACOUSTIC, GRAPH.replace("0.25", "")), "lm_cost:4: a finite number was expected as the cost"),
        (TEXT, (ACOUSTIC + "?\n",), 'ac_cost:5: "?" is not an utterance'),
        (TEXT[:-1], (), "text:4: the last line does not end"),
    ],
)
def test_malformed_kaldi_lines_are_named(
    text: str, costs: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        kaldi(tmp_path, text, costs)
    assert words in str(caught.value)


def test_tabs_end_kaldis_keys_too(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("u1-1\thello world\nu1-2 \t hello  word\nu1-3\t\nu1-4\n")
    (tmp_path / "ac").write_text("u1-1\t1\nu1-2\t2.5\nu1-3 3\nu1-4  4\n")
    reading = read("kaldi", NBestFiles(tmp_path / "text", ((tmp_path / "ac", 2.0),)))
    assert reading.lists == [
        nbest("u1", None, ("hello world", -2.0), ("hello  word", -5.0), ("", -6.0), ("", -8.0))
    ]


def test_kaldi_refuses_an_utterance_and_keeps_the_others(tmp_path: Path) -> None:
    reading = kaldi(tmp_path, TEXT, (ACOUSTIC.replace("5.5", "nan") + "?\n", GRAPH + "new-1 2\n"), skip=True)
    assert [one.utterance for one in reading.lists] == ["spk-u-1"]
    assert reading.entries == 4
    assert len(reading.refused) == 3
