"""What an exported graph computes is what the torch model computes, for every variant of the models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from quartet.config.model import POSITIONS, ModelConfig
from quartet.config.objectives import OBJECTIVES as FACTS
from quartet.data.batch import Batch
from quartet.errors import InputError
from quartet.export import arithmetic
from quartet.export.arithmetic import LARGEST, Arithmetic, Float32, Int8, quantise
from quartet.export.graph import Graph, check_exportable, needs_positions
from quartet.export.scorer import open_session
from quartet.models.architectures import build
from quartet.models.network import Network
from quartet.objectives import OBJECTIVES
from quartet.objectives.base import IGNORED
from tests.models.shapes import VARIANTS, VOCABULARY, random_inputs, small

Found = dict[str, NDArray[np.float32]]
KINDS = {kind: changes for kind, changes in VARIANTS.items() if changes.get("reads") != "streams"}
OVER = {"sentence": 3, "paragraph": 2}
CASES: dict[str, dict[str, Any]] = {
    **KINDS,
    **{f"{kind}-tied": {**KINDS[kind], "head": "tied"} for kind in ("unilm", "bilm", "tta")},
    "tta-bare": {**KINDS["tta"], "tta": {"normalise_inputs": False}},
    "segabert-over": {**KINDS["segabert"], "maxima": OVER},
    "segabert-released": {**KINDS["segabert"], "maxima": {**OVER, "overflow": "released"}},
    "segabert-restart": {**KINDS["segabert"], "maxima": {**OVER, "overflow": "restart"}},
    "unilm-over": {**KINDS["segabert"], "objective": "clm", "maxima": OVER},
    "unilm-restart": {**KINDS["segabert"], "objective": "clm", "maxima": {**OVER, "overflow": "restart"}},
}
#: Rows, width and lengths: one text, an empty one, and several of different lengths.
SHAPES = [(1, 5, [5]), (1, 2, [2]), (4, 16, [16, 2, 9, 3])]


def network_of(config: ModelConfig) -> Network:
    """With weights, biases and normalisations at random: none that a mistake could leave out unseen."""
    torch.manual_seed(5)
    network = build(config, VOCABULARY, torch.arange(VOCABULARY) % 2 == 0).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return network


def session_of(network: Network, kind: type[Arithmetic], tmp_path: Path) -> Any:
    path = tmp_path / "model.onnx"
    Graph(network, kind).write(path)
    return open_session(path)


def given(config: ModelConfig, shape: tuple[int, int, list[int]]) -> tuple[Batch, torch.Tensor]:
    """Inputs of the middle of documents, and what is asked: all but padding, and a row's first place in CLM."""
    torch.manual_seed(7)
    ids_BT, positions_BTP, real_BT = random_inputs(*shape)
    positions_BTP[..., POSITIONS.index("paragraph")] += 1 + torch.arange(shape[0])[:, None]
    targets_BT = ids_BT.masked_fill(~real_BT, IGNORED)
    if config.causal:
        targets_BT[:, 0] = IGNORED
    return Batch(ids_BT, positions_BTP, real_BT), targets_BT


def run(session: Any, batch: Batch, targets_BT: torch.Tensor) -> Found:
    feed = {
        "ids": batch.ids_BT,
        "real": batch.real_BT,
        "targets": targets_BT,
        "positions": batch.positions_BTP,
    }
    names = {one.name for one in session.get_inputs()}
    found = session.run(None, {name: tensor.numpy() for name, tensor in feed.items() if name in names})
    return dict(zip([one.name for one in session.get_outputs()], found, strict=True))


def expected(network: Network, batch: Batch, targets_BT: torch.Tensor) -> Found:
    """The same by torch, through logits of the whole vocabulary."""
    objective = OBJECTIVES[network.config.objective]()
    with torch.inference_mode():
        states = objective.states(network, batch, masked=False)
        logprobs_BTV = network.logprobs(states.predictive_BTD)
        logprobs_BT = logprobs_BTV.gather(2, targets_BT.clamp(min=0)[..., None])[..., 0]
    asked = logprobs_BT.masked_fill(targets_BT < 0, 0.0)
    return {"logprobs": asked.numpy(), "vectors": states.contextual_BTD.numpy()}


def apart(network: Network, session: Any, shape: tuple[int, int, list[int]]) -> dict[str, float]:
    """The largest difference of each output at places that are no padding."""
    batch, targets_BT = given(network.config, shape)
    found, wanted = run(session, batch, targets_BT), expected(network, batch, targets_BT)
    assert not found["logprobs"][targets_BT.numpy() < 0].any(), "0 where nothing was asked"
    real_BT = batch.real_BT.numpy()
    return {name: float(np.abs(found[name] - wanted[name])[real_BT].max()) for name in wanted}


@pytest.mark.parametrize("case", CASES)
def test_single_precision_computes_the_same(case: str, tmp_path: Path) -> None:
    network = network_of(small(**CASES[case]))
    session = session_of(network, Float32, tmp_path)
    assert ("positions" in {one.name for one in session.get_inputs()}) == needs_positions(network.config)
    for shape in SHAPES:
        found = apart(network, session, shape)
        assert max(found.values()) < 1e-5, (shape, found)


