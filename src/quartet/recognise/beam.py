"""Beam search: source text to its most probable translations, each with its log-probability.

**Scores.** The log-probability of a translation is log P(target, [EOS] | source): the natural logarithm, summed over
the target's tokens and [EOS], of the network as it is. It is computed once more for each finished hypothesis, with all
of its tokens given, so that nothing of the search is in it. Hypotheses are searched and ranked by

    score = log-probability / tokens ** length_penalty       (tokens of the target, [EOS] included)

and `score` is what the lists carry as the first pass: a reader puts a list in the order of its scores, so any other
number there would give the list another order than the search gave it. With ``length_penalty: 0``, the default, the
score is the log-probability itself, a sum over tokens as language models' scores are; with 1 it is its mean, and goes
with ``rerank.score: mean``.

**The end.** A source's hypotheses have ``extra_tokens`` more tokens than it has at most; at the last place [EOS] is the
only choice, at the price that the network puts on it. No hypothesis is left without its end. Special tokens other than
[EOS] are no choice anywhere. What is kept does not depend on the other sources of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional as F

from quartet.config.recognise import BeamConfig
from quartet.recognise.hypotheses import Translation, best_of_each_text
from quartet.recognise.parallel_text import padded
from quartet.recognise.translation import Translator, logits
from quartet.recognise.vocabulary import PieceTokenizer
from quartet.text.tokenizer import SPECIALS

if TYPE_CHECKING:
    from transformers import MarianMTModel

#: Entries of a (tokens x vocabulary) matrix that are held at once when hypotheses are scored.
MOST_LOGITS = 1 << 24


@dataclass(frozen=True)
class BeamSearchResult:
    """What a search gave.

    Attributes:
        lists: for each source its translations, best first, no text twice; at least one.
        merged: hypotheses that read like a better one of their list, and were left out for it.
        cut: sources that lost their ends at ``max_length``.
        ended: hypotheses, among those kept, that the limit of length ended.
    """

    lists: list[list[Translation]]
    merged: int
    cut: int
    ended: int


class EndAtLimit:
    """Allows [EOS] alone at a source's last place, and no other special token anywhere.

    What it allows keeps its log-probability: nothing is divided anew among fewer tokens.

    Args:
        limits: (B,) most tokens of a hypothesis of each source, [EOS] included.
        beams: hypotheses of each source.
    """

    def __init__(self, limits: Tensor, beams: int) -> None:
        self.limits_R = limits.repeat_interleave(beams)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """(R, vocabulary) log-probabilities of the next token behind R running hypotheses (R, length)."""
        scores = scores.clone()
        eos = PieceTokenizer.eos_id
        specials = [number for number in range(len(SPECIALS)) if number != eos]
        scores[:, specials] = -torch.inf
        next_number = input_ids.shape[1]  # [BOS] stands first
        last_R = self.limits_R <= next_number
        ends_R = scores[last_R, eos]
        scores[last_R] = -torch.inf
        scores[last_R, eos] = ends_R
        return scores


def search(
    translator: Translator,
    texts: Sequence[str],
    beam: BeamConfig,
    advance: Callable[[int], None] | None = None,
) -> BeamSearchResult:
    """Translate texts.

    Args:
        advance: called with the number of texts of each finished batch.
    """
    room = translator.card.model.max_length - 1
    encoded = translator.tokenizer.encode_batch(texts)
    sources = [[*ids[:room], PieceTokenizer.eos_id] for ids in encoded]
    limits = [min(room + 1, len(source) + beam.extra_tokens) for source in sources]
    lists: list[list[Translation]] = [[] for _ in texts]
    merged, ended = 0, 0
    for indices in _batches(limits, beam):
        found = _search_batch(
            translator, [sources[index] for index in indices], [limits[index] for index in indices], beam
        )
        for index, translations in zip(indices, found, strict=True):
            lists[index] = best_of_each_text(translations)
            merged += len(translations) - len(lists[index])
            ended += sum(each.tokens == limits[index] for each in lists[index])
        if advance is not None:
            advance(len(indices))
    return BeamSearchResult(lists, merged, sum(len(ids) > room for ids in encoded), ended)


def _batches(limits: Sequence[int], beam: BeamConfig) -> list[list[int]]:
    """Sources of like length together, the longest first: what does not fit the memory shows at once."""
    batches: list[list[int]] = []
    for index in sorted(range(len(limits)), key=lambda index: -limits[index]):
        if batches and (len(batches[-1]) + 1) * beam.size * limits[batches[-1][0]] <= beam.batch_tokens:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


@torch.inference_mode()
def _search_batch(
    translator: Translator, sources: Sequence[Sequence[int]], limits: Sequence[int], beam: BeamConfig
) -> list[list[Translation]]:
    """The finished hypotheses of each source."""
    network, pad = translator.network, PieceTokenizer.pad_id
    source_BS = padded(sources, pad).to(network.device)
    mask_BS = (source_BS != pad).long()
    encoder = network.get_encoder()(input_ids=source_BS, attention_mask=mask_BS)
    hidden_BSD = encoder.last_hidden_state  # the search puts a row for each hypothesis in its place
    generated = _generate(network, encoder, mask_BS, limits, beam)
    rows = [_finished(*row) for row in zip(*generated, strict=True)]
    # A list that the vocabulary cannot fill holds the same tokens more than once.
    distinct = dict.fromkeys((number // beam.size, tuple(ids)) for number, ids in enumerate(rows) if ids)
    owners, found = [owner for owner, _ in distinct], [ids for _, ids in distinct]
    logprobs = target_logprobs(network, hidden_BSD, mask_BS, owners, found)
    lists: list[list[Translation]] = [[] for _ in sources]
    for owner, ids, logprob in zip(owners, found, logprobs, strict=True):
        score = logprob / len(ids) ** beam.length_penalty
        lists[owner].append(Translation(translator.tokenizer.decode(ids), score, logprob, len(ids)))
    assert all(lists), "the search ends every hypothesis at its limit, so each source has one"
    return lists


def _generate(
    network: MarianMTModel, encoder: Any, mask_BS: Tensor, limits: Sequence[int], beam: BeamConfig
) -> tuple[list[list[int]], list[int]]:
    """transformers' beam search: the B x size token rows behind [BOS], and how many of each were generated."""
    from transformers import GenerationConfig, LogitsProcessorList

    outcome = network.generate(
        encoder_outputs=encoder,
        attention_mask=mask_BS,
        generation_config=GenerationConfig(
            num_beams=beam.size,
            num_return_sequences=beam.size,
            do_sample=False,
            length_penalty=beam.length_penalty,
            early_stopping=False,
            max_new_tokens=max(limits),
            pad_token_id=PieceTokenizer.pad_id,
            bos_token_id=PieceTokenizer.bos_id,
            eos_token_id=PieceTokenizer.eos_id,
            decoder_start_token_id=PieceTokenizer.bos_id,
            return_dict_in_generate=True,
        ),
        logits_processor=LogitsProcessorList(
            [EndAtLimit(torch.tensor(limits, device=mask_BS.device), beam.size)]
        ),
    )
    lengths_R = (outcome.beam_indices >= 0).sum(dim=1)
    return outcome.sequences[:, 1:].tolist(), lengths_R.tolist()


