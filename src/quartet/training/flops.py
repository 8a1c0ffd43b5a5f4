"""What a training step computes, counted from the sizes of its matrix products."""

from __future__ import annotations

from quartet.config.model import ModelConfig

#: A product costs as much again for each of its two gradients.
FORWARD_AND_BACKWARD = 3.0


def training_flops(config: ModelConfig, vocabulary: int, tokens: int, targets: int, length: float) -> float:
    """Floating-point operations of a training on so many real tokens, forward and backward: the model's own work.

    Two operations a multiplication in a matrix product; normalisation, activations, the optimiser and padding are not
    counted. Attention counts every pair of a query and a key, whether a mask hides it or not. Of a Transformer-XL the
    scores of positions are not counted, nor the keys and values that each window makes anew of the memory, so its share
    of the peak is more than what is said. An adaptive softmax counts as a whole vocabulary of narrower tails, which is
    more than what is computed.

    Args:
        tokens: real (unpadded) tokens read.
        targets: tokens predicted, at which alone the vocabulary's logits are computed.
        length: keys that a token attends to, on average (of streams: memory and window).
    """
    dim, inner = config.dim, config.inner
    projections = 4 * dim * dim + 2 * dim * inner
    if config.architecture == "transformer-xl":
        projections += dim * dim  # the key's position side, taken to the query's
    layer = 2 * projections + 4 * length * dim
    head = 2 * dim * vocabulary + (2 * dim * dim if config.head == "transform" else 0)
    return FORWARD_AND_BACKWARD * (tokens * config.layers * layer + targets * head)
