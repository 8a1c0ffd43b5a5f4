"""One scorer in eight threads: each gets what a single thread gets, whatever the scorer is."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import quartet
from quartet.export.writing import export
from quartet.scoring.cache import ScoreCache
from quartet.scoring.engine import TextScorer, score_all
from quartet.scoring.pretrained_lm import PretrainedLM
from tests.bert import save_bert, save_bert_tokenizer, save_byte_level, transformers
from tests.models.shapes import VARIANTS
from tests.ngram.test_score import TEXTS as POTTER
from tests.ngram.test_score import WORDS, make
from tests.scoring.test_language_model import Small, random_model, save

THREADS = 8
VOCABULARY = (
    "the",
    "miller",
    "crossed",
    "a",
    "grey",
    "heron",
    "train",
    "É",
    "中",
    "unlikely",
    "cats",
    "[MASK]",
    ".",
)

#: Of Phi-3: rotary positions with other frequencies for long inputs than for short ones.
LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 100.0,
    "short_factor": [1.0] * 6,
    "long_factor": [9.0] * 6,
    "original_max_position_embeddings": 10,
}


def drawn_texts(count: int = 25) -> list[str]:
    """Texts of 0 to 8 words, and one that is longer than the inputs of the models here."""
    draw = random.Random(7)
    lengths = [50, *(draw.randint(0, 8) for _ in range(count - 1))]
    return [" ".join(draw.choices(VOCABULARY, k=length)) for length in lengths]


TEXTS = drawn_texts()


@pytest.fixture(autouse=True)
def _frequent_switches() -> Iterator[None]:
    """The interpreter changes threads as often as it can; each computes on one core."""
    before, cores = sys.getswitchinterval(), torch.get_num_threads()
    sys.setswitchinterval(1e-6)
    torch.set_num_threads(1)
    yield
    sys.setswitchinterval(before)
    torch.set_num_threads(cores)


def in_threads(work: Callable[[list[str]], Iterable[np.ndarray]]) -> list[list[np.ndarray]]:
    """What each thread gets of all texts in an order of its own, a few at a time, put back in their order."""
    start = threading.Barrier(THREADS)

    def one(number: int) -> list[np.ndarray]:
        order = random.Random(number).sample(range(len(TEXTS)), len(TEXTS))
        found: dict[int, np.ndarray] = {}
        start.wait()
        for at in range(0, len(order), 1 + number):
            part = order[at : at + 1 + number]
            found |= zip(part, work([TEXTS[index] for index in part]), strict=True)
        return [found[index] for index in range(len(TEXTS))]

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


def check(expected: list[np.ndarray], work: Callable[[list[str]], Iterable[np.ndarray]]) -> None:
    for found in in_threads(work):
        for one, other in zip(found, expected, strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, atol=1e-5)


def check_scorer(opened: Callable[[], Any]) -> None:
    """The readings of a scorer in threads, against a scorer of one thread.

    Args:
        opened: the scorer, new at each call: what it makes when it is first asked is made by threads too.
    """
    alone: TextScorer = opened()
    for masked in (True, False) if alone.masks else (True,):
        shared: TextScorer = opened()

        check(alone.token_logprobs(TEXTS, masked), partial(shared.token_logprobs, masked=masked))
    for layer in {"context", "embed"}.intersection(getattr(alone, "layers", ())):
        check(list(opened().embed(TEXTS, layer)), partial(opened().embed, layer=layer))


def save_architecture(folder: Path, kind: str, **settings: Any) -> None:
    """A tiny model of one more architecture of transformers, with BERT's tokenizer."""
    library = transformers()
    tokenizer = save_bert_tokenizer(folder, bos_token="[CLS]", eos_token="[SEP]")
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    own = {
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 40,
        "pad_token_id": 0,
        "initializer_range": 0.3,
    }
    config = library.AutoConfig.for_model(kind, **sizes, **own, **settings)
    causal = kind in ("opt", "phi3", "gemma2")
    maker = library.AutoModelForCausalLM if causal else library.AutoModelForMaskedLM
    torch.manual_seed(2)
    maker.from_config(config).save_pretrained(folder)


@pytest.mark.parametrize("kind", VARIANTS)
def test_models_that_were_trained_here(small_corpus: Small, kind: str) -> None:
    made = random_model(kind, small_corpus[0])
    check_scorer(lambda: random_model(kind, type(made.tokenizer)._of_json(made.tokenizer.to_json())))


@pytest.mark.parametrize("kind", ["bert", "roberta", "gpt2"])
def test_models_of_hugging_face(tmp_path: Path, kind: str) -> None:
    if kind == "bert":
        save_bert(tmp_path)
    else:
        save_byte_level(tmp_path, kind)
    check_scorer(lambda: quartet.load(tmp_path))


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("electra", {"embedding_size": 16}),
        ("albert", {"embedding_size": 16}),
        ("opt", {"ffn_dim": 32, "word_embed_proj_dim": 24}),
        ("gemma2", {"head_dim": 12, "num_key_value_heads": 1, "query_pre_attn_scalar": 12}),
    ],
)
def test_other_architectures_of_hugging_face(tmp_path: Path, kind: str, settings: dict[str, Any]) -> None:
    save_architecture(tmp_path, kind, **settings)
    check_scorer(lambda: quartet.load(tmp_path))


def test_rotary_positions_that_change_with_the_length(tmp_path: Path) -> None:
    """transformers sets them while the model runs, by the longest text of a batch; so texts come one by one here."""
    ends = {"num_key_value_heads": 2, "bos_token_id": 4, "eos_token_id": 5}
    save_architecture(tmp_path, "phi3", **ends, original_max_position_embeddings=10, rope_parameters=LONGROPE)
    model = quartet.load(tmp_path)
    expected = [model.token_logprobs([text])[0] for text in TEXTS]
    check(expected, lambda texts: [model.token_logprobs([text])[0] for text in texts])


def test_a_model_of_hugging_face_that_is_read_as_a_whole(tmp_path: Path) -> None:
    save_bert(tmp_path)

    def opened() -> PretrainedLM:
        model = quartet.load(tmp_path)
        assert isinstance(model, PretrainedLM)
        model.body_and_head.body = None
        return model

    check_scorer(opened)


@pytest.mark.parametrize("kind", ["tta", "unilm", "bilm", "segabert"])
def test_exported_graphs(small_corpus: Small, tmp_path: Path, kind: str) -> None:
    (tmp_path / "model").mkdir()
    save(random_model(kind, small_corpus[0]), tmp_path / "model")
    export(tmp_path / "model", tmp_path / "graph", "onnx")
    check_scorer(lambda: quartet.load(tmp_path / "graph"))


def test_ngram_models(tmp_path: Path) -> None:
    folder = make(tmp_path / "mine", WORDS, POTTER)
    check_scorer(lambda: quartet.load(folder))


def test_one_cache(small_corpus: Small, tmp_path: Path) -> None:
    model = random_model("bilm", small_corpus[0])
    expected = model.token_logprobs(TEXTS)
    with ScoreCache(tmp_path / "scores.sqlite") as cache:
        for _ in range(2):
            check(expected, lambda texts: score_all(model, texts, cache=cache))
