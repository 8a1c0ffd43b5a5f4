"""Transformer-XL at any window and memory, over one document or a whole split: what a score depends on."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quartet.config.model import POSITIONS
from quartet.data.batch import Row
from quartet.data.segments import SegmentedTokens
from quartet.data.streams import StreamSource
from quartet.errors import InputError
from quartet.scoring import device
from quartet.scoring.language_model import LanguageModel
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import SPECIALS, TextTokenizer
from tests.scoring.test_language_model import random_model
from tests.small_corpus import corpus_of

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
Document = list[list[list[int]]]
#: Of the random models.
LAYERS = 2
XL = ["transformer-xl", "segatron-xl"]

#: Documents of one to three paragraphs, of one to three sentences, of one to six tokens.
DOCUMENT = st.lists(
    st.lists(st.lists(st.integers(len(SPECIALS), 60), min_size=1, max_size=6), min_size=1, max_size=3),
    min_size=1,
    max_size=3,
)


def scores(model: LanguageModel, *documents: Document, **how: Any) -> list[np.ndarray]:
    return model.corpus_logprobs(corpus_of(documents), **how)


@pytest.mark.parametrize("index", ["running", "reset"])
@pytest.mark.parametrize("kind", XL)
@settings(max_examples=15, deadline=None)
@given(document=DOCUMENT, window=st.integers(1, 20))
def test_a_memory_as_long_as_the_text_makes_any_window_one_pass(
    small_corpus: Small, kind: str, index: str, document: Document, window: int
) -> None:
    model = random_model(kind, small_corpus[0], recurrence={"index": index})
    whole = model.at(window=1000, memory=0)
    parts = model.at(window=window, memory=1000)
    assert np.allclose(scores(parts, document)[0], scores(whole, document)[0], atol=1e-5)


@pytest.mark.parametrize("kind", XL)
@settings(max_examples=15, deadline=None)
@given(memory=st.integers(1, 5), place=st.integers(0, 6), data=st.data())
def test_a_score_depends_on_layers_times_memory_tokens(
    small_corpus: Small, kind: str, memory: int, place: int, data: st.DataObject
) -> None:
    """With a window of 1, token t is predicted at t - 1, which sees LAYERS * memory tokens before itself."""
    tokens = data.draw(st.lists(st.integers(len(SPECIALS), 60), min_size=24, max_size=30))
    changed = [*tokens[:place], 61, *tokens[place + 1 :]]
    model = random_model(kind, small_corpus[0]).at(window=1, memory=memory)
    model.network.double()  # the farthest token changes a score by little
    before, after = (scores(model, [[text]])[0] for text in (tokens, changed))
    reached = np.flatnonzero(np.abs(before - after) > 0)
    assert reached[0] == place and reached[-1] == place + 1 + LAYERS * memory
    assert np.array_equal(before[:place], after[:place]), "nor on what comes later"


@pytest.mark.parametrize("kind", XL)
def test_a_long_stream_is_one_pass_over_what_it_can_reach(small_corpus: Small, kind: str) -> None:
    """The last token after 200 others, against a text that starts where the model's reach does."""
    generator = np.random.default_rng(1)
    paragraph = [
        generator.integers(len(SPECIALS), 60, size).tolist() for size in generator.integers(3, 9, 40)
    ]
    memory = 6
    model = random_model(kind, small_corpus[0]).at(window=1, memory=memory)
    long = scores(model, [paragraph])[0]
    starts = np.cumsum([0, *map(len, paragraph)])
    within = int(np.searchsorted(starts, starts[-1] - 1 - LAYERS * memory, side="right")) - 1
    assert within > 20
    assert np.isclose(scores(model, [paragraph[within:]])[0][-1], long[-1], atol=1e-5)
    assert not np.isclose(scores(model, [paragraph[within + 2 :]])[0][-1], long[-1], atol=1e-5)


@pytest.mark.parametrize("kind", XL)
def test_without_memory_a_window_is_all_that_is_seen(small_corpus: Small, kind: str) -> None:
    model = random_model(kind, small_corpus[0]).at(window=5, memory=0)
    tokens = list(range(10, 32))
    before, after = (scores(model, [[text]])[0] for text in (tokens, [61, *tokens[1:]]))
    # [EOS] and the tokens 0 to 3 are one window, whose last output predicts token 4
    assert (before[:5] != after[:5]).all() and np.array_equal(before[5:], after[5:])


