"""An n-gram model from the training split to its folder and its rows, and among the models that rerank."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pipeline.layout import MANIFEST, TOKENIZER, Layout
from pipeline.scorers import scorers
from pipeline.settings import read_params
from quartet.errors import InputError
from quartet.files import read_json, read_jsonl, sha256, write_jsonl
from quartet.ngram.card import ARPA
from quartet.ngram.score import NgramLM
from quartet.results import read_results
from quartet.scoring.unknown import unknown_words
from quartet.tasks.perplexity.held_out import held_out_sentences, held_out_texts
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from stages.ngram import ngram
from tests.small_corpus import documents

SETTINGS = """
ngrams:
  words-3:
    corpus: wikipedia-sample
    tokenizer: wordpiece-1k
    order: 3
    lowercase: true
    punctuation: split
    discount_fallback: [0.5, 1, 1.5]
    estimator: own
  pieces-2:
    corpus: wikipedia-sample
    tokenizer: wordpiece-1k
    units: pieces
    order: 2
    pruning: [0, 1]
    discount_fallback: [0.5, 1, 1.5]
    estimator: own
"""


@pytest.fixture
def layout(workspace: Path, small_corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]]) -> Layout:
    """The preset tiny with two n-gram models, and a corpus and a tokenizer in their places."""
    path = workspace / "params.yaml"
    text = re.sub(r"^ngrams:\n(  .*\n)+", "", path.read_text(), flags=re.M).replace("ngram-3, ", "")
    path.write_text(text + SETTINGS)
    layout = Layout("tiny")
    for split, count, seed in (("train", 12, 1), ("test", 4, 3)):
        found = documents(count, seed)
        write_jsonl(
            layout.segments("wikipedia-sample") / f"{split}.jsonl", (document.to_json() for document in found)
        )
    small_corpus[0].save(layout.tokenizer("wordpiece-1k") / TOKENIZER)
    return layout


def measured(layout: Layout, name: str) -> dict[str, float]:
    """Metric -> value."""
    rows = read_results(layout.rows("ngram", name))
    assert {(row.table, row.system, row.dataset, row.split, row.seed) for row in rows} == {
        ("perplexity", name, "wikipedia-sample", "test", None)
    }
    return {row.metric: row.value for row in rows}


def test_a_model_is_estimated_measured_and_opened_by_its_name(layout: Layout) -> None:
    ngram("words-3")
    folder = layout.ngram("words-3")
    manifest = read_json(folder / MANIFEST)
    assert sorted(path.name for path in folder.iterdir()) == [MANIFEST, ARPA]
    assert manifest["made_by"] == "own"
    assert manifest["sha256"] == sha256(folder / ARPA)
    sentences = [sentence for document in documents(12, 1) for sentence in document.sentences]
    assert manifest["corpus_words"] == sum(len(sentence.split()) for sentence in sentences)
    assert manifest["counted"]["sentences"] == len(sentences)
    noted = {row["name"]: row for _, row in read_jsonl(layout.timing("ngram", "words-3"))}
    assert noted["estimate"]["tokens"] == manifest["counted"]["tokens"]
    ((model, _),) = scorers(read_params(), "words-3")
    assert isinstance(model, NgramLM)
    assert (model.name, model.seed) == ("words-3", 1)

    figures = measured(layout, "words-3")
    test = [sentence for document in documents(4, 3) for sentence in document.sentences]
    own = np.concatenate([values[:-1] for values in model.token_logprobs(test)])
    words = sum(len(sentence.split()) for sentence in test)
    assert len(own) > words, "full stops are words here"
    assert figures["ppl"] == pytest.approx(np.exp(-own.mean()))
    spelled = unknown_words(model, test).nats
    assert spelled is not None
    assert figures["ppl-word"] == pytest.approx(np.exp(-(own.sum() + sum(spelled)) / words))
    unknown = np.concatenate([model.read(sentence).unknown for sentence in test])
    assert figures["oov"] == pytest.approx(unknown.mean())


def test_pieces_carry_their_tokenizer(layout: Layout) -> None:
    ngram("pieces-2")
    assert sha256(layout.ngram("pieces-2") / TOKENIZER) == sha256(
        layout.tokenizer("wordpiece-1k") / TOKENIZER
    )
    ((model, _),) = scorers(read_params(), "pieces-2")
    tokenizer = TextTokenizer.load(layout.tokenizer("wordpiece-1k") / TOKENIZER)
    text = "the millers watched"
    assert len(model.token_logprobs([text])[0]) == len(tokenizer.encode(text)) + 1


def test_the_same_text_gives_the_same_folder_and_rows(layout: Layout) -> None:
    paths = [
        layout.ngram("words-3") / ARPA,
        layout.ngram("words-3") / MANIFEST,
        layout.rows("ngram", "words-3"),
    ]
    ngram("words-3")
    first = [sha256(path) for path in paths]
    ngram("words-3")
    assert [sha256(path) for path in paths] == first


@pytest.mark.parametrize("limit", [0, 1, 12, 40])
def test_the_sentences_are_those_that_the_models_are_measured_on(
    limit: int, small_corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]]
) -> None:
    tokenizer, corpora = small_corpus
    ours = held_out_texts(documents(4, 3), tokenizer, limit)
    theirs = held_out_sentences(corpora["test"], limit)
    assert [tokenizer.encode(text) for text in ours.texts] == [ids.tolist() for ids in theirs.ids]
    assert (ours.words, ours.documents) == (theirs.words, theirs.documents)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  words-3:\n", "  tta:\n", "ngrams.tta: an entry of models is called so"),
        ("    order: 3\n", "    order: 9\n", "ngrams.words-3.order"),
        (
            "    order: 3\n",
            "    ordre: 3\n",
            "ngrams.words-3.ordre: unknown key; the nearest known key is 'order'",
        ),
        ("    punctuation: split\n", "", "ngrams.words-3: punctuation is missing"),
        ("pruning: [0, 1]", "pruning: [1, 1]", "ngrams.pieces-2: pruning .* must begin with 0"),
        (
            "  words-3:\n    corpus: wikipedia-sample",
            "  words-3:\n    corpus: wikipedia",
            "ngrams.words-3.corpus: unknown corpus 'wikipedia'",
        ),
        ("  rerank: [", "  rerank: [words-4, ", "evaluate.rerank: unknown model 'words-4'; .* 'words-3'"),
        ("  sts: [", "  sts: [words-3, ", "evaluate.sts: unknown model 'words-3'"),
    ],
)
def test_settings_that_mean_nothing_are_one_line(
    old: str, new: str, said: str, layout: Layout, workspace: Path
) -> None:
    path = workspace / "params.yaml"
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=said):
        read_params()


def test_an_n_gram_reranks_beside_models(layout: Layout, workspace: Path) -> None:
    path = workspace / "params.yaml"
    path.write_text(path.read_text().replace("  rerank: [", "  rerank: [words-3, "))
    assert read_params().evaluate["rerank"][0] == "words-3"
    with pytest.raises(InputError, match=r"words-3: not an n-gram model: it has no model\.arpa\.gz"):
        list(scorers(read_params(), "words-3"))
    with pytest.raises(InputError, match="models: has no entry 'words-4'"):
        list(scorers(read_params(), "words-4"))
