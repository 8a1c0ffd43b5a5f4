"""KenLM's scores against backing off by hand, and a folder's way from estimation to scores."""

from __future__ import annotations

import gzip
import json
import math
import random
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from quartet.config.ngram import NgramConfig, TokenConfig
from quartet.errors import InputError
from quartet.files import sha256
from quartet.ngram.card import ARPA, MANIFEST, TOKENIZER, NgramCard
from quartet.ngram.estimate import estimate
from quartet.ngram.score import NgramLM, load, open_arpa
from quartet.ngram.tokens import splitter
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer, train_tokenizer
from tests.ngram.reference import FIXTURES, Arpa

WORDS = TokenConfig(lowercase=True, punctuation="strip")
TEXTS = (FIXTURES / "potter.txt").read_text(encoding="utf-8").splitlines()


def make(folder: Path, tokens: TokenConfig, texts: list[str], tokenizer: TextTokenizer | None = None) -> Path:
    """The folder of a model of these texts, as the stage leaves it."""
    folder.mkdir()
    split = splitter(tokens, tokenizer)
    config = NgramConfig(order=3, discount_fallback=(0.5, 1.0, 1.5), estimator="own")
    estimated = estimate(map(split, texts), str(folder / ARPA), config)
    card = NgramCard.of(
        estimated,
        name="mine",
        corpus="potter",
        corpus_words=3840,
        tokens=tokens,
        ngram=config,
        sha256=sha256(folder / ARPA),
        tokenizer="" if tokenizer is None else tokenizer.sha256,
    )
    card.save(folder)
    if tokenizer is not None:
        tokenizer.save(folder / TOKENIZER)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trigram model of the fixture's text."""
    return make(tmp_path_factory.mktemp("models") / "mine", WORDS, TEXTS)


@pytest.fixture(scope="module")
def model(folder: Path) -> NgramLM:
    """The model of that folder, which may be given as text."""
    return load(str(folder), seed=3)


@pytest.mark.parametrize("name", ["order-3.arpa.gz", "order-5.arpa.gz", "order-4-pruned.arpa.gz"])
def test_kenlm_backs_off_as_we_do_by_hand(name: str, model: NgramLM, tmp_path: Path) -> None:
    plain = tmp_path / "model.arpa"
    plain.write_bytes(gzip.decompress((FIXTURES / name).read_bytes()))
    language_model = NgramLM(open_arpa(str(plain)), splitter(WORDS), model.card, plain)
    arpa = Arpa(FIXTURES / name)
    draw = random.Random(1)
    seen = sorted({word for text in TEXTS for word in text.split()})
    shuffled = [" ".join(draw.choices([*seen, "zzz"], k=draw.randint(1, 9))) for _ in range(100)]
    texts = [*TEXTS, *shuffled, "", "zzz", "the zzz cat"]
    for text, values in zip(texts, language_model.token_logprobs(texts), strict=True):
        tokens = splitter(WORDS)(text)
        assert values.dtype == np.float64
        assert len(values) == len(tokens) + 1
        by_hand = np.array(arpa.sentence(tokens)) * math.log(10)
        assert np.allclose(values, by_hand, atol=2e-5), text


def test_an_unknown_word_costs_a_finite_amount_and_is_told(model: NgramLM, folder: Path) -> None:
    arpa = Arpa(folder / ARPA)
    reading = model.read("The rabbit, ZZZ!")
    assert reading.unknown.tolist() == [False, False, True]
    assert len(reading.logprobs) == 4
    cost = arpa.word(("<s>", "the", "rabbit"), "zzz") * math.log(10)
    assert reading.logprobs[2] == pytest.approx(cost, abs=1e-5)
    assert np.isfinite(reading.logprobs).all()
    assert (reading.logprobs <= 0).all()


def test_what_is_spelled_as_a_reserved_word_is_unknown_and_not_free(tmp_path: Path) -> None:
    kept = load(make(tmp_path / "kept", TokenConfig(lowercase=False, punctuation="keep"), TEXTS))
    for word in ("<s>", "</s>", "<unk>"):
        reading = kept.read(f"the {word} cat")
        assert reading.unknown.tolist() == [False, True, False]
        assert reading.logprobs[1] == kept.read("the zzz cat").logprobs[1]
    marked, known = (kept.spelled(kept.unknown_tokens([text])[0]) for text in ("the <unk> cat", "the cat"))
    assert marked == known == 0.0, "WikiText's own mark needs no spelling"


def test_it_has_the_surface_of_a_language_model(model: NgramLM) -> None:
    assert (model.name, model.seed, model.device, model.masks) == ("mine", 3, "cpu", False)
    assert model.scale.startswith(
        "3-gram of words without punctuation, 0.01 M n-grams, potter (0.00 M words)"
    )
    texts = ["the rabbit", "", "the cat sat down"]
    values = model.token_logprobs(texts, masked=True)
    assert model.score(texts) == [float(each.sum()) for each in values]
    assert model.score(texts[::-1]) == model.score(texts)[::-1]
    assert model.score([]) == []
    assert model.token_logprobs([""])[0].shape == (1,)


def test_pieces_come_from_the_folders_own_tokenizer(
    small_corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]], tmp_path: Path
) -> None:
    tokenizer, _ = small_corpus
    pieces = load(
        make(tmp_path / "pieces", TokenConfig(units="pieces"), ["the miller", "millers"], tokenizer)
    )
    reading = pieces.read("the Millers")
    assert reading.unknown.tolist() == [False, False, False]
    assert len(reading.logprobs) == 4
    assert "pieces" in pieces.scale
    train_tokenizer("wordpiece", ["another text"], 150, True).save(tmp_path / "pieces" / TOKENIZER)
    names = rf"tokenizer\.json: is the tokenizer \w{{12}}, manifest\.json names {tokenizer.sha256[:12]}; "
    with pytest.raises(InputError, match=names):
        load(tmp_path / "pieces")


def test_a_missing_kenlm_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(InputError, match=r"kenlm: n-gram models need it .*pip install -e '\.\[ngram\]'"):
        load(folder)


def test_a_folder_that_is_not_whole_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere: not an n-gram model: it has no model\.arpa\.gz"):
        load(tmp_path / "nowhere")
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    whole = (copy / ARPA).read_bytes()
    for broken in (whole[: len(whole) // 2], b"", b"\\data\\\n", whole[:-8] + b"\0" * 8):
        (copy / ARPA).write_bytes(broken)
        with pytest.raises(InputError, match=r"model\.arpa\.gz: not the file that manifest\.json describes"):
            load(copy)
    (copy / ARPA).write_bytes(whole)
    card = json.loads((copy / MANIFEST).read_text())
    (copy / MANIFEST).write_text(json.dumps({**card, "made_by": "hand"}))
    with pytest.raises(InputError, match=r"manifest\.json: made_by: "):
        load(copy)
