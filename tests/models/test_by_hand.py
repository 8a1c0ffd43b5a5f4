"""Three tokens worked by hand with small whole weights: the logits of T-TA, and the attention of Segatron-XL."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from quartet.models.architectures import build
from quartet.models.transformer_xl import TransformerXL
from quartet.models.tta import TTA
from tests.models.shapes import KINDS, small


def fix(module: nn.Module, **weights: Tensor) -> None:
    """Set the parameters named (``__`` for a dot), and every other matrix and bias to 0; normalisation stays."""
    given = {name.replace("__", "."): tensor for name, tensor in weights.items()}
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name in given:
                parameter.copy_(given.pop(name))
            elif "norm" not in name:
                parameter.zero_()
    assert not given


def mirrored(*rows: tuple[float, float]) -> Tensor:
    """(a, b) -> (a, b, -a, -b)."""
    return torch.tensor([[a, b, -a, -b] for a, b in rows])


def test_logits_of_tta() -> None:
    """One layer, one head, width 4, every map of the attention the identity, a feed-forward layer of zeros.

    All vectors are (a, b, -a, -b), written (a, b) here. Then q . k / sqrt(4) is a a' + b b', the mean is 0 and
    normalisation gives sqrt(2) (a, b) / |(a, b)|; a logit is 2 (a a' + b b').

        tokens     A = (1, 0)   B = (0, 2)   C = (1, 1)        the text is A B C
        positions  0 = (0, 0)   1 = (1, 0)   2 = (0, 1)        and these are the queries
        keys       A + 0 = (1, 0)   B + 1 = (1, 2)   C + 2 = (1, 2)

    The diagonal is masked, so every query has two keys:

        query 0   sees (1, 2) (1, 2), scores 0 0   context (1, 2)      sum (1, 2)      norm sqrt(5)
        query 1   sees (1, 0) (1, 2), scores 1 1   context (1, 1)      sum (2, 1)      norm sqrt(5)
        query 2   sees (1, 0) (1, 2), scores 0 2   context (1, 2 s)    sum (1, 2 s + 1)

    with s = 1 / (1 + exp(-2)) = 0.880797, so 2 s + 1 = 2.761594 and the norm of the last sum is 2.937074. Each logit is
    2 sqrt(2) times the product of the sum with the token, by the norm:

                A                                  B                                  C
        query 0   2.828427 * 1 / 2.236068 = 1.2649   * 4 = 5.0596                       * 3 = 3.7947
        query 1   * 2 = 2.5298                       * 2 = 2.5298                       * 3 = 3.7947
        query 2   2.828427 * 1 / 2.937074 = 0.9630   * 5.523188 = 5.3189                * 3.761594 = 3.6224
    """
    settings = {"dim": 4, "heads": 1, "inner": 4, "layers": 1, "norm_epsilon": 1e-12, "head": "tied"}
    network = build(
        small(objective="lae", architecture="tta", tta={"normalise_inputs": False}, **settings), vocabulary=3
    )
    assert isinstance(network, TTA)
    maps = {
        f"layers__0__attention__{name}__weight": torch.eye(4) for name in ("query", "key", "value", "output")
    }
    positions = torch.zeros(16, 4)
    positions[:3] = mirrored((0, 0), (1, 0), (0, 1))
    fix(
        network,
        tokens__weight=mirrored((1, 0), (0, 2), (1, 1)),
        positions__tables__sequence__weight=positions,
        **maps,
    )
    positions_BTP = torch.arange(3)[None, :, None].expand(1, 3, 4)
    hidden_BTD, _ = network(torch.tensor([[0, 1, 2]]), positions_BTP, torch.ones(1, 3, dtype=torch.bool))
    logits = network.head.logits(hidden_BTD[0], network.tokens)
    expected = [[1.2649, 5.0596, 3.7947], [2.5298, 2.5298, 3.7947], [0.9630, 5.3189, 3.6224]]
    for found, row in zip(logits.tolist(), expected, strict=True):
        assert found == pytest.approx(row, abs=1e-4)


def test_a_score_of_segatron_xl() -> None:
    """The attention of the last of three tokens, the third in a new sentence; positions token and sentence.

    Width 4 in one head, two parts of width 2, each with the frequency 1: for the offsets t and s, in our order,
    R = (sin t, sin s, cos t, cos s). Keys, values and W_R are the identity, and the tokens are the first three unit
    vectors, so the context's first three numbers are the weights of the attention. With q = (1, 0, 1, 0),
    u = (1, 2, 0, 0) and v = (0, 1, 2, 1):

        (q + u) . k = (2, 2, 1, 0) . k
        (q + v) . R = sin t + sin s + 3 cos t + cos s

        key 0   t 2, s 1   2 + 0.909297 + 0.841471 - 1.248441 + 0.540302 = 3.042630   / 2 = 1.521315
        key 1   t 1, s 1   2 + 0.841471 + 0.841471 + 1.620907 + 0.540302 = 5.844151   / 2 = 2.922076
        key 2   t 0, s 0   1 + 0        + 0        + 3        + 1        = 5          / 2 = 2.5

    The powers of e are 4.578241, 18.579819 and 12.182494, their sum is 35.340555, and the weights are
    0.129546, 0.525736 and 0.344717.
    """
    config = small(
        **{**KINDS["segatron-xl"], "positions": ["token", "sentence"], "dim": 4, "heads": 1, "layers": 1}
    )
    network = build(config, vocabulary=3)
    assert isinstance(network, TransformerXL)
    query = torch.zeros(4, 4)
    query[:, 2] = torch.tensor([1.0, 0, 1, 0])
    maps = {
        f"layers__0__attention__{name}__weight": torch.eye(4)
        for name in ("key", "value", "position", "output")
    }
    fix(
        network,
        u_HK=torch.tensor([[1.0, 2, 0, 0]]),
        v_HK=torch.tensor([[0.0, 1, 2, 1]]),
        layers__0__attention__query__weight=query,
        **maps,
    )
    positions_BSP = torch.tensor([[[0, 0, 0, 0], [1, 1, 0, 0], [2, 2, 1, 0]]])
    relative = network._relative(positions_BSP, torch.ones(1, 3, dtype=torch.bool))
    x_BTD = torch.eye(4)[None, :3]
    attended_BTD = network.layers[0].attention(x_BTD, x_BTD, network.u_HK, network.v_HK, relative)
    assert attended_BTD[0, 2].tolist() == pytest.approx([0.129546, 0.525736, 0.344717, 0.0], abs=1e-5)
