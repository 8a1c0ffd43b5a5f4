"""The commands of jiwer and sacrebleu on the written texts give the figures of the results, to the last digit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jiwer
import pytest
import sacrebleu

from quartet.nbest.formats import NBestFiles
from quartet.nbest.rescoring import RescoredLists, rescore
from quartet.nbest.types import Hypothesis, NBest
from tests.nbest.lists import Words, nbest, random_lists

WEIGHT = 0.35


def command(*arguments: str) -> str:
    """What a program that was installed beside this Python prints."""
    program = Path(sys.executable).with_name(arguments[0])
    done = subprocess.run([program, *arguments[1:]], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def with_two_letters(lists: list[NBest]) -> list[NBest]:
    """Each text behind a word: none is empty, none is a single letter."""
    return [
        NBest(
            one.utterance,
            tuple(Hypothesis(f"le {each.text}", each.score) for each in one.hypotheses),
            None if one.reference is None else f"le {one.reference}",
        )
        for one in lists
    ]


def written(found: RescoredLists, folder: Path) -> tuple[str, str, int]:
    """The files of best hypotheses and of references, and how many of their lines are short."""
    texts, references = folder / "hyp.txt", folder / "ref.txt"
    short = found.write_counted(texts, references)
    return str(texts), str(references), short


@pytest.mark.parametrize(("metric", "options"), [("wer", []), ("cer", ["-c"])])
def test_jiwers_command_gives_the_error_rate(tmp_path: Path, metric: str, options: list[str]) -> None:
    found = rescore(Words(), with_two_letters(random_lists(200, seed=41)), weight=WEIGHT, metric=metric)
    assert found.candidates.first_pass_selection.without_reference > 0, "lists without one are in no file"
    texts, references, short = written(found, tmp_path)
    assert short == 0
    assert found.value is not None and found.value != found.first_pass
    assert 100 * float(command("jiwer", *options, "-r", references, "-h", texts)) == found.value


@pytest.mark.parametrize(("lowercase", "tokenize"), [(False, "13a"), (True, "intl"), (False, "none")])
def test_sacrebleus_command_gives_bleu(tmp_path: Path, lowercase: bool, tokenize: str) -> None:
    from quartet.nbest.metrics import Bleu

    metric = Bleu(lowercase, tokenize)  # type: ignore[arg-type]
    found = rescore(Words(), random_lists(200, seed=42), weight=WEIGHT, metric=metric)
    texts, references, short = written(found, tmp_path)
    assert short > 0, "sacrebleu counts empty lines too"
    options = [*(["-lc"] if lowercase else []), "--tokenize", tokenize, "--score-only", "--width", "14"]
    assert command("sacrebleu", references, "-i", texts, *options) == f"{found.value:.14f}"


@pytest.mark.parametrize(
    ("pairs", "short", "errors", "said"),
    [
        ([("a", "a"), ("le chat", "le chien")], 2, 1, 1 / 2),  # of the second line alone
        ([("a", "le chat"), ("le chat", "")], 2, 4, 0.0),  # one reference against the other's hypothesis
        ([("a", "la"), ("le chat", "le chat")], 1, 1, None),  # an error: not as many lines
    ],
)
def test_jiwers_command_drops_short_lines_and_its_functions_do_not(
    tmp_path: Path, pairs: list[tuple[str, str]], short: int, errors: int, said: float | None
) -> None:
    """The reason why `write_texts` counts them; should jiwer change, that count has lost its reason."""
    lists = [nbest(reference, reference, (best, -1.0)) for reference, best in pairs]
    found = rescore(Words(), lists, weight=WEIGHT)
    texts, references, count = written(found, tmp_path)
    assert count == short
    lines = [Path(file).read_text(encoding="utf-8").splitlines() for file in (references, texts)]
    assert found.value == 100 * jiwer.wer(*lines) == 100 * (errors / 3)
    if said is None:
        with pytest.raises(subprocess.CalledProcessError) as caught:
            command("jiwer", "-r", references, "-h", texts)
        assert "do not match" in caught.value.stderr
    else:
        assert float(command("jiwer", "-r", references, "-h", texts)) == said


def test_without_references_every_list_has_its_line(tmp_path: Path) -> None:
    lists = random_lists(30, seed=44)
    found = rescore(Words(), lists, weight=WEIGHT)
    found.write_texts(tmp_path / "hyp.txt")
    assert (tmp_path / "hyp.txt").read_text(encoding="utf-8").splitlines() == [
        row["transcript"] for row in found
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["hyp.txt"]


def test_what_the_decoder_lost_counts_as_sacrebleu_counts_an_empty_line(tmp_path: Path) -> None:
    references = ["the cat sat on the mat", "a dog ran over the hill", "it rained all day long today"]
    (tmp_path / "refs").write_text("".join(f"{text}\n" for text in references))
    (tmp_path / "lists").write_text("".join(f"{n} ||| {references[n]} ||| f= 1 ||| -1\n" for n in (0, 2)))
    files = NBestFiles(tmp_path / "lists", references=tmp_path / "refs")
    found = rescore(Words(), files, weight=0.0, format="moses", metric="bleu")
    expected = sacrebleu.corpus_bleu([references[0], "", references[2]], [references]).score
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert expected < 70
    assert (found.missing, [row.get("missing") for row in found]) == (("1",), [None, True, None])
    found.write_texts(tmp_path / "out")
    assert (tmp_path / "out").read_text().splitlines() == [references[0], "", references[2]]
    without = rescore(Words(), files, weight=0.0, format="moses", metric="bleu", skip_missing=True)
    assert without.value == pytest.approx(100.0)
    assert (without.missing, len(without)) == ((), 2)


def test_the_chosen_transcript_is_written_as_it_was_given_and_as_it_was_counted(tmp_path: Path) -> None:
    given = "Hello, world: it costs $3.50!"
    found = rescore(Words(), [nbest("u", f"{given}\n", (given, -1.0), ("no", -2.0))], weight=0.0)
    found.write_texts(tmp_path / "text", tmp_path / "ref")
    found.write_counted(tmp_path / "counted", tmp_path / "counted-ref")
    assert (tmp_path / "text").read_text() == f"{given}\n"
    assert (tmp_path / "ref").read_text().rstrip() == given
    assert (tmp_path / "counted").read_text() == (tmp_path / "counted-ref").read_text()
    assert (tmp_path / "counted").read_text() == "hello world it costs $3 50\n"
    assert (found[0]["transcript"], found[0]["best"]) == (given, "hello world it costs $3 50")
