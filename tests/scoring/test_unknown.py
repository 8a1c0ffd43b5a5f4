"""What an unknown token costs, worked out by hand, and that texts without one keep their scores."""

from __future__ import annotations

import io
import math
import warnings
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import quartet
from quartet import cli
from quartet.config.ngram import TokenConfig
from quartet.errors import InputError
from quartet.export.writing import export
from quartet.ngram.score import NgramLM
from quartet.scoring import unknown
from quartet.scoring.unknown import CHARACTERS, UnknownTokensWarning
from quartet.shipped_model import IN_CLONE
from quartet.statistics.perplexity import UnknownWords
from quartet.text.tokenizer import train_tokenizer
from tests.bert import PIECES, save_bert, save_byte_level
from tests.models.shapes import VARIANTS
from tests.nbest.lists import Words, nbest
from tests.ngram.test_score import TEXTS as POTTER
from tests.ngram.test_score import WORDS, make
from tests.scoring.test_language_model import Small, random_model, save

FAR = math.log(CHARACTERS)
THANKS = "ご視聴ありがとうございました"
"""14 characters: the tokenizers cut the two ideographs out of them, 1 + 1 + 1 + 11."""


def test_the_formula_by_hand() -> None:
    known = frozenset("abcdefghijklmnopqrstuvwxyz")
    assert unknown.spread("☃", known) == pytest.approx(-11.918, abs=1e-3)
    assert unknown.spread("naïve", known) == pytest.approx(-(4 * 3.2581 + 11.9184), abs=1e-3)
    assert unknown.spread("nai\u0308ve", known) == unknown.spread("naïve", known), "in one normal form"
    assert unknown.spread(THANKS, known) == pytest.approx(-14 * FAR)


@pytest.mark.parametrize("kind", VARIANTS)
def test_models_that_were_trained_here(small_corpus: Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0])
    texts = ["the miller", f"the {THANKS} miller", "a mill☃r", "中"]
    raw = model.token_logprobs(texts)
    own = math.log(len(model.tokenizer.alphabet))
    expected = [0.0, 14 * FAR, 5 * own + FAR, FAR]
    found = model.score(texts)
    assert found[0] == float(raw[0].sum()), "to the last bit"
    for score, values, costs in zip(found, raw, expected, strict=True):
        assert score == pytest.approx(float(values.sum()) - costs)
    assert model.score(texts[:1], unknown="error") == pytest.approx(found[:1])
    with pytest.warns(UnknownTokensWarning):
        assert model.score(texts, unknown="warn") == [float(values.sum()) for values in raw]


def test_figures_a_word_spell_what_scores_spread(small_corpus: Small) -> None:
    model = random_model("tta", small_corpus[0])
    found = unknown.unknown_words(model, ["the miller", f"the {THANKS} a mill☃r"])
    own = math.log(len(model.tokenizer.alphabet))
    assert found.tokens == [0, 5]
    assert found.nats == pytest.approx([0.0, -(15 * FAR + 5 * own)])
    assert found.told_apart
    assert not unknown.unknown_words(object(), ["a"]).told_apart, "it cannot tell"


def test_the_texts_own_unk_is_a_word() -> None:
    """WikiText's, which the tokenizer reads as [UNK]; another word is spelled."""
    tokenizer = train_tokenizer("whitespace", ["a b <unk> c", "a c"], 20, False)
    model = SimpleNamespace(unknown_tokens=partial(unknown.of_tokenizer, tokenizer))
    spread = UnknownWords([2], [-(math.log(3) + FAR)])
    assert unknown.unknown_words(model, ["a <unk> b☃"]) == spread


def test_an_ngram_models_unknown_words_are_spelled_in_figures_a_word(tmp_path: Path) -> None:
    model = quartet.load(make(tmp_path / "mine", WORDS, POTTER))
    assert isinstance(model, NgramLM)
    (found,) = model.unknown_tokens(["the potterx ☃"])
    letters = {sign for text in POTTER for word in text.lower().split() for sign in word}
    assert model.alphabet is not None
    assert model.alphabet <= letters
    known = sum(sign in model.alphabet for sign in "potterx")
    expected = known * math.log(len(model.alphabet)) + (8 - known) * FAR
    assert found.words == ["potterx", "☃"]
    assert model.spelled(found) == pytest.approx(-expected)
    assert unknown.unknown_words(model, ["the potterx ☃"]) == UnknownWords([2], [-expected])


