"""Semantic similarity as the stages run it, with small models that nobody trained."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from pipeline.layout import Layout
from pipeline.params import Params
from quartet.config.evaluation import Word2VecSettings
from quartet.results import Result, read_results
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.sts.evaluation import judged_splits
from quartet.tasks.word_vectors import train_word2vec
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from stages import baselines, sts
from tests.scoring.test_language_model import random_model
from tests.tasks.sts.test_evaluation import pairs

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


@pytest.fixture
def run(
    small_corpus: Small, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], list[Result]]:
    """The stage for a model of a kind, on one split and one year of invented pairs."""
    sets = [
        *judged_splits("stsb", "stsb", {"dev": pairs(1)}),
        *judged_splits("sts12", "semeval", {"a": pairs(2), "b": pairs(3)}),
    ]
    monkeypatch.setattr(sts, "judged_sets", lambda *_: sets)

    def models(_: Params, name: str) -> Iterator[tuple[LanguageModel, int]]:
        yield random_model(name, small_corpus[0]), 11

    monkeypatch.setattr(sts, "scorers", models)

    def rows(kind: str) -> list[Result]:
        sts.sts(kind)
        return read_results(Layout("tiny").rows("sts", kind))

    return rows


@pytest.mark.parametrize(
    ("kind", "systems"),
    [
        ("tta", {"tta/context", "tta/embed", "tta/table", "tta/cls", "tta/eos"}),
        ("unilm", {"unilm/context", "unilm/embed", "unilm/table", "unilm/eos"}),
        (
            "bilm",
            {"bilm/context", "bilm-intact/context", "bilm/embed", "bilm/table", "bilm/cls", "bilm/eos"},
        ),
        ("transformer-xl", {f"transformer-xl/{way}" for way in ("context", "embed", "table", "eos")}),
    ],
)
def test_every_reading_of_a_model_has_its_rows(
    run: Callable[[str], list[Result]], kind: str, systems: set[str]
) -> None:
    rows = run(kind)
    assert {row.system for row in rows} == systems
    assert {(row.dataset, row.split) for row in rows} == {("stsb", "dev"), ("sts12", "test")}
    assert all(row.seed == 11 and row.table == "sts" for row in rows)
    values = {row.system: row.value for row in rows if (row.dataset, row.metric) == ("stsb", "pearson")}
    assert len({round(value, 9) for value in values.values()}) >= len(systems) - (kind == "transformer-xl"), (
        "no reading stands for another, but a scaled table has the table's cosines"
    )


def test_word2vec_of_the_corpus_reads_a_text_as_the_mean_of_its_tokens(small_corpus: Small) -> None:
    tokenizer, splits = small_corpus
    train = splits["train"]
    sentences = [train.sentence(index) for index in range(len(train))]
    config = Word2VecSettings(dimension=8, window=5, epochs=1, negative=5, skip_gram=True, minimum_count=1)
    table = train_word2vec(sentences, tokenizer.vocab_size, config, seed=1)
    found = baselines.mean_vectors(tokenizer, table, ["the old bridge", ""])
    assert np.allclose(found[0], table[tokenizer.encode("the old bridge")].mean(0))
    assert not found[1].any(), "a text without tokens has no vector"