def test_the_output_before_a_token_predicts_it_for_every_causal_objective(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whatever it is called."""
    monkeypatch.setitem(FACTS, "mlm", replace(FACTS["mlm"], causal=True))
    monkeypatch.setitem(OBJECTIVES, "mlm", OBJECTIVES["clm"])
    network = network_of(small(objective="mlm"))
    found = apart(network, session_of(network, Float32, tmp_path), SHAPES[0])
    assert max(found.values()) < 1e-5


@pytest.mark.parametrize("case", CASES)
def test_eight_bits_compute_nearly_the_same(case: str, tmp_path: Path) -> None:
    network = network_of(small(**CASES[case]))
    session = session_of(network, Int8, tmp_path)
    found = [apart(network, session, shape) for shape in SHAPES]
    assert max(each["logprobs"] for each in found) < 0.15
    assert max(each["vectors"] for each in found) < 0.1
    assert max(each["logprobs"] for each in found) > 1e-4, "something was rounded"


@pytest.mark.parametrize("kind", [Float32, Int8])
def test_more_tiles_than_one_sum_up_to_the_same(
    kind: type[Arithmetic], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = network_of(small(**CASES["tta"]))
    whole = session_of(network, kind, tmp_path)
    monkeypatch.setattr(arithmetic, "TILE", 10)
    tiled = session_of(network, kind, tmp_path)
    batch, targets_BT = given(network.config, SHAPES[-1])
    one, three = (run(session, batch, targets_BT)["logprobs"] for session in (whole, tiled))
    assert np.allclose(one, three, atol=1e-5)
    assert len(tiled.get_outputs()) == 2


@pytest.mark.parametrize("kind", [Float32, Int8])
def test_a_row_does_not_depend_on_the_rows_beside_it(kind: type[Arithmetic], tmp_path: Path) -> None:
    network = network_of(small(**CASES["tta"]))
    session = session_of(network, kind, tmp_path)
    batch, targets_BT = given(network.config, SHAPES[-1])
    together = run(session, batch, targets_BT)
    for row, length in enumerate(SHAPES[-1][2]):
        part = (slice(row, row + 1), slice(0, length))
        one = Batch(batch.ids_BT[part], batch.positions_BTP[part], batch.real_BT[part])
        alone = run(session, one, targets_BT[part])
        for name, values in alone.items():
            assert np.allclose(values, together[name][part], atol=1e-5)


def test_a_probability_is_one_of_a_distribution(tmp_path: Path) -> None:
    network = network_of(small(**CASES["tta"]))
    session = session_of(network, Int8, tmp_path)
    batch, _ = given(network.config, (1, 5, [5]))
    probabilities = [
        np.exp(run(session, batch, torch.full((1, 5), token))["logprobs"]) for token in range(VOCABULARY)
    ]
    assert np.allclose(np.sum(probabilities, axis=0), 1.0, atol=1e-5)


def test_nothing_may_be_asked(tmp_path: Path) -> None:
    network = network_of(small(**CASES["unilm"]))
    for kind in (Float32, Int8):
        session = session_of(network, kind, tmp_path)
        batch, targets_BT = given(network.config, SHAPES[-1])
        found = run(session, batch, torch.full_like(targets_BT, IGNORED))
        assert not found["logprobs"].any()
        assert np.allclose(found["vectors"], run(session, batch, targets_BT)["vectors"])


def test_the_file_holds_the_token_table_once_and_no_trace_of_where_it_was_made(tmp_path: Path) -> None:
    import onnx

    network = network_of(small(**CASES["tta"]))
    for kind, byte in ((Float32, 4), (Int8, 1)):
        path = tmp_path / "model.onnx"
        Graph(network, kind).write(path)
        first = path.read_bytes()
        Graph(network, kind).write(path)
        assert path.read_bytes() == first, "the same file for the same model"
        model = onnx.load(path)
        sizes = [int(np.prod(one.dims)) for one in model.graph.initializer]
        assert sizes.count(VOCABULARY * network.config.dim) == 1
        table = next(one for one in model.graph.initializer if one.name.startswith("tokens"))
        assert len(table.raw_data) == VOCABULARY * network.config.dim * byte
        assert not any(node.metadata_props or node.doc_string for node in model.graph.node)
        assert {one.domain for one in model.opset_import} == {""}, "the standard's own operators alone"


def test_weights_are_rounded_to_half_a_step() -> None:
    random = np.random.default_rng(3)
    weight_NK = random.normal(size=(6, 40)).astype(np.float32) * np.array([[1e-3, 1, 10, 0, 5, 2]]).T
    integers_NK, scale_N = quantise(weight_NK.astype(np.float32))
    assert (np.abs(integers_NK).max(axis=1) == [LARGEST, LARGEST, LARGEST, 0, LARGEST, LARGEST]).all()
    assert (np.abs(integers_NK * scale_N[:, None] - weight_NK) <= scale_N[:, None] * 0.501).all()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (VARIANTS["transformer-xl"], "carries memory"),
        ({"head": "tied", "adaptive": {"cutoffs": [10]}}, "adaptive softmax"),
    ],
)
def test_what_is_no_graph_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=rf"^here: .*{words}.*--fp16"):
        check_exportable(small(**changes), "here")
