"""Where attention goes: into the own sentence, the own paragraph, what came before (Bai et al. 2021, Figures 5-8)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from quartet.errors import InputError
from quartet.files import atomic_path
from quartet.results import Measure
from quartet.statistics.intervals import Floats, bootstrap_measures, ratio

#: What is added up of each query's attention. ``own-paragraph`` holds ``own-sentence``, which holds ``itself``.
SHARES = ("own-sentence", "own-paragraph", "itself", "before", "specials")


@dataclass(frozen=True)
class DocumentAttention:
    """An article as a model reads it, token by token.

    Attributes:
        name: of the document.
        sentences_T, paragraphs_T: the number of each token's sentence and paragraph, rising from 0.
        own_T: False at special tokens, which stand in the sentence of their neighbour.
        allowed_TT: True where query t may see key s.
        weights_TT: by layer (from 1), the attention probabilities of query t over key s, one head's or the mean.
    """

    name: str
    sentences_T: np.ndarray
    paragraphs_T: np.ndarray
    own_T: np.ndarray
    allowed_TT: np.ndarray
    weights_TT: Mapping[int, np.ndarray]

    def uniform(self) -> np.ndarray:
        """(T, T): the attention that treats all visible keys alike, for comparison."""
        allowed = self.allowed_TT.astype(np.float64)
        even: np.ndarray = allowed / np.maximum(1, allowed.sum(axis=1, keepdims=True))
        return even


def shares(article: DocumentAttention, weights_TT: np.ndarray) -> Floats:
    """(len(SHARES),) sums of attention over the article's own tokens as queries.

    Special tokens as keys count in none but the last; keys of the own sentence and paragraph stand on both sides.
    """
    places = np.arange(len(article.own_T))
    own_T = article.own_T
    regions = {
        "own-sentence": (article.sentences_T[:, None] == article.sentences_T) & own_T,
        "own-paragraph": (article.paragraphs_T[:, None] == article.paragraphs_T) & own_T,
        "itself": places[:, None] == places,
        "before": (places[:, None] > places) & own_T,
        "specials": np.broadcast_to(~own_T, weights_TT.shape),
    }
    return np.array([(weights_TT * regions[name])[own_T].sum() for name in SHARES], dtype=np.float64)


def share_measures(
    articles: Sequence[DocumentAttention], layer: int | None, samples: int, seed: int
) -> dict[str, Measure]:
    """The mean shares of a layer (None: of uniform attention) over all own tokens; n counts these.

    The 95 % intervals draw articles; of a single one none is given.

    Raises:
        ValueError: there are no articles.
    """
    if not articles:
        raise ValueError("no articles")
    sums = np.stack(
        [shares(one, one.uniform() if layer is None else one.weights_TT[layer]) for one in articles]
    )
    queries = np.array([one.own_T.sum() for one in articles], dtype=np.float64)
    statistics = {
        name: (partial(ratio, above=sums[:, column], below=queries), int(queries.sum()))
        for column, name in enumerate(SHARES)
    }
    return bootstrap_measures(statistics, len(articles), samples, seed)


def write_article(path: Path, article: DocumentAttention) -> None:
    """Keep an article's maps as one safetensors file, for the picture."""
    from safetensors.numpy import save_file

    tensors = {
        "sentences": article.sentences_T.astype(np.int64),
        "paragraphs": article.paragraphs_T.astype(np.int64),
        "own": article.own_T.astype(np.uint8),
        "allowed": article.allowed_TT.astype(np.uint8),
        **{f"layer-{layer}": weights.astype(np.float32) for layer, weights in article.weights_TT.items()},
    }
    whole = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    with atomic_path(path) as temporary:
        save_file(whole, temporary, {"article": json.dumps({"name": article.name})})


def read_article(path: Path) -> DocumentAttention:
    """What `write_article` kept.

    Raises:
        InputError: the file is absent or not whole.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "numpy") as file:
            name = str(json.loads(file.metadata()["article"])["name"])
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (it is no mapping)
    except (OSError, SafetensorError, KeyError, TypeError) as error:
        raise InputError(path, f"not the attention of an article ({error})", "run dvc repro") from error
    return DocumentAttention(
        name,
        tensors["sentences"],
        tensors["paragraphs"],
        tensors["own"].astype(bool),
        tensors["allowed"].astype(bool),
        {layer: tensors[f"layer-{layer}"] for layer in _layers(tensors)},
    )


def _layers(names: Iterable[str]) -> list[int]:
    return sorted(int(name.removeprefix("layer-")) for name in names if name.startswith("layer-"))
