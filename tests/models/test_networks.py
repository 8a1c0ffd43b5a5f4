"""What holds for every model: equal sizes within a family, causality, and settings that make no sense."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from pydantic import ValidationError

from quartet.config.model import Position
from quartet.kernels.cross_entropy import target_logprobs
from quartet.models.architectures import build
from quartet.models.positions import AbsolutePositions
from tests.models.shapes import KINDS, VARIANTS, VOCABULARY, random_inputs, small


def parameters(**changes: Any) -> int:
    return build(small(**changes), VOCABULARY).parameter_count


def test_unilm_bilm_and_tta_have_equally_many_parameters() -> None:
    counts = {name: parameters(**KINDS[name]) for name in ("unilm", "bilm", "tta")}
    assert len(set(counts.values())) == 1, counts


def test_segments_cost_their_position_tables_and_nothing_else() -> None:
    plain = parameters(objective="mlm", reads="spans")
    segments = parameters(**KINDS["segabert"])
    assert segments - plain == (256 + 100 + 50 - 16) * 24
    assert parameters(**KINDS["segatron-xl"]) == parameters(**KINDS["transformer-xl"])


def test_a_causal_model_is_not_moved_by_later_indices_over_the_maximum() -> None:
    """Bringing indices under the maximum by subtracting looks at the whole row; a causal model must not."""
    torch.manual_seed(9)
    segments = {"reads": "spans", "positions": ["token", "sentence", "paragraph"]}
    ids_BT, positions_BTP, real_BT = random_inputs(1, 8)
    positions_BTP[..., 3] = 60
    changed_BTP = positions_BTP.clone()
    changed_BTP[:, -1, 3] = 70
    for name, moved in (("unilm", False), ("bilm", True)):
        network = build(small(**{**KINDS[name], **segments}), VOCABULARY).eval()
        before_BTD, _ = network(ids_BT, positions_BTP, real_BT)
        after_BTD, _ = network(ids_BT, changed_BTP, real_BT)
        assert torch.equal(before_BTD[:, :7], after_BTD[:, :7]) != moved


def test_kinds_of_position_start_apart_in_a_split_sinusoid() -> None:
    """As one sinusoid, the third token of the fifth sentence starts as the fifth token of the third."""
    positions_BTP = torch.tensor([[[0, 3, 5, 0], [0, 5, 3, 0]]])
    for start in ("sinusoid", "split-sinusoid"):
        config = small(**{**KINDS["segabert"], "position_init": start})
        positions = AbsolutePositions(config)
        positions.initialise(config)
        one_D, other_D = positions(positions_BTP)[0]
        assert torch.allclose(one_D, other_D) == (start == "sinusoid")
    tables = [table_RD.detach() for table_RD in positions.rows()]
    for at, table_RD in enumerate(tables):
        assert (table_RD.pow(2).sum(-1) / config.init_std**2).allclose(torch.tensor(8.0)), (
            "a third of 24 each"
        )
        for other_RD in tables[at + 1 :]:
            assert not (table_RD @ other_RD.T).any()


@pytest.mark.parametrize("objective", ["clm", "mlm", "lae"])
def test_restarted_paragraphs_are_the_same_wherever_the_input_stands(objective: str) -> None:
    """From the first page of a book to its last; with the others' rules a far one comes to other rows."""
    torch.manual_seed(9)
    kind = {**KINDS["tta-segments" if objective == "lae" else "segabert"], "objective": objective}
    ids_BT, positions_BTP, real_BT = random_inputs(2, 16)
    assert positions_BTP[..., 3].amax() > 0
    far_BTP = positions_BTP.clone()
    far_BTP[..., 3] += torch.tensor([[70], [900]])
    for overflow, moved in (("restart", False), ("paper", True), ("released", True)):
        network = build(small(**kind, maxima={"paragraph": 40, "overflow": overflow}), VOCABULARY).eval()
        near_BTD, _ = network(ids_BT, positions_BTP, real_BT)
        found_BTD, _ = network(ids_BT, far_BTP, real_BT)
        assert torch.equal(near_BTD, found_BTD) != moved, overflow


