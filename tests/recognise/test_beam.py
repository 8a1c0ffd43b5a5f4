"""The search: right translations, exact scores, in order, none of them depending on their company."""

from __future__ import annotations

import math

import pytest
import torch
from sacrebleu.metrics.bleu import BLEU
from torch.nn import functional as F

from quartet.config.recognise import BeamConfig
from quartet.recognise.beam import BeamSearchResult, EndAtLimit, search
from quartet.recognise.translation import Translator
from quartet.recognise.vocabulary import PieceTokenizer
from quartet.text.tokenizer import SPECIALS
from tests.recognise import toy

BEAM = BeamConfig(size=5, extra_tokens=5)


@pytest.fixture(scope="module")
def searched(toy_translator: Translator) -> BeamSearchResult:
    return search(toy_translator, toy.DEV.source, BEAM)


def recomputed(translator: Translator, source: str, target: list[int]) -> float:
    """log P(target, [EOS] | source) by one forward pass of the network over one pair."""
    bos, eos = PieceTokenizer.bos_id, PieceTokenizer.eos_id
    with torch.no_grad():
        logits = translator.network(
            input_ids=torch.tensor([[*translator.tokenizer.encode(source), eos]]),
            decoder_input_ids=torch.tensor([[bos, *target]]),
        ).logits[0]
    wanted = torch.tensor([*target, eos])
    return float(F.log_softmax(logits.double(), dim=-1).gather(1, wanted[:, None]).sum())


def test_the_toy_language_is_translated(searched: BeamSearchResult) -> None:
    best = [one[0].text for one in searched.lists]
    assert BLEU().corpus_score(best, [list(toy.DEV.target)]).score > 80
    held = [
        target in [each.text for each in one]
        for one, target in zip(searched.lists, toy.DEV.target, strict=True)
    ]
    assert sum(held) > 0.8 * len(held)


def test_lists_are_sorted_and_hold_no_text_twice(searched: BeamSearchResult) -> None:
    assert len(searched.lists) == len(toy.DEV)
    for one in searched.lists:
        assert 1 <= len(one) <= BEAM.size
        assert [each.score for each in one] == sorted((each.score for each in one), reverse=True)
        assert len({each.text for each in one}) == len(one)
        assert all(each.score == each.log_probability < 0 for each in one)
    assert sum(map(len, searched.lists)) + searched.merged == len(toy.DEV) * BEAM.size


def test_scores_are_the_networks_log_probabilities(
    toy_translator: Translator, searched: BeamSearchResult
) -> None:
    """Where the text's own pieces are those that were found, which is told by their number."""
    checked = 0
    for source, one in zip(toy.DEV.source[:15], searched.lists, strict=False):
        for each in one:
            target = toy_translator.tokenizer.encode(each.text)
            if len(target) + 1 == each.tokens:
                expected = recomputed(toy_translator, source, target)
                assert math.isclose(each.log_probability, expected, abs_tol=1e-4)
                checked += 1
    assert checked > 50


def test_scores_are_those_of_transformers_own_search(
    toy_translator: Translator, searched: BeamSearchResult
) -> None:
    """`sequences_scores` of a plain call, one source at a time, where nothing reaches the limit of length."""
    network, tokenizer = toy_translator.network, toy_translator.tokenizer
    checked = 0
    for source, one in zip(toy.DEV.source[:20], searched.lists, strict=False):
        ids = [*tokenizer.encode(source), PieceTokenizer.eos_id]
        if max(each.tokens for each in one) == len(ids) + BEAM.extra_tokens:
            continue
        outcome = network.generate(
            torch.tensor([ids]),
            num_beams=5,
            num_return_sequences=5,
            length_penalty=0.0,
            suppress_tokens=[number for number in range(len(SPECIALS)) if number != PieceTokenizer.eos_id],
            max_new_tokens=len(ids) + BEAM.extra_tokens,
            output_scores=True,
            return_dict_in_generate=True,
        )
        best: dict[str, float] = {}
        for row, score in zip(outcome.sequences, outcome.sequences_scores.tolist(), strict=True):
            best.setdefault(tokenizer.decode(row), score)
        assert list(best) == [each.text for each in one]
        assert list(best.values()) == pytest.approx([each.score for each in one], abs=1e-4)
        checked += 1
    assert checked >= 10


