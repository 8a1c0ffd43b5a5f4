"""Perplexity as the stages measure it: the library's own values, documents as units, and every key of the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import entropy

import quartet
from pipeline.settings import read_params
from quartet.results import Result
from quartet.statistics import intervals
from quartet.text.encoded_corpus import EncodedCorpus
from stages import baselines
from tests.small_corpus import encode_small
from tests.stages.world import CORPUS, LAYOUT, TOKENIZER_NAME, World, all_different, at_work, values

MODELS = {"tta": "tta", "segatron-xl": "segatron-xl"}
NGRAM = {
    "corpus": CORPUS,
    "tokenizer": TOKENIZER_NAME,
    "units": "words",
    "lowercase": True,
    "punctuation": "split",
    "order": 3,
    "pruning": [],
    "discount_fallback": [0.5, 1.0, 1.5],
    "estimator": "own",
}


def measured(world: World, test_documents: int | None = None, **keys: Any) -> list[Result]:
    """The rows of both models, of the n-gram model and of the unigram on the small corpus."""
    world.corpus(test_documents)
    world.set(perplexity__tokens_per_document=0, perplexity__input_lengths=[], ngrams={"ngram": NGRAM})
    world.set(**keys)
    rows: list[Result] = []
    for name, kind in MODELS.items():
        world.model(name, kind)
        rows += world.run("perplexity", name)
    rows += world.run("ngram", "ngram")
    run = at_work(read_params())
    baselines.frequencies(run)
    return rows + run.rows


def corpus() -> EncodedCorpus:
    return EncodedCorpus.open(LAYOUT.encoded(CORPUS, TOKENIZER_NAME), "test")


@pytest.mark.parametrize("documents", [1, 4])
def test_of_few_documents_no_figure_has_an_interval(world: World, documents: int) -> None:
    """Documents are resampled, though there are many sentences in them."""
    rows = [row for row in measured(world, documents) if row.table == "perplexity"]
    assert len(corpus()) > 3
    assert {row.system for row in rows} == {"tta", "segatron-xl", "ngram", "unigram"}
    assert {"loss", "gain", "ppl", "ppl-word", "entropy", "oov"} <= {row.metric for row in rows}
    assert all(row.ci_low is None and row.ci_high is None for row in rows)


def test_of_two_documents_the_ends_of_an_interval_are_theirs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two units a resample is both, or one of them twice."""
    monkeypatch.setattr(intervals, "LEAST_UNITS", 2)
    rows = measured(world, 2, bootstrap=200)
    (row,) = [row for row in rows if (row.system, row.metric, row.split) == ("tta", "loss", "test")]
    each = [-values.mean() for values in quartet.load(LAYOUT.models / "tta").corpus_logprobs(corpus())]
    assert (row.ci_low, row.ci_high) == pytest.approx((min(each), max(each)))


@pytest.mark.parametrize("carried", [True, False])
@pytest.mark.parametrize("limit", [0, 12])
def test_losses_and_gains_are_of_the_librarys_log_probabilities(
    world: World, carried: bool, limit: int
) -> None:
    """Memory is carried from document to document where that is asked for, by the model that has one."""
    keys = {"perplexity__carry_memory": carried, "perplexity__tokens_per_document": limit}
    rows = measured(world, **keys)
    losses, gains = values(rows, "perplexity", "loss"), values(rows, "perplexity", "gain")
    unigram = values(rows, "perplexity", "entropy")["unigram", CORPUS, "test"]
    found = {}
    for name in MODELS:
        model = quartet.load(LAYOUT.models / name)
        read = model.corpus_logprobs(corpus(), limit, carry_memory=carried and name == "segatron-xl")
        found[name] = -np.concatenate(read).mean()
        assert losses[name, CORPUS, "test"] == pytest.approx(found[name])
        assert gains[name, CORPUS, "test"] == pytest.approx(unigram - found[name])
        (row,) = [row for row in rows if (row.system, row.metric) == (name, "loss") and row.split == "test"]
        assert row.n == sum(map(len, read))
    alone = quartet.load(LAYOUT.models / "segatron-xl").corpus_logprobs(corpus(), limit)
    assert (found["segatron-xl"] == pytest.approx(-np.concatenate(alone).mean())) != carried


def test_the_frequencies_of_a_unigram_are_those_of_the_split_that_it_is_measured_on(world: World) -> None:
    rows = measured(world)
    valid = EncodedCorpus.open(LAYOUT.encoded(CORPUS, TOKENIZER_NAME), "valid")
    found = values(rows, "training", "loss")["unigram", CORPUS, "valid"]
    assert found == pytest.approx(entropy(np.bincount(valid.ids)))
    unknown = values(rows, "perplexity", "oov")
    assert unknown["unigram", CORPUS, "test"] == unknown["tta", CORPUS, "test"]


#: What makes an n-gram model -> another value.
NGRAMS: dict[str, Any] = {
    "ngrams__ngram__lowercase": False,
    "ngrams__ngram__punctuation": "strip",
    "ngrams__ngram__order": 2,
    "ngrams__ngram__pruning": [0, 0, 1],
    "ngrams__ngram__discount_fallback": [0.1, 0.2, 0.3],
    "ngrams__ngram__corpus": "other",
    "ngrams__ngram": {"corpus": CORPUS, "tokenizer": TOKENIZER_NAME, "units": "pieces", "order": 3,
                      "discount_fallback": [0.5, 1.0, 1.5], "estimator": "own"},
    "perplexity__tokens_per_document": 12,
}  # fmt: skip


def test_every_key_of_an_ngram_model_moves_its_perplexity(world: World) -> None:
    world.corpus()
    path = LAYOUT.segments(CORPUS) / "train.jsonl"  # whose capitals the test split has not
    path.write_text(path.read_text(encoding="utf-8").replace('["the', '["The'), encoding="utf-8")
    other = LAYOUT.segments("other")
    other.mkdir()
    for split in ("train", "test"):
        lines = (LAYOUT.segments(CORPUS) / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
        (other / f"{split}.jsonl").write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")
    world.set(corpora__other=world.settings()["corpora"][CORPUS])
    base = {"ngrams": {"ngram": NGRAM}, "perplexity__tokens_per_document": 0}

    def figures() -> dict[str, float]:
        return {row.metric: row.value for row in world.run("ngram", "ngram")}

    all_different(world.moved(figures, base, NGRAMS))


def test_the_tokenizer_of_an_ngram_model_counts_the_tokens_that_are_scored(
    world: World, tmp_path: Path
) -> None:
    """With `units: pieces` they are its own tokens too."""
    world.corpus()
    smaller, _ = encode_small(tmp_path / "smaller", "word", 30)
    LAYOUT.tokenizer("smaller").mkdir()
    smaller.save(LAYOUT.tokenizer("smaller") / "tokenizer.json")
    world.set(tokenizers__smaller=world.settings()["tokenizers"][TOKENIZER_NAME])
    words = {"ngrams": {"ngram": NGRAM}, "perplexity__tokens_per_document": 12}
    pieces = {**NGRAM, "units": "pieces", "lowercase": None, "punctuation": None}
    runs = [
        {**words, "ngrams": {"ngram": {**entry, "tokenizer": name}}}
        for entry in (NGRAM, pieces)
        for name in (TOKENIZER_NAME, "smaller")
    ]
    found = []
    for keys in runs:
        world.set(**keys)
        found.append({row.metric: (row.value, row.n) for row in world.run("ngram", "ngram")})
    assert found[0] != found[1] and found[2] != found[3]
