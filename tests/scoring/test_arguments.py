"""What every scorer is given: a generator is read once, and what is no collection of texts is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas  # type: ignore[import-untyped]
import pytest

import quartet
from quartet.errors import InputError
from quartet.export.writing import export
from quartet.nbest.types import Hypothesis, NBest
from quartet.pyfunc import PyfuncModel
from quartet.scoring.engine import score_all
from quartet.scoring.language_model import load
from quartet.tasks.nli.tuning import embed
from quartet.text.tokenizer import train_tokenizer
from tests.bert import save_bert, save_byte_level
from tests.nbest.lists import Words, nbest
from tests.ngram.test_score import TEXTS as POTTER
from tests.ngram.test_score import WORDS, make
from tests.scoring.test_language_model import Small, random_model, save

TEXTS = ["the cat sat", "a cat"]
KINDS = ("trained", "onnx", "bert", "gpt2", "ngram")


@pytest.fixture(scope="module")
def scorers(small_corpus: Small, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One of each kind, as a user opens it."""
    folder = tmp_path_factory.mktemp("scorers")
    for name in ("trained", "bert", "gpt2"):
        (folder / name).mkdir()
    save(random_model("bilm", small_corpus[0]), folder / "trained")
    export(folder / "trained", folder / "onnx", "onnx")
    save_bert(folder / "bert")
    save_byte_level(folder / "gpt2", "gpt2")
    make(folder / "ngram", WORDS, POTTER)
    return {kind: quartet.load(folder / kind) for kind in KINDS}


@pytest.fixture(params=KINDS)
def scorer(scorers: dict[str, Any], request: pytest.FixtureRequest) -> Any:
    return scorers[request.param]


def uses(scorer: Any) -> Iterator[Callable[[Any], Any]]:
    """Everything that takes texts."""
    yield scorer.score
    yield scorer.token_logprobs
    yield scorer.unknown_tokens
    yield lambda texts: score_all(scorer, texts)
    if hasattr(scorer, "embed"):
        yield scorer.embed


@pytest.mark.parametrize("given", [iter, tuple, np.array, pandas.Series], ids=lambda each: str(each))
def test_any_collection_is_read_as_a_list_is(scorer: Any, given: Callable[[list[str]], Any]) -> None:
    for use in uses(scorer):
        found, expected = use(given(TEXTS)), use(TEXTS)
        assert len(found) == len(TEXTS)
        assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    "wrong",
    [
        "the cat",
        b"the cat",
        {"the cat": 1},
        pandas.DataFrame({"text": TEXTS}),
        ["the cat", None],
        ["the cat", float("nan")],
        [b"the cat"],
        [TEXTS],
        ["the cat", "a\ud800b"],
        7,
        None,
    ],
    ids=repr,
)
def test_what_is_no_collection_of_texts_is_refused(scorer: Any, wrong: Any) -> None:
    for use in uses(scorer):
        with pytest.raises(InputError, match=r"^texts") as caught:
            use(wrong)
        str(caught.value).encode("utf-8")  # it can be printed


@pytest.mark.parametrize(
    "one",
    [
        nbest("u1", "a b", ("a\ud800b", -1.0)),
        nbest("u1", "a\ud800b", ("a b", -1.0)),
        nbest("u\ud8001", "a b", ("a b", -1.0)),
    ],
    ids=["hypothesis", "reference", "name"],
)
def test_rescoring_refuses_what_no_file_could_hold(one: NBest, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        quartet.rescore(Words(), [one], weight=0.5)
    str(caught.value).encode("utf-8")
    good = nbest("u2", "a", ("a", -1.0))
    found = quartet.rescore(Words(), [one, good], weight=0.5, skip_malformed=True)
    assert [row["utt"] for row in found] == ["u2"]


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (NBest("u1", (Hypothesis("a", -1.0),), float("nan")), "reference.*nan"),  # type: ignore[arg-type]
        (NBest(7, (Hypothesis("a", -1.0),), "a"), "name.*7"),  # type: ignore[arg-type]
        (NBest("u1", (Hypothesis(None, -1.0),), "a"), "hypothesis.*None"),  # type: ignore[arg-type]
    ],
    ids=["reference", "name", "hypothesis"],
)
def test_rescoring_refuses_what_a_table_holds_in_the_place_of_a_text(one: NBest, said: str) -> None:
    with pytest.raises(InputError, match=said):
        quartet.rescore(Words(), [one], weight=0.5)