def test_the_order_and_the_size_of_batches_change_nothing(
    toy_translator: Translator, searched: BeamSearchResult
) -> None:
    one_by_one = BeamConfig(size=5, extra_tokens=5, batch_tokens=1)
    again = search(toy_translator, toy.DEV.source[::-1], one_by_one).lists[::-1]
    for first, second in zip(searched.lists, again, strict=True):
        assert [each.text for each in first] == [each.text for each in second]
        assert [each.score for each in first] == pytest.approx([each.score for each in second], abs=1e-4)


def test_the_same_search_gives_the_same_numbers(
    toy_translator: Translator, searched: BeamSearchResult
) -> None:
    assert search(toy_translator, toy.DEV.source, BEAM) == searched


def test_a_length_penalty_divides_by_a_power_of_the_tokens(toy_translator: Translator) -> None:
    found = search(toy_translator, toy.DEV.source[:8], BeamConfig(size=5, length_penalty=0.6))
    for one in found.lists:
        assert [each.score for each in one] == sorted((each.score for each in one), reverse=True)
        assert all(math.isclose(each.score, each.log_probability / each.tokens**0.6) for each in one)


def test_every_hypothesis_ends_where_it_must_at_its_own_price(toy_translator: Translator) -> None:
    """No room for a translation: one token more than nothing, which is the [EOS] that the network did not want."""
    source = "der Hund sah die Katze"
    short = BeamConfig(size=4, extra_tokens=0)
    (one,) = search(toy_translator, [source], short).lists
    limit = len(toy_translator.tokenizer.encode(source)) + 1
    assert all(each.tokens <= limit for each in one)
    tight = toy.translator_with(toy_translator, max_length=4)
    found = search(tight, [source, "Hund"], short)
    assert found.cut == 1
    limits = [4, min(4, len(toy_translator.tokenizer.encode("Hund")) + 1)]
    at_limit = [each.tokens == most for most, one in zip(limits, found.lists, strict=True) for each in one]
    assert 0 < found.ended == sum(at_limit) < len(at_limit)
    assert max(each.tokens for each in found.lists[0]) == 4, "as many as the model reads, and [EOS]"
    for text, one in zip((source, "Hund"), found.lists, strict=True):
        assert one
        cut = toy_translator.tokenizer.decode(toy_translator.tokenizer.encode(text)[:3])
        for each in one:
            target = toy_translator.tokenizer.encode(each.text)
            assert each.tokens <= 4
            if len(target) + 1 == each.tokens:
                assert math.isclose(
                    each.log_probability, recomputed(toy_translator, cut, target), abs_tol=1e-4
                )


def test_more_beams_than_hypotheses_give_shorter_lists(toy_translator: Translator) -> None:
    """With two tokens, [EOS] one of them, there are as many hypotheses as first tokens."""
    tight = toy.translator_with(toy_translator, max_length=4)
    found = search(tight, [""], BeamConfig(size=400, extra_tokens=1))
    (one,) = found.lists
    vocabulary = tight.tokenizer.vocab_size - len(SPECIALS)
    assert len(one) + found.merged == vocabulary + 1
    assert all(each.tokens <= 2 for each in one)


def test_progress_is_told_and_nothing_gives_nothing(toy_translator: Translator) -> None:
    steps: list[int] = []
    search(toy_translator, toy.DEV.source[:9], BeamConfig(size=2, batch_tokens=100), steps.append)
    assert sum(steps) == 9
    assert len(steps) > 1
    assert search(toy_translator, [], BEAM) == BeamSearchResult([], 0, 0, 0)


def test_what_a_limit_allows_keeps_its_log_probability() -> None:
    eos = PieceTokenizer.eos_id
    scores = torch.log_softmax(torch.randn(4, 20), dim=-1)
    processed = EndAtLimit(torch.tensor([3, 5]), 2)(torch.zeros(4, 3, dtype=torch.int64), scores.clone())
    assert torch.equal(processed[:, eos], scores[:, eos])
    assert torch.isinf(processed[:2]).sum() == 2 * 19
    specials = [number for number in range(len(SPECIALS)) if number != eos]
    assert torch.isinf(processed[2:, specials]).all()
    assert torch.equal(processed[2:, len(SPECIALS) :], scores[2:, len(SPECIALS) :])