def _finished(ids: list[int], length: int) -> list[int]:
    """The tokens of a hypothesis with their [EOS]; none for a row that the search left unfinished or never filled."""
    ids, eos = ids[:length], PieceTokenizer.eos_id
    return ids if ids[-1:] == [eos] and ids.count(eos) == 1 else []


def target_logprobs(
    network: MarianMTModel,
    hidden_BSD: Tensor,
    mask_BS: Tensor,
    owners: Sequence[int],
    targets: Sequence[Sequence[int]],
) -> list[float]:
    """log P(target | source) of targets that end with [EOS], all of their tokens given.

    Args:
        hidden_BSD: the encoder's last states, with their mask.
        owners: for each target the row of its source.
    """
    vocabulary = network.config.vocab_size
    most_rows = max(1, MOST_LOGITS // (vocabulary * max(len(ids) for ids in targets)))
    found: list[float] = []
    for start in range(0, len(targets), most_rows):
        part = targets[start : start + most_rows]
        owner_R = torch.tensor(owners[start : start + most_rows], device=hidden_BSD.device)
        targets_RT = padded(part, PieceTokenizer.pad_id).to(hidden_BSD.device)
        inputs_RT = F.pad(targets_RT[:, :-1], (1, 0), value=PieceTokenizer.bos_id)
        states_RTD = network.get_decoder()(
            input_ids=inputs_RT,
            encoder_hidden_states=hidden_BSD[owner_R],
            encoder_attention_mask=mask_BS[owner_R],
            use_cache=False,
        ).last_hidden_state
        real_RT = targets_RT != PieceTokenizer.pad_id
        targets_N = targets_RT[real_RT]
        values_N = F.log_softmax(logits(network, states_RTD[real_RT]).float(), dim=-1)
        values_N = values_N.gather(1, targets_N[:, None])[:, 0].double()
        lengths = real_RT.sum(dim=1).tolist()
        found += [float(each.sum()) for each in values_N.cpu().split(lengths)]
    return found