def test_the_table_of_mlflow(small_corpus: Small, tmp_path: Path) -> None:
    save(random_model("tta", small_corpus[0]), tmp_path)
    scorer = PyfuncModel(load(tmp_path))
    table = scorer.predict(pandas.DataFrame({"text": TEXTS}))
    assert list(table["score"]) == pytest.approx(scorer.model.score(TEXTS))
    for wrong in ("the cat", pandas.DataFrame({"text": ["the cat", None]}), pandas.DataFrame(), [1.5]):
        with pytest.raises(InputError, match=r"^texts"):
            scorer.predict(wrong)


def test_a_generator_of_pairs_of_sentences(small_corpus: Small) -> None:
    model = random_model("tta", small_corpus[0])
    assert np.array_equal(embed(model, iter(TEXTS)), embed(model, TEXTS))  # type: ignore[arg-type]


def test_a_tokenizer_is_trained_on_texts_by_a_known_method() -> None:
    with pytest.raises(InputError, match=r"tokenizer kind.*wordpiece, word, whitespace"):
        train_tokenizer("sentencepiece", TEXTS, 50, True)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^texts"):
        train_tokenizer("word", "the cat sat", 50, True)


def test_unknown_layers_devices_and_weights_are_refused(scorers: dict[str, Any], tmp_path: Path) -> None:
    for kind in ("trained", "onnx", "bert"):
        with pytest.raises(InputError, match="context"):
            scorers[kind].embed(TEXTS, "mean")
    make(tmp_path / "ngram", WORDS, POTTER)
    with pytest.raises(InputError, match="device gpu"):
        quartet.load(tmp_path / "ngram", device="gpu")


LISTS = [nbest("u1", "a b", ("a c", -1.0), ("a b", -1.5)), nbest("u2", "d", ("d", -1.0))]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("score", "avg"),
        ("score", None),
        ("metric", "ter"),
        ("normalise", "none"),
        ("format", "csv"),
        ("scores_are", "cost"),
        ("weight", "0.5"),
        ("weight", float("nan")),
        ("weights", "0.5"),
        ("weights", 2.0),
        ("weights", []),
    ],
)
def test_rescoring_refuses_what_an_option_does_not_know(option: str, value: Any) -> None:
    others: dict[str, Any] = {"tune": LISTS} if option == "weights" else {"weight": 0.5}
    with pytest.raises(InputError, match=option):
        quartet.rescore(Words(), LISTS, **{**others, option: value})


@pytest.mark.parametrize("model", ["weights/tta-books", None, len], ids=str)
def test_rescoring_refuses_what_is_no_model(model: Any) -> None:
    with pytest.raises(InputError, match="model"):
        quartet.rescore(model, LISTS, weight=0.5)


def test_rescoring_reads_generators_once() -> None:
    expected = quartet.rescore(Words(), LISTS, tune=LISTS, weights=[0.0, 0.5, 1.0])
    found = quartet.rescore(Words(), iter(LISTS), tune=iter(LISTS), weights=iter([1.0, 0.5, 0.0]))  # type: ignore[arg-type]
    assert (found.weight, list(found)) == (expected.weight, list(expected))


@pytest.mark.parametrize("wrong", [LISTS[0], ["a b"], 7, [{"utt": "u1"}]], ids=repr)
def test_rescoring_refuses_what_is_no_lists(wrong: Any) -> None:
    with pytest.raises(InputError, match="lists"):
        quartet.rescore(Words(), wrong, weight=0.5)


def test_a_list_is_of_hypotheses() -> None:
    one = NBest("u1", iter([Hypothesis("a", -1.0), Hypothesis("b", -2.0)]))  # type: ignore[arg-type]
    assert [each.text for each in one.hypotheses] == ["a", "b"]
    for wrong in ("ab", ["a", "b"], [("a", -1.0)]):
        with pytest.raises(ValueError, match="u1"):
            NBest("u1", wrong)  # type: ignore[arg-type]
