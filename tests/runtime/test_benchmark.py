"""The run-time study times every reading of a model, on the texts that it says, and compares like with like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from quartet.errors import InputError
from quartet.objectives.mlm import MaskedLM
from quartet.runtime.benchmark import TimedTexts, Timing, benchmark, cut_texts, growth, over_lae
from quartet.runtime.hf_bert import bert_like
from quartet.runtime.systems import TimedSystem, on_device, systems_of
from quartet.scoring.language_model import LanguageModel
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.scoring.test_language_model import random_model

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]
RUNNING = 20 * [
    "the",
    "old",
    "miller",
    "crossed",
    "the",
    "river",
    "and",
    "a",
    "grey",
    "heron",
    "flew",
    "away",
    "then",
]


class Still:
    """A model that does nothing."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.zeros((len(texts), 1))

    def score(self, texts: Sequence[str]) -> list[float]:
        return [0.0] * len(texts)


def system(name: str, objective: str, **changes: object) -> TimedSystem:
    settings = {"reads": "sentences", "batched": True, "tokens": len, "room": None, "device": "cpu"}
    return TimedSystem(
        of=name,
        model=Still(),
        objective=objective,
        scale="",
        seed=1,
        **{**settings, **changes},  # type: ignore[arg-type]
    )


def timing(of: TimedSystem, words: int, seconds: Sequence[float], tokens: int = 0) -> Timing:
    texts = TimedTexts(f"{words}-words", words, ("a",))
    return Timing(of, "sts", texts, tokens or 2 * words, np.array(seconds))


def test_a_masked_model_is_read_both_ways_and_left_as_it_was(small_corpus: Small) -> None:
    model = random_model("bilm", small_corpus[0])
    plain, batched = systems_of(model)
    assert (plain.name, plain.batched, batched.name, batched.batched) == (
        *("bilm-one-by-one", False),
        *("bilm", True),
    )
    assert isinstance(model.objective, MaskedLM) and not model.objective.plain
    assert isinstance(plain.model, LanguageModel) and plain.model.network is model.network
    assert isinstance(plain.model.objective, MaskedLM) and plain.model.objective.plain
    texts = ["the old bridge", "a grey heron left"]
    assert plain.model.score(texts) == pytest.approx(model.score(texts), abs=1e-4)
    assert np.allclose(plain.model.embed(texts), model.embed(texts), atol=1e-5)
    assert [each.name for each in systems_of(random_model("tta", small_corpus[0]))] == ["tta"]