def test_the_alphabet_is_that_of_the_pieces(small_corpus: Small) -> None:
    tokenizer = small_corpus[0]
    pieces = tokenizer.tokens(range(7, tokenizer.vocab_size))
    bare = [piece[2:] if piece.startswith("##") and piece != "##" else piece for piece in pieces]
    assert tokenizer.alphabet == set("".join(bare))
    assert set("abcxyz019#!") <= tokenizer.alphabet
    assert not set("É中☃") & tokenizer.alphabet


def test_an_export_as_its_model(small_corpus: Small, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    save(random_model("tta", small_corpus[0]), tmp_path / "model")
    export(tmp_path / "model", tmp_path / "graph", "onnx")
    model, exported = (quartet.load(tmp_path / name) for name in ("model", "graph"))
    texts = ["the miller", f"the {THANKS} miller", "中"]
    assert exported.unknown_tokens(texts) == model.unknown_tokens(texts)
    assert exported.score(texts) == pytest.approx(model.score(texts), abs=1e-3)


def test_models_of_hugging_face(tmp_path: Path) -> None:
    for name in ("bert", "gpt2"):
        (tmp_path / name).mkdir()
    save_bert(tmp_path / "bert")
    save_byte_level(tmp_path / "gpt2", "gpt2")
    bert, gpt2 = quartet.load(tmp_path / "bert"), quartet.load(tmp_path / "gpt2")
    texts = ["the cat", "the ☃ cat", f"cat{THANKS}"]
    letters = {character for piece in [PIECES[1], *PIECES[7:]] for character in piece.removeprefix("##")}
    raw = [float(values.sum()) for values in bert.token_logprobs(texts)]
    # "cat" and the kana before the first ideograph are one word: c, a, t are known letters
    costs = [0.0, FAR, 3 * math.log(len(letters)) + 14 * FAR]
    assert bert.score(texts) == pytest.approx(
        [value - cost for value, cost in zip(raw, costs, strict=True)], abs=1e-4
    )
    assert bert.score(texts)[0] == raw[0]
    assert gpt2.score(texts) == [float(values.sum()) for values in gpt2.token_logprobs(texts)]
    assert not any(each.places for each in gpt2.unknown_tokens(texts)), "bytes spell everything"


def test_a_tokenizer_that_does_not_say_where_its_tokens_stand() -> None:
    """What it cannot spell in a text is in equal parts on the text's unknown tokens."""

    class Slow:
        is_fast, unk_token_id, all_special_tokens = False, 0, ("[UNK]",)
        get_vocab = {"[UNK]": 0, "the": 1, "cat": 2}.copy

    ids = {"the cat": [1, 2], "☃ the 中文": [0, 1, 0]}
    found = unknown.of_transformers(
        Slow(), lambda texts: {"input_ids": [ids[text] for text in texts]}, [*ids]
    )
    assert found[0] == unknown.UnknownTokens(2)
    assert (found[1].tokens, found[1].places) == (3, [0, 2])
    assert found[1].spread == pytest.approx([-1.5 * FAR] * 2)


def test_letters_of_scripts_without_spaces_are_words_of_an_ngram_model(tmp_path: Path) -> None:
    model = quartet.load(make(tmp_path / "mine", WORDS, POTTER))
    texts = ["the rabbit", "the zzz rabbit", "the ありがとう rabbit"]
    raw = [float(values.sum()) for values in model.token_logprobs(texts)]
    one = float(model._model.score("<unk>", bos=False, eos=False)) * math.log(10)  # type: ignore[union-attr]
    assert one < 0
    found = model.score(texts)
    assert found[:2] == raw[:2]
    assert found[2] == pytest.approx(raw[2] + 4 * one)
    assert [each.places for each in model.unknown_tokens(texts)] == [[], [1], [1]]


def test_an_ngram_model_without_punctuation_has_no_figure_per_word_of_texts_with_it(tmp_path: Path) -> None:
    strip, split = (
        quartet.load(make(tmp_path / rule, TokenConfig(lowercase=True, punctuation=rule), POTTER))  # type: ignore[arg-type]
        for rule in ("strip", "split")
    )
    plain, marked = ["the potter"], ["the potter", "the potter, the well-known."]
    assert unknown.unknown_words(strip, plain).told_apart
    assert not unknown.unknown_words(strip, marked).told_apart, "it predicts a text without punctuation"
    assert unknown.unknown_words(split, marked).told_apart


def test_pieces_of_an_ngram_model(small_corpus: Small, tmp_path: Path) -> None:
    tokenizer = small_corpus[0]
    folder = make(tmp_path / "pieces", TokenConfig(units="pieces"), ["the miller", "millers 中"], tokenizer)
    model = quartet.load(folder)
    raw = [float(values.sum()) for values in model.token_logprobs(["the miller", "the ☃"])]
    assert model.score(["the miller", "the ☃"]) == pytest.approx([raw[0], raw[1] - FAR])


def test_an_unknown_script_does_not_win_with_the_model_that_comes_with_the_project() -> None:
    model = quartet.load(IN_CLONE)
    english = "thank you very much for watching and see you again in the next video"
    foreign = ["ご視聴ありがとうございました", "спасибо за просмотр", "ขอบคุณที่รับชม", "谢谢大家的观看"]
    for text in foreign:
        lists = [nbest("u", None, (text, -1.0), (english, -1.0))]
        for score in ("sum", "mean"):
            found = quartet.rescore(model, lists, weight=1.0, score=score)
            assert found[0]["best"] == english, (text, score)


LISTS = [nbest("u1", "the miller", ("the ☃ miller", -1.0), ("the miller", -1.5))]


@pytest.fixture
def model(small_corpus: Small) -> Any:
    return random_model("tta", small_corpus[0])


def test_rescoring_counts_and_handles_them(model: Any, tmp_path: Path) -> None:
    cache = tmp_path / "scores.sqlite"
    raw = {text: float(model.token_logprobs([text])[0].sum()) for text in ("the ☃ miller", "the miller")}
    found = quartet.rescore(model, LISTS, weight=0.5, cache=cache)
    lm = {each["text"]: each["lm"] for each in found[0]["hypotheses"]}
    assert lm == pytest.approx(
        {"the ☃ miller": raw["the ☃ miller"] - FAR, "the miller": raw["the miller"]}, abs=1e-5
    )
    assert found.unknown is not None
    assert (found.unknown.texts, found.unknown.of_texts) == (1, 2)
    assert (found.unknown.tokens, found.unknown.of_tokens) == (
        1,
        len(model.tokenizer.encode("the miller")) * 2 + 1,
    )
    with pytest.warns(UnknownTokensWarning):
        found = quartet.rescore(model, LISTS, weight=0.5, cache=cache, unknown="warn")
    assert {each["text"]: each["lm"] for each in found[0]["hypotheses"]} == pytest.approx(raw, abs=1e-5)


def test_an_error_comes_before_anything_is_scored(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "token_logprobs", None)
    for call in (
        lambda: quartet.rescore(model, LISTS, weight=0.5, unknown="error"),
        lambda: model.score(["a", "the ☃"], unknown="error"),
    ):
        with pytest.raises(InputError, match="☃"):
            call()
    with pytest.raises(InputError, match=r"unknown.*spread"):
        quartet.rescore(model, LISTS, weight=0.5, unknown="ignore")  # type: ignore[arg-type]


def test_a_scorer_that_cannot_tell_is_taken_as_it_is() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = quartet.rescore(Words(), LISTS, weight=0.5, unknown="warn")
    assert found.unknown is None


def test_the_commands(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model").mkdir()
    save(model, tmp_path / "model")
    lists = tmp_path / "lists.jsonl"
    lists.write_text('{"utt": "u", "hypotheses": [{"text": "the ☃", "score": -1}]}\n', encoding="utf-8")
    rescoring = ["rescore", "--nbest", str(lists), "--format", "jsonl", "--lm-weight", "1"]
    rescoring += ["--out", str(tmp_path / "out.jsonl"), "--no-strip-punctuation"]

    def run(text: str, *words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
        with pytest.raises(SystemExit) as stop, warnings.catch_warnings():
            warnings.simplefilter("error", UnknownTokensWarning)
            cli.main([*words, "--model", str(tmp_path / "model")])
        said = capsys.readouterr()
        return int(stop.value.code or 0), said.out, said.err

    code, spread, said = run("the ☃\nthe\n", "score")
    assert code == 0
    assert said.startswith("tta: 1 of ")
    assert len(said.splitlines()) == 1
    code, kept, said = run("the ☃\nthe\n", "score", "--unknown", "warn")
    assert code == 0
    assert len(said.splitlines()) == 1
    one, other = ([float(value) for value in each.split()] for each in (spread, kept))
    assert one == pytest.approx([other[0] - FAR, other[1]], abs=1e-4)
    assert run("the\n", "score")[2] == "", "nothing to say"
    code, _, said = run("the ☃\n", "score", "--unknown", "error")
    assert code == 2
    assert said.startswith("error: ")
    shard = ("--cache", str(tmp_path / "scores.sqlite"), "--shard", "1/1")
    for handling, code in (("error", 2), ("spread", 0), ("warn", 0)):
        for more in (shard, ()):
            found, _, said = run("", *rescoring, "--unknown", handling, *more)
            assert found == code
            assert "unknown" in said
            assert (tmp_path / "scores.sqlite").exists() == (code == 0)
