"""What settings and the report know of an objective, without PyTorch: an entry for each in `quartet.objectives`.

How it trains and scores is its class.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator


@dataclass(frozen=True, kw_only=True)
class ObjectiveFacts:
    """An objective as params.yaml may name it.

    Attributes:
        label: over a panel of a picture.
        predicts: of its models in a sentence, e.g. "CLM, which predict the next token".
        architectures: those whose networks can be trained with it.
        causal: its predictions see nothing of later tokens, so that the network must not either.
        masks: a text's score hides one token at a time, a pass each.
        normalised: a token's score is a log-probability, so that there is a perplexity.
        settings: the keys of ``training:`` that mean something for it and not for every other.
    """

    label: str
    predicts: str
    architectures: Collection[str]
    causal: bool
    masks: bool
    normalised: bool
    settings: Collection[str]


#: By the name in params.yaml, in the report's order.
OBJECTIVES: dict[str, ObjectiveFacts] = {
    "clm": ObjectiveFacts(
        label="next token (CLM)",
        predicts="CLM, which predict the next token",
        architectures=("encoder", "transformer-xl"),
        causal=True,
        masks=False,
        normalised=True,
        settings=(),
    ),
    "mlm": ObjectiveFacts(
        label="masked tokens (MLM)",
        predicts="MLM, which predict masked tokens",
        architectures=("encoder",),
        causal=False,
        masks=True,
        normalised=True,
        settings=("mask_probability", "max_selected", "loss_on_specials"),
    ),
    "lae": ObjectiveFacts(
        label="every token (LAE)",
        predicts="LAE, T-TA's objective, which predict every token from all the others in one pass",
        architectures=("tta",),
        causal=False,
        masks=False,
        normalised=True,
        settings=("loss_on_specials",),
    ),
}
#: Keys of ``training:`` that not every objective reads.
PARTICULAR = ("mask_probability", "max_selected", "loss_on_specials")


def _known(name: str) -> str:
    if name not in OBJECTIVES:
        names = [repr(one) for one in OBJECTIVES]
        raise ValueError(f"must be {', '.join(names[:-1])} or {names[-1]}, found {name!r}")
    return name


#: A key of `OBJECTIVES`.
ObjectiveName = Annotated[str, AfterValidator(_known)]