def test_the_reading_one_by_one_runs_once_a_masked_token(
    small_corpus: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = random_model("bilm", small_corpus[0])
    tokens = len(model.tokenizer.encode("the old bridge"))
    runs: list[int] = []
    rows: list[int] = []
    model.network.register_forward_hook(lambda *_: runs.append(1))
    logits = model.network.target_logprobs

    def counted(hidden_ND: torch.Tensor, targets_N: torch.Tensor) -> torch.Tensor:
        rows.append(len(hidden_ND))
        return logits(hidden_ND, targets_N)

    monkeypatch.setattr(model.network, "target_logprobs", counted)
    systems_of(model)[0].call("rerank", ["the old bridge"])()
    assert len(runs) == tokens
    assert rows == [1] * tokens, "each pass makes its own logits"


def test_a_text_may_be_as_long_as_an_input_and_no_longer() -> None:
    inputs = [TimedTexts("1-words", 1, ("four",))]
    assert list(benchmark([system("tta", "lae", room=4)], inputs, repeats=1))
    with pytest.raises(InputError, match="1 words are 4 tokens, and tta reads 3 at once"):
        list(benchmark([system("tta", "lae", room=3)], inputs, repeats=1))


def test_a_copy_on_a_device_shares_nothing(small_corpus: Small) -> None:
    model = random_model("tta", small_corpus[0])
    moved = on_device(model, "cpu")
    assert moved.network is not model.network
    assert moved.score(["the old bridge"]) == model.score(["the old bridge"])


def test_every_system_is_timed_for_both_uses_and_only_batched_ones_on_the_list(small_corpus: Small) -> None:
    systems = systems_of(random_model("bilm", small_corpus[0])) + systems_of(
        random_model("tta", small_corpus[0])
    )
    inputs = [
        TimedTexts("1-words", 1, ("river",)),
        TimedTexts("2-best-of-3-words", 3, ("the old bridge", "a grey heron")),
    ]
    ended: list[None] = []
    timings = list(benchmark(systems, inputs, repeats=2, done=lambda: ended.append(None)))
    assert {(each.name, each.texts.name) for each in timings} == {
        (f"{name}/{use}", texts)
        for name in ("bilm", "bilm-one-by-one", "tta")
        for use in ("sts", "rerank")
        for texts in ("1-words", "2-best-of-3-words")
        if not (texts.startswith("2-best") and name == "bilm-one-by-one")
    }
    assert all(each.seconds.shape == (2,) and each.milliseconds.value > 0 for each in timings)
    tokenizer = small_corpus[0]
    both = sum(len(tokenizer.encode(text)) for text in inputs[1].texts)
    assert {each.tokens for each in timings if each.texts.is_list} == {both}
    assert len(ended) == 2 * (2 + 1)


def test_a_sentence_that_needs_two_inputs_is_refused(small_corpus: Small) -> None:
    systems = systems_of(random_model("tta", small_corpus[0]))
    with pytest.raises(InputError, match=r"runtime\.words: 40 words are \d+ tokens, and tta reads 22"):
        list(benchmark(systems, [TimedTexts("40-words", 40, (" ".join(["river"] * 40),))], repeats=1))


def test_texts_have_as_many_words_as_their_names_say() -> None:
    found = cut_texts(RUNNING, [1, 7, 7], hypotheses=3)
    assert [each.name for each in found] == ["1-words", "7-words", "3-best-of-20-words"]
    assert [[len(text.split()) for text in each.texts] for each in found] == [[1], [7], [20, 20, 20]]
    assert len(set(found[2].texts)) == 3
    assert len(cut_texts(RUNNING, [1], hypotheses=0)) == 1


@pytest.mark.parametrize(("words", "hypotheses", "place"), [([13], 0, "words"), ([1], 1, "hypotheses")])
def test_a_text_that_is_too_short_is_refused(words: list[int], hypotheses: int, place: str) -> None:
    with pytest.raises(InputError, match=rf"runtime\.{place}: \d+ words are needed and the test text has 12"):
        cut_texts(RUNNING[:12], words, hypotheses)


def test_only_masked_systems_over_lae_systems_of_the_same_input_are_compared() -> None:
    timings = [
        timing(system("bilm", "mlm"), 20, [0.2, 0.4, 0.3]),
        timing(system("tta", "lae"), 20, [0.1, 0.2, 0.15]),
        timing(system("unilm", "clm"), 20, [0.1, 0.1, 0.1]),
        timing(system("tta-segments", "lae", reads="spans"), 20, [0.1, 0.1, 0.1]),
        timing(system("tta", "lae"), 5, [0.1, 0.1, 0.1]),
    ]
    found = over_lae(timings, samples=50, seed=1)
    assert list(found) == [("bilm/sts", "20-words", "tta")]
    assert found["bilm/sts", "20-words", "tta"].value == pytest.approx(2.0)


def test_growth_is_with_tokens_and_leaves_single_words_out() -> None:
    of = system("tta", "lae")
    points = [timing(of, words, [1e-3 * (2 * words) ** 1.5] * 3) for words in (2, 10, 100)]
    found = growth([timing(of, 1, [9.0] * 3), *points])
    assert list(found) == [("tta/sts", "2-to-100-words")]
    assert found["tta/sts", "2-to-100-words"].value == pytest.approx(1.5)
    assert growth(points[:1]) == {}
    assert found["tta/sts", "2-to-100-words"].ci_low is not None, "three points have an interval"
    (two,) = growth(points[:2]).values()
    assert two.ci_low is None and two.value == pytest.approx(1.5), "two have none"


def test_a_bert_of_the_same_sizes_reads_the_same_tokens_and_gives_the_same_both_ways(
    small_corpus: Small,
) -> None:
    pytest.importorskip("transformers")
    model = random_model("bilm", small_corpus[0])
    plain, batched = bert_like(model)
    assert (plain.name, batched.name, plain.objective, plain.reads) == (
        *("hf-bert-one-by-one", "hf-bert"),
        *("mlm", "sentences"),
    )
    texts = ["the old bridge", "a grey heron"]
    assert [batched.tokens(text) for text in texts] == [len(model.tokenizer.encode(text)) for text in texts]
    assert batched.room == model.card.model.max_length - 2
    assert plain.model.score(texts) == pytest.approx(batched.model.score(texts), abs=1e-4)
    assert np.allclose(plain.model.embed(texts), batched.model.embed(texts), atol=1e-5)
    assert plain.scale == batched.scale and plain.scale.startswith("random weights, ")