def test_restarted_paragraphs_come_under_the_maximum_as_the_papers_do() -> None:
    positions = AbsolutePositions(
        small(**KINDS["segabert"], maxima={"sentence": 4, "paragraph": 4, "overflow": "restart"})
    )
    kinds_BTP = torch.tensor([[9, 9, 10, 14], [3, 0, 4, 3]])[..., None].expand(2, 4, 4)
    rows = dict(zip(positions.kinds, positions.indices(kinds_BTP), strict=True))
    assert rows["paragraph"].tolist() == [[0, 0, 0, 3], [0, 0, 1, 0]], "from 0 0 1 5 and 0 -3 1 0"
    assert rows["sentence"].tolist() == [[0, 0, 0, 3], [2, 0, 3, 2]], (
        "from 9 9 10 14 and 3 0 4 3: as the paper"
    )
    assert rows["token"].tolist() == kinds_BTP[..., 0].tolist()


@pytest.mark.parametrize("name", KINDS)
def test_padding_changes_nothing(name: str) -> None:
    torch.manual_seed(8)
    network = build(small(**KINDS[name]), VOCABULARY).eval()
    ids_BT, positions_BTP, real_BT = random_inputs(2, 8, lengths=[8, 5])
    together_BTD, _ = network(ids_BT, positions_BTP, real_BT)
    alone_BTD, _ = network(ids_BT[1:, :5], positions_BTP[1:, :5], real_BT[1:, :5])
    assert torch.allclose(together_BTD[1, :5], alone_BTD[0], atol=1e-5)


def test_which_released_offsets_leak() -> None:
    """Those of an index that does not rise by one a token."""

    def leaks(positions: list[str], index: str, offset: str = "released") -> bool:
        recurrence = {"index": index, "offset": offset}
        return small(**{**KINDS["transformer-xl"], "positions": positions, "recurrence": recurrence}).leaks

    assert leaks(["token", "sentence"], "running") and leaks(["token"], "reset")
    assert not leaks(["token"], "running") and not leaks(["sequence"], "reset")
    assert not leaks(["token", "sentence"], "running", "exact")


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"objective": "lae"}, "tta"),
        ({"architecture": "tta"}, "lae"),
        ({"reads": "streams"}, "transformer-xl"),
        ({"positions": ["token", "sentence"]}, "spans"),
        ({**KINDS["transformer-xl"], "positions": ["sequence", "token"]}, "both"),
        ({"positions": ["token", "token"]}, "each once"),
        ({"tta": {"mask": "word"}}, "only tta"),
        ({"recurrence": {"memory": 3}}, "only transformer-xl"),
        ({"spans": {"form": "released"}}, "only spans"),
        ({"maxima": {"token": 3}}, "no absolute positions"),
        (
            {"reads": "spans", "positions": ["token", "sentence"], "maxima": {"overflow": "restart"}},
            "maxima.overflow restart is of paragraphs",
        ),
        ({**KINDS["transformer-xl"], "position_init": "sinusoid"}, "not trained"),
        ({"position_init": "split-sinusoid"}, "positions has one"),
        ({"adaptive": {"cutoffs": [5]}}, "head tied"),
        ({"adaptive": {"cutoffs": [5, 5]}, "head": "tied"}, "rise"),
        ({"adaptive": {"div_val": 2}, "head": "tied"}, "without cutoffs"),
        ({"adaptive": {"cutoffs": [5], "div_val": 64}, "head": "tied"}, "no width"),
        ({"init_from": "bert", "head": "tied"}, "as BERT has"),
        ({"init_from": "bert", "objective": "clm"}, "masked language model"),
        ({"positions": []}, "at least one"),
        ({"heads": 5}, "divide"),
        ({**KINDS["transformer-xl"], "objective": "mlm"}, "needs objective clm"),
        ({"layerz": 3}, "layerz"),
        ({"dropout": 1.5}, "dropout"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes: dict[str, Any], word: str) -> None:
    with pytest.raises(ValidationError, match=word):
        small(**changes)