@pytest.mark.parametrize("kind", XL)
@settings(max_examples=15, deadline=None)
@given(
    documents=st.lists(DOCUMENT, min_size=2, max_size=4), window=st.integers(1, 9), memory=st.integers(0, 30)
)
def test_a_carried_memory_makes_one_document_of_all(
    small_corpus: Small, kind: str, documents: list[Document], window: int, memory: int
) -> None:
    model = random_model(kind, small_corpus[0]).at(window=window, memory=memory)
    carried = scores(model, *documents, carry_memory=True)
    assert [len(one) for one in carried] == [sum(map(len, itertools.chain(*d))) for d in documents]
    merged = scores(model, list(itertools.chain(*documents)))[0]
    assert np.allclose(np.concatenate(carried), merged, atol=1e-5)
    assert np.allclose(carried[0], scores(model, documents[0])[0], atol=1e-5)


@pytest.mark.parametrize("kind", XL)
def test_what_is_carried_counts(small_corpus: Small, kind: str) -> None:
    corpus = small_corpus[1]["test"]
    model = random_model(kind, small_corpus[0])
    alone, carried = (model.corpus_logprobs(corpus, carry_memory=carry) for carry in (False, True))
    assert np.allclose(alone[0], carried[0], atol=1e-5)
    assert not np.allclose(alone[1], carried[1], atol=1e-2)


@pytest.mark.parametrize("index", ["running", "reset"])
def test_a_split_is_laid_out_as_in_training(small_corpus: Small, index: str) -> None:
    """The stream of an evaluation is that of StreamSource behind one [EOS]."""
    tokenizer, splits = small_corpus
    corpus = splits["test"]
    model = random_model("segatron-xl", tokenizer, recurrence={"index": index})
    whole = SegmentedTokens(corpus).row(0, len(corpus.ids))
    ids, positions = model._reader._stream(Row(whole.ids, whole.segments))
    source = StreamSource(corpus, tokenizer, window=10_000, batch_size=1, seed=None, index=index)  # type: ignore[arg-type]
    batch = source.batch(0)
    assert ids.tolist() == [tokenizer.eos_id, *batch.ids_BT[0].tolist(), tokenizer.eos_id]
    ahead = [index == "running" or kind == "sequence" for kind in POSITIONS]
    assert np.array_equal(positions[1:-1], batch.positions_BTP[0].numpy() + ahead)


@pytest.mark.parametrize("kind", XL)
@pytest.mark.parametrize("budget", [1, 100, 10_000])
def test_scores_do_not_depend_on_what_is_read_beside(
    small_corpus: Small, kind: str, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches of one document, of a few, of all with much padding: the same to 1e-5 a token."""
    model = random_model(kind, small_corpus[0])
    corpus = small_corpus[1]["train"]
    expected = model.corpus_logprobs(corpus)
    monkeypatch.setattr(device, "TOKEN_BUDGET", budget)
    for found, values in zip(model.corpus_logprobs(corpus), expected, strict=True):
        assert np.abs(found - values).max() < 1e-5


def test_each_document_of_a_limited_stream_gives_its_first_tokens(small_corpus: Small) -> None:
    model = random_model("segatron-xl", small_corpus[0])
    corpus = small_corpus[1]["test"]
    limited = model.corpus_logprobs(corpus, tokens_per_document=12, carry_memory=True)
    tokens = SegmentedTokens(corpus)
    sizes = [len(tokens.document(number, 12).ids) for number in range(len(corpus.doc_ids))]
    assert [len(values) for values in limited] == sizes
    assert sum(sizes) < len(corpus.ids)


def test_other_lengths_share_the_weights_and_leave_the_model_alone(small_corpus: Small) -> None:
    model = random_model("transformer-xl", small_corpus[0])
    texts = ["the old bridge carried a letter. " * 5]
    before = model.score(texts)
    other = model.at(window=3).at(memory=2)
    assert other.network.tokens.weight is model.network.tokens.weight  # type: ignore[union-attr]
    assert other.score(texts) != pytest.approx(before[0], abs=1e-4)
    assert model.score(texts) == before
    assert other.score(texts) == model.at(window=3, memory=2).score(texts)
    assert other.batch(texts).ids_BT.shape[1] <= 3
    assert len(other.at(window=1).batch(texts).ids_BT[0]) == 2, "[EOS] before and after nothing"


def test_lengths_that_cannot_be_are_refused_in_one_line(small_corpus: Small) -> None:
    model = random_model("transformer-xl", small_corpus[0])
    with pytest.raises(InputError, match="window: 0 tokens cannot be read"):
        model.at(window=0)
    with pytest.raises(InputError, match="memory: -1 tokens cannot be kept"):
        model.at(memory=-1)
    unilm = random_model("unilm", small_corpus[0])
    with pytest.raises(InputError, match="unilm: has no memory"):
        unilm.at(memory=3)
    with pytest.raises(InputError, match="unilm: reads sentences: it has no memory to carry"):
        unilm.corpus_logprobs(small_corpus[1]["test"], carry_memory=True)
