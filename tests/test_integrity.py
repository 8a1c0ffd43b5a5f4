"""Nothing is read with what it was not made for: another tokenizer, another encoding, another form of manifest."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.trained_models import check_encoding
from quartet.config.training import TrainingConfig
from quartet.errors import InputError
from quartet.files import sha256
from quartet.scoring.language_model import load
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer, train_tokenizer
from quartet.training.fit import fit
from tests.models.shapes import small
from tests.scoring.test_language_model import random_model, save
from tests.small_corpus import encode_small

Encoded = tuple[Path, TextTokenizer, EncodedCorpus]


@pytest.fixture(scope="module")
def encoded(tmp_path_factory: pytest.TempPathFactory) -> Encoded:
    """A folder, the tokenizer and the training split of a small encoded corpus."""
    folder = tmp_path_factory.mktemp("corpus")
    tokenizer, splits = encode_small(folder)
    return folder / "encoded", tokenizer, splits["train"]


@pytest.fixture(scope="module")
def other(encoded: Encoded) -> TextTokenizer:
    """A tokenizer with as many entries, but others."""
    words = (f"{first}{second}" for first in "bcdfgklmnprst" for second in "aeiouybcdfgklm" * 3)
    made = train_tokenizer("wordpiece", [*words, "quay jolly vixen whack zebra"], encoded[1].vocab_size, True)
    assert made.sha256 != encoded[1].sha256
    return made


def test_a_corpus_of_another_tokenizer_is_refused(
    encoded: Encoded, other: TextTokenizer, tmp_path: Path
) -> None:
    folder, tokenizer, corpus = encoded
    names = (
        rf"{folder}: is encoded with the tokenizer {tokenizer.sha256[:12]}, .* reads {other.sha256[:12]}; "
    )
    training = TrainingConfig(steps=1, batch_size=1, learning_rate=1e-3)
    with pytest.raises(InputError, match=names):
        fit(small(), training, other, corpus, corpus, seed=1, resume=tmp_path / "resume.ckpt")
    with pytest.raises(InputError, match=names):
        random_model("tta", other).corpus_logprobs(corpus)
    assert random_model("tta", tokenizer).corpus_logprobs(corpus, 3)


def test_a_models_folder_with_another_tokenizer_is_refused(
    encoded: Encoded, other: TextTokenizer, tmp_path: Path
) -> None:
    save(random_model("tta", encoded[1]), tmp_path)
    assert load(tmp_path).card.tokenizer == encoded[1].sha256
    own, wrong = encoded[1].sha256[:12], other.sha256[:12]
    if other.vocab_size != encoded[1].vocab_size:
        pytest.fail("the test needs tokenizers of one size")
    other.save(tmp_path / "tokenizer.json")
    with pytest.raises(
        InputError, match=rf"tokenizer\.json: is the tokenizer {wrong}, config\.json names {own}; "
    ):
        load(tmp_path)


def test_a_model_is_not_judged_on_another_encoding(encoded: Encoded) -> None:
    folder, tokenizer, corpus = encoded
    model = random_model("tta", tokenizer)
    manifest = sha256(folder / "train.json")
    with pytest.raises(
        InputError,
        match=f"has the training split {manifest[:12]}, the model tta was trained on none; train the model again",
    ):
        check_encoding(model, corpus)
    model.card = replace(model.card, encoding="f" * 64)
    with pytest.raises(InputError, match=f"{manifest[:12]}, the model tta was trained on {'f' * 12}; "):
        check_encoding(model, corpus)
    model.card = replace(model.card, encoding=manifest)
    check_encoding(model, corpus)


@pytest.mark.parametrize(
    "change", [lambda found: found.update(version=2), lambda found: found.pop("version")]
)
def test_a_manifest_of_another_version_is_refused(
    tmp_path: Path, change: Callable[[dict[str, object]], object]
) -> None:
    encode_small(tmp_path)
    path = tmp_path / "encoded" / "train.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"train\.json: (is of version 2|is no manifest)"):
        EncodedCorpus.open(tmp_path / "encoded", "train")


def test_a_card_of_another_version_is_refused(encoded: Encoded, tmp_path: Path) -> None:
    save(random_model("tta", encoded[1]), tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 2}))
    with pytest.raises(InputError, match=r"config\.json: version: "):
        load(tmp_path)
