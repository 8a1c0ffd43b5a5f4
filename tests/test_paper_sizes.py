"""The sizes of the papers' models: counted by hand from the published numbers, and of what the presets build."""

from __future__ import annotations

import pytest
import torch

from pipeline.params import Params
from quartet.models.architectures import build
from tests.test_paper_presets import preset


def size(params: Params, name: str) -> int:
    """Parameters of a model, built without memory for them."""
    model = params.models[name]
    vocabulary = params.tokenizers[model.tokenizer].vocab_size
    assert vocabulary is not None
    with torch.device("meta"):
        network = build(model.config, vocabulary)
    assert all(parameter.is_meta for parameter in network.parameters())
    return network.parameter_count


def linear(inputs: int, outputs: int) -> int:
    return inputs * outputs + outputs


def encoder(vocabulary: int, rows: int, dim: int, inner: int, layers: int) -> int:
    """Embeddings and their normalisation, layers, and BERT's head: a dense layer, a normalisation, a bias a token."""
    layer = 4 * linear(dim, dim) + linear(dim, inner) + linear(inner, dim) + 2 * 2 * dim
    head = linear(dim, dim) + 2 * dim + vocabulary
    return (vocabulary + rows) * dim + 2 * dim + layers * layer + head


def bert(vocabulary: int, rows: int, dim: int, inner: int, layers: int) -> int:
    """As Devlin et al. 2019 count: with two token types and the pooler, which ours lack, and without the head."""
    head = linear(dim, dim) + 2 * dim + vocabulary
    return encoder(vocabulary, rows, dim, inner, layers) - head + 2 * dim + linear(dim, dim)


def transformer_xl(
    clusters: list[tuple[int, int]], projected: bool, dim: int, inner: int, layers: int
) -> int:
    """Clusters of (tokens, width), tied projections to the model's width, the output's biases, u and v, layers.

    A layer: query, key, value, position and output without biases, two linear maps with, two normalisations.
    """
    layer = 5 * dim * dim + linear(dim, inner) + linear(inner, dim) + 2 * 2 * dim
    tables = sum(tokens * width for tokens, width in clusters)
    projections = sum(dim * width for _, width in clusters) if projected else 0
    biases = sum(tokens for tokens, _ in clusters)
    tails = (len(clusters) - 1) * (dim + 1)
    return tables + projections + biases + tails + 2 * dim + layers * layer


@pytest.mark.parametrize("name", ["paper-tta-wiki", "paper-tta-librispeech"])
def test_the_sizes_of_tta_unilm_and_bilm_are_equal(name: str) -> None:
    """Section 5.1 gives no count, and the equality."""
    params = preset(name)
    expected = encoder(30_000, 128, 512, 2048, 3)
    assert expected == 25_177_392
    assert {key: size(params, key) for key in params.models} == dict.fromkeys(params.models, expected)


#: WikiText-103's words, <unk> and the end of a paragraph: the vocabulary of Transformer-XL, 267,735 entries.
#: Of our 7 specials two stand for the last two; the other five have rows that nothing ever trains.
WORDS, UNUSED = 267_735, 5


def test_the_size_of_segatron_xl_base() -> None:
    """Table 1: 151 M."""
    published = transformer_xl([(WORDS, 410)], False, 410, 2100, 16) + 3 * (410 + 1)
    assert published == 151_107_538
    params = preset("paper-segatron-xl-base")
    assert {size(params, key) for key in params.models} == {published + UNUSED * (410 + 1)}


def test_the_size_of_segatron_xl_large() -> None:
    """Table 1 says 257 M; the sizes that the same paper gives, with the released code's others, sum to 284.1 M."""
    said, clusters = 257e6, [(20_000, 1024), (20_000, 256), (160_000, 64), (WORDS - 200_000, 16)]
    summed = transformer_xl(clusters, True, 1024, 4096, 18)
    assert summed == 284_121_930
    assert summed - said > 27e6
    params = preset("paper-segatron-xl-large")
    assert {size(params, key) for key in params.models} == {summed + UNUSED * (16 + 1)}


@pytest.mark.parametrize(
    ("name", "sizes", "published"),
    [
        ("paper-segabert-base", (768, 3072, 12), 109_482_240),  # BERT-base: 110 M
        ("paper-segabert-large", (1024, 4096, 24), 335_141_888),  # BERT-large: 340 M
    ],
)
def test_the_sizes_of_bert_and_segabert(name: str, sizes: tuple[int, int, int], published: int) -> None:
    """Ours have the head of masked language modelling, and neither token types nor a pooler."""
    dim, inner, layers = sizes
    assert bert(30_522, 512, dim, inner, layers) == published
    params = preset(name)
    ours = encoder(30_522, 512, dim, inner, layers)
    assert size(params, "bert-") == ours
    assert size(params, "segabert") == ours + (256 + 100 + 50 - 512) * dim
