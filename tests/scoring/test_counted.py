"""What counts in a score and in a perplexity: each of the text's own tokens once, the same for every model."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch

import quartet
from quartet.config.training import TrainingConfig
from quartet.models.architectures import build
from quartet.models.checkpoint import ModelCard, save_model
from quartet.statistics.perplexity import perplexity_measures
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training.fit import fit
from tests.models.shapes import KINDS, VARIANTS, small
from tests.scoring.test_language_model import random_model
from tests.small_corpus import encode_small

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """The small corpus in whole words, of which the vocabulary has the most frequent 20 alone."""
    return encode_small(tmp_path_factory.mktemp("words"), "word", 27)


def test_unilm_bilm_and_tta_over_words_are_of_one_size(words: Small) -> None:
    sizes = {
        build(small(**KINDS[name]), words[0].vocab_size).parameter_count for name in ("unilm", "bilm", "tta")
    }
    assert len(sizes) == 1


@pytest.mark.parametrize("kind", ["unilm", "bilm", "tta"])
def test_models_over_words_are_trained_and_score_each_word(words: Small, kind: str, tmp_path: Path) -> None:
    """The papers' uniSANLM_w and biSANLM_w: one value a word or mark, [UNK] among them, and uniLM's [EOS]."""
    tokenizer, splits = words
    config = small(**KINDS[kind])
    training = TrainingConfig(steps=30, batch_size=8, learning_rate=5e-3, validate_every=15)
    trained = fit(
        config, training, tokenizer, splits["train"], splits["valid"], seed=7, resume=tmp_path / "none.ckpt"
    )
    assert trained.curve[-1][1] < trained.curve[0][1]
    card = ModelCard(
        name=kind,
        seed=7,
        corpus="made-up",
        corpus_words=1,
        steps=30,
        best_step=trained.best_step,
        parameters=trained.network.parameter_count,
        model=config,
        training=training,
    )
    save_model(tmp_path, {"last": trained.network.state_dict(), "best": trained.best}, card, tokenizer)
    model = quartet.load(tmp_path)
    texts = ["the miller crossed the river.", "My zeppelin, an airship, crossed two rivers!", "zeppelins"]
    for text, values in zip(texts, model.token_logprobs(texts), strict=True):
        assert len(values) == len(re.findall(r"\w+|[^\w\s]", text)) + (kind == "unilm")
        assert np.isfinite(values).all()
    assert tokenizer.encode("zeppelin") == [tokenizer.unk_id] == tokenizer.encode("airship")
    one, other = model.token_logprobs(["the zeppelin crossed the river.", "the airship crossed the river."])
    assert one.tolist() == other.tolist(), "an unknown word is read as [UNK]"
    assert model.token_logprobs(["zeppelin"])[0][0] < 0


@pytest.mark.parametrize("name", VARIANTS)
def test_an_unknown_word_is_a_token_like_any_other(words: Small, name: str) -> None:
    """[UNK] is predicted at its place, not left out, nor is its probability that of another token."""
    model = random_model(name, words[0])
    text = "the zeppelin crossed the river."
    ids = model.tokenizer.encode(text)
    assert ids[1] == model.tokenizer.unk_id
    values = model.token_logprobs([text])[0]
    assert len(values) == len(ids) + (VARIANTS[name]["objective"] == "clm")
    with torch.no_grad():
        model.network.head.bias_V[model.tokenizer.unk_id] += 5.0
    raised = model.token_logprobs([text])[0] - values
    unknown = np.array([*ids, model.tokenizer.eos_id][: len(values)]) == model.tokenizer.unk_id
    assert (raised[unknown] > 0.1).all()
    assert (raised[~unknown] < 0).all()


@pytest.mark.parametrize("corpus", ["pieces", "words"])
def test_a_perplexity_counts_the_same_tokens_for_every_model(
    small_corpus: Small, words: Small, corpus: str
) -> None:
    """The text's own tokens: not [EOS], which uniLM and the streams read too, nor [BOS], [CLS] or [SEP]."""
    tokenizer, splits = small_corpus if corpus == "pieces" else words
    test = splits["test"]
    spaced = np.add.reduceat(test.sentence_words, test.document_offsets[:-1]).tolist()
    counted = set()
    for name in VARIANTS:
        model = random_model(name, tokenizer)
        pseudo = model.objective.pseudo
        measures = perplexity_measures(model.corpus_logprobs(test), spaced, pseudo, samples=5, seed=0)
        label = "pppl" if pseudo else "ppl"
        counted.add((measures["loss"].n, measures[label].n, measures[f"{label}-word"].n))
    assert counted == {(len(test.ids), len(test.ids), int(test.sentence_words.sum()))}
    unknown = (np.asarray(test.ids) == tokenizer.unk_id).sum()
    assert (unknown > 0) == (corpus == "words"), "[UNK] counts"
