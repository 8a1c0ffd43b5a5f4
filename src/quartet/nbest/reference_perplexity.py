"""(Pseudo-)perplexity of the references of N-best lists, to set beside their word errors (T-TA paper, Table 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from quartet.nbest.types import NBest
from quartet.nbest.word_errors import words
from quartet.results import Measure
from quartet.statistics.intervals import Floats
from quartet.statistics.perplexity import UnknownWords, perplexity_measures


def references_of(lists: Iterable[NBest]) -> list[str]:
    """The references that there are, as often as they occur."""
    return [one.reference for one in lists if one.reference is not None]


def reference_measures(
    lists: Sequence[NBest],
    token_logprobs: Callable[[list[str]], Sequence[Floats]],
    pseudo: bool,
    samples: int,
    seed: int,
    unknown: Callable[[list[str]], UnknownWords] | None = None,
) -> dict[str, Measure]:
    """How well a language model predicts what was said, with 95 % intervals over utterances (Section A.5).

    Over the references' own tokens alone, so that a model which also predicts the end of a text has the same
    tokens as one that does not. A list without a reference, and one whose reference has no token, counts in
    none; n says over how many tokens, words or utterances a figure is.

    Args:
        lists: normalised as their hypotheses are scored.
        token_logprobs: texts -> natural log-probabilities of each one's tokens; where they are not pseudo, the
            last one is the closing token's. It is called once, with every reference.
        pseudo: they are pseudo-log-probabilities.
        samples: resamples of the bootstrap.
        seed: of its draws.
        unknown: texts -> their unknown words; None: there are none.

    Returns:
        "ppl", "ppl-word": over all references together, a token and a word.
        "oov": the share of unknown tokens.
        "ppl-mean", "ppl-median", "ppl-word-mean", "ppl-word-median": over the references, of each one's own.
        They are called "pppl..." where they are pseudo-perplexities; see
        `quartet.statistics.perplexity.perplexity_measures`. Nothing where no reference has a token.
    """
    texts = references_of(lists)
    own = [each if pseudo else each[:-1] for each in token_logprobs(texts)]
    if not any(len(each) for each in own):
        return {}
    found = perplexity_measures(
        own,
        [len(words(text)) for text in texts],
        pseudo,
        samples,
        seed,
        word_texts=True,
        unknown=unknown(texts) if unknown else None,
    )
    return {name: measure for name, measure in found.items() if name != "loss"}