def test_no_log_probability_is_above_0_however_certain_a_token_is() -> None:
    torch.manual_seed(0)
    hidden, table, bias = 6 * torch.randn(400, 256), torch.randn(3000, 256), torch.zeros(3000)
    likeliest = (hidden @ table.T).argmax(-1)
    found = target_logprobs(hidden, likeliest, table, bias)
    assert -1e-3 < found.median() <= found.max() <= 0
    unbounded = (hidden * table[likeliest]).sum(-1) - torch.logsumexp(hidden @ table.T, -1)
    assert unbounded.max() > 0, "the rounding that this is about"


#: With maxima of 4, the indices of one input -> the rows of the tables by the way of bringing them down.
RELEASED, PAPER, RESTART = "released", "paper", "restart"
ROWS: list[tuple[str, Position, list[int], list[int]]] = [
    (RELEASED, "paragraph", [2, 3, 4, 5], [0, 1, 2, 3]),
    (RELEASED, "sentence", [2, 3, 4, 5], [2, 3, 3, 3]),
    (RELEASED, "token", [2, 3, 4, 5], [2, 3, 3, 3]),
    (RELEASED, "paragraph", [1, 2, 5], [0, 1, 3]),
    (PAPER, "paragraph", [2, 3, 4, 5], [0, 1, 2, 3]),
    (PAPER, "sentence", [2, 3, 4, 5], [0, 1, 2, 3]),
    (PAPER, "token", [0, 4, 5], [0, 2, 3]),
    (RESTART, "paragraph", [2, 3, 4, 5], [0, 1, 2, 3]),
    (RESTART, "paragraph", [2, 3], [0, 1]),
    (RESTART, "sentence", [2, 3], [2, 3]),
]
COLUMNS: dict[Position, int] = {"sequence": 0, "token": 1, "sentence": 2, "paragraph": 3}


@pytest.mark.parametrize(("overflow", "kind", "indices", "rows"), ROWS)
def test_rows_by_hand(overflow: str, kind: Position, indices: list[int], rows: list[int]) -> None:
    maxima = {"token": 4, "sentence": 4, "paragraph": 4, "overflow": overflow}
    positions = AbsolutePositions(small(**{**KINDS["segabert"], "maxima": maxima}))
    tables = positions.tables
    with torch.no_grad():
        for name, table in tables.items():  # a row is its number in the kind that is tried, and else nothing
            numbers_R1 = torch.arange(len(table.weight), dtype=torch.float)[:, None]
            table.weight.copy_(numbers_R1.expand_as(table.weight) * (name == kind))
    positions_BTP = torch.zeros(1, len(indices), 4, dtype=torch.long)
    positions_BTP[0, :, COLUMNS[kind]] = torch.tensor(indices)
    assert positions(positions_BTP)[0, :, 0].tolist() == rows


@pytest.mark.parametrize("kind", VARIANTS)
def test_every_normalisation_has_the_models_epsilon(kind: str) -> None:
    config = small(**{**VARIANTS[kind], "norm_epsilon": 0.3})
    network = build(config, VOCABULARY, torch.zeros(VOCABULARY, dtype=torch.bool))
    assert {each.eps for each in network.modules() if isinstance(each, torch.nn.LayerNorm)} == {0.3}


@pytest.mark.parametrize("epsilon", [1e-12, 0.3])
def test_the_heads_normalisation_has_the_models_epsilon(epsilon: float) -> None:
    torch.manual_seed(3)
    network = build(
        small(**{**KINDS["bilm"], "head": "transform", "norm_epsilon": epsilon, "init_std": 0.1}), VOCABULARY
    )
    hidden_ND = 1e-3 * torch.randn(5, network.config.dim)
    dense = network.head.transform[0]  # type: ignore[index]
    activated_ND = torch.nn.functional.gelu(hidden_ND @ dense.weight.T + dense.bias)
    apart_ND = activated_ND - activated_ND.mean(-1, keepdim=True)
    expected_ND = apart_ND / (apart_ND.square().mean(-1, keepdim=True) + epsilon).sqrt()
    logits = network.head.logits(hidden_ND, network.tokens)
    assert torch.allclose(logits, expected_ND @ network.tokens.weight.T, atol=1e-4)
