"""Siamese fine-tuning: vectors and logits by hand, a toy entailment that is learnt, and weights that are kept."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from quartet.errors import InputError
from quartet.scoring.language_model import LanguageModel
from quartet.statistics.correlation import correlations, cosines
from quartet.tasks.nli.tuning import LabelledPair, SiameseModel, embed, untrained_model
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training.tuning import Progress, TuningSettings, load_or_tune
from tests.models.shapes import KINDS
from tests.scoring.test_language_model import random_model
from tests.small_corpus import OBJECTS, SUBJECTS, VERBS

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
SETTINGS = TuningSettings(epochs=4, batch_size=16, learning_rate=2e-3, warmup=0.1, seed=1)
SAME, PART, OTHER = range(3)


def toy(count: int, seed: int) -> list[LabelledPair]:
    """A sentence with itself, with its beginning, or with another sentence, in equal shares."""
    draw = random.Random(seed)

    def sentence() -> str:
        return f"{draw.choice(SUBJECTS)} {draw.choice(VERBS)} {draw.choice(OBJECTS)}."

    pairs = []
    for number in range(count):
        first, second = sentence(), sentence()
        while set(first.split()) & set(second.split()) - {"the", "a"}:
            second = sentence()
        part = " ".join(first.split()[:3])
        pairs.append((first, (first, part, second)[number % 3], number % 3))
    return pairs


def tuned(
    model: LanguageModel,
    pairs: list[LabelledPair],
    path: Path | None = None,
    settings: TuningSettings = SETTINGS,
    progress: Progress | None = None,
) -> SiameseModel:
    return load_or_tune(lambda: SiameseModel(model, 3), pairs, settings, path, progress)


@pytest.mark.parametrize("kind", KINDS)
def test_a_vector_is_the_mean_over_own_tokens(small_corpus: Small, kind: str) -> None:
    """Of each sentence alone: its companion in the pair, and in the batch, changes nothing."""
    siamese = SiameseModel(random_model(kind, small_corpus[0]), 3).eval()
    texts = ["the miller crossed the river.", "a grey heron", ""]
    with torch.inference_mode():
        batch = siamese.model.batch(texts)
        states_BTD = siamese.contextual(batch)
        means = siamese.pooled(batch).numpy()
    own = min(
        len(siamese.model.tokenizer.encode_batch(texts[1:2])[0]), siamese.model.card.model.max_length - 2
    )
    by_hand = states_BTD[1, 1 : 1 + own].mean(0).numpy()  # behind [BOS], [CLS] or a stream's opening [EOS]
    np.testing.assert_allclose(means[1], by_hand, atol=1e-6)
    np.testing.assert_allclose(means[2], 0)
    if kind not in (
        "transformer-xl",
        "segatron-xl",
    ):  # their windows here are 8 tokens, and embed reads on with memory
        np.testing.assert_allclose(siamese.embed(texts), means, atol=1e-5)
        np.testing.assert_array_equal(embed(siamese.model, texts), siamese.embed(texts))


def test_the_logits_are_of_u_and_v_and_their_distance(small_corpus: Small) -> None:
    siamese = SiameseModel(random_model("bilm", small_corpus[0]), 3)
    dim = siamese.model.card.model.dim
    u, v = torch.randn(2, dim), torch.randn(2, dim)
    weight, bias = siamese.output.weight.detach(), siamese.output.bias.detach()
    assert weight.shape == (3, 3 * dim)
    by_hand = [
        [
            sum(
                weight[k, d] * u[b, d]
                + weight[k, dim + d] * v[b, d]
                + weight[k, 2 * dim + d] * abs(u[b, d] - v[b, d])
                for d in range(dim)
            )
            + bias[k]
            for k in range(3)
        ]
        for b in range(2)
    ]
    torch.testing.assert_close(siamese.compared(u, v).detach(), torch.tensor(by_hand), atol=1e-5, rtol=1e-5)


def test_the_loss_is_that_of_the_pairs(small_corpus: Small) -> None:
    siamese = SiameseModel(random_model("segabert", small_corpus[0], max_length=40), 3).eval()
    pairs = toy(4, seed=1)
    with torch.inference_mode():
        loss = siamese.loss(siamese.batch(pairs))
        rows = [torch.from_numpy(siamese.embed([text for text, _, _ in pairs])).float()]
        rows.append(torch.from_numpy(siamese.embed([text for _, text, _ in pairs])).float())
        chances = siamese.compared(*rows).log_softmax(1)
    by_hand = -np.mean([float(chances[index, label]) for index, (_, _, label) in enumerate(pairs)])
    assert float(loss) == pytest.approx(by_hand, abs=1e-5)


def test_training_reads_no_more_than_the_longest_input(small_corpus: Small) -> None:
    siamese = SiameseModel(random_model("bilm", small_corpus[0]), 3, max_length=5)
    ids_BT = siamese.batch([("the old bridge watched the river.", "a grey heron", SAME)]).batch.ids_BT
    tokenizer = siamese.model.tokenizer
    assert ids_BT.shape == (2, 5)
    assert ids_BT[0, 0] == tokenizer.bos_id
    assert ids_BT[0, -1] == tokenizer.eos_id


def test_the_cosines_of_a_tuned_encoder_are_ranked_as_by_scipy(small_corpus: Small) -> None:
    model = random_model("bilm", small_corpus[0], init_std=0.1)
    likeness = toy(90, seed=5)
    gold = np.array([2.0 - label for _, _, label in likeness])
    texts = [text for text, _, _ in likeness] + [text for _, text, _ in likeness]
    before = embed(model, texts)
    vectors = tuned(model, toy(96, seed=1)).embed(texts)
    predicted = cosines(vectors[: len(gold)], vectors[len(gold) :])
    found = correlations(predicted, gold, 50, 1)["spearman"].value
    assert found == pytest.approx(spearmanr(predicted, gold).statistic, abs=1e-9)
    np.testing.assert_allclose(predicted[gold == 2], 1, atol=1e-9)
    np.testing.assert_array_equal(embed(model, texts), before, "the pre-trained model stays as it was")
    assert not np.allclose(vectors, before)


def test_kept_weights_spare_the_tuning(small_corpus: Small, tmp_path: Path) -> None:
    model = random_model("tta", small_corpus[0])
    pairs = toy(48, seed=1)
    path = tmp_path / "deep" / "tuned.safetensors"
    steps: list[tuple[int, int]] = []
    first = tuned(model, pairs, path, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(step, 12) for step in range(1, 13)]
    again = tuned(model, [], path)  # without a pair there is nothing to tune on
    texts = [text for text, _, _ in pairs]
    np.testing.assert_array_equal(first.embed(texts), again.embed(texts))
    assert first.predict([pairs[0][:2], pairs[1][:2]]) == again.predict([pairs[0][:2], pairs[1][:2]])
    assert [file.name for file in path.parent.iterdir()] == ["tuned.safetensors"]
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match=r"tuned\.safetensors: not the weights of this model"):
        tuned(model, pairs, path)
    path.unlink()
    tuned(model, pairs, path)
    with pytest.raises(InputError, match="not the weights of this model"):
        tuned(random_model("tta", small_corpus[0], layers=3), pairs, path)


def test_the_same_seed_tunes_alike_and_another_otherwise(small_corpus: Small) -> None:
    model = random_model("bilm", small_corpus[0], dropout=0.1)
    pairs, texts = toy(48, seed=1), ["a grey heron"]
    one, two = (tuned(model, pairs).embed(texts) for _ in range(2))
    other = tuned(model, pairs, settings=TuningSettings(4, 16, 2e-3, 0.1, seed=2)).embed(texts)
    np.testing.assert_array_equal(one, two)
    assert not np.allclose(one, other)


def test_the_untrained_control_shares_all_but_the_weights(small_corpus: Small) -> None:
    model = random_model("segabert", small_corpus[0])
    control = untrained_model(model, SETTINGS)
    assert control.card.model == model.card.model
    assert control.fingerprint != model.fingerprint
    assert control.fingerprint == untrained_model(model, SETTINGS).fingerprint
    assert "0 steps" in control.scale
