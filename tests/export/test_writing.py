"""The folders that an export writes, and the ones that it refuses."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional as F

import quartet
from quartet.data.batch import Batch
from quartet.errors import InputError
from quartet.export import writing
from quartet.export.arithmetic import Float32
from quartet.export.card import EXPORT, FILES, Form, load_export_card
from quartet.export.writing import export
from quartet.files import read_json, sha256, write_json
from quartet.models.network import Network
from quartet.objectives.base import TokenStates
from quartet.objectives.clm import CausalLM
from quartet.scoring.language_model import load


@pytest.mark.parametrize("form", ["onnx", "onnx-int8", "fp16"])
def test_a_folder_is_all_that_is_needed(form: Form, trained: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    found = export(trained["tta"], out, form)
    assert sorted(path.name for path in out.iterdir()) == sorted(
        [EXPORT, FILES[form], "config.json", "tokenizer.json"]
    )
    assert (found.file, found.bytes) == (out / FILES[form], (out / FILES[form]).stat().st_size)
    assert found.source_bytes == (trained["tta"] / "model.safetensors").stat().st_size
    card = load_export_card(out)
    assert card == found.card
    assert card.source == load(trained["tta"]).fingerprint
    assert card.difference.tokens > 100
    assert 0 < card.difference.mean < card.difference.largest < {"onnx": 1e-5}.get(form, 0.5)
    assert set(card.made_with) >= {"quartet", "torch"}
    moved = tmp_path / "moved"
    out.rename(moved)
    assert quartet.load(moved).score(["a letter"])[0] < 0


def test_int8_is_a_quarter_and_fp16_half_of_the_weights(trained: dict[str, Path], tmp_path: Path) -> None:
    network = load(trained["tta"]).network
    matrices = sum(one.weight.numel() for one in network.modules() if isinstance(one, torch.nn.Linear))
    matrices += network.vocabulary * network.config.dim
    whole = 4 * network.parameter_count
    sizes = {
        form: export(trained["tta"], tmp_path / form, form).bytes for form in ("onnx", "onnx-int8", "fp16")
    }  # type: ignore[arg-type]
    nodes = sizes["onnx"] - whole  # of a model as small as this the operations take more than the weights
    assert 0 < nodes < 40_000
    assert sizes["onnx"] - sizes["onnx-int8"] == pytest.approx(3 * matrices, abs=20_000)
    assert sizes["fp16"] == pytest.approx(whole / 2, abs=10_000)


def test_the_weights_are_those_that_were_asked_for(trained: dict[str, Path], tmp_path: Path) -> None:
    model = tmp_path / "tta"
    shutil.copytree(trained["tta"], model)
    best = load_file(model / "best.safetensors")
    save_file({name: 0.9 * tensor for name, tensor in best.items()}, model / "best.safetensors")
    for form in ("onnx", "fp16"):
        for weights in ("last", "best"):
            export(model, tmp_path / weights, form, weights)  # type: ignore[arg-type]
            wanted = load(model, weights=weights).score(["a letter"])  # type: ignore[arg-type]
            assert quartet.load(tmp_path / weights).score(["a letter"]) == pytest.approx(wanted, abs=0.02)
    assert quartet.load(tmp_path / "best").score(["a letter"]) != pytest.approx(
        quartet.load(tmp_path / "last").score(["a letter"]), abs=1e-9
    )


def test_half_precision_serves_every_architecture(trained: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"segatron-xl: a Transformer-XL carries memory.*--fp16"):
        export(trained["segatron-xl"], tmp_path / "out", "onnx")
    assert not (tmp_path / "out").exists()
    export(trained["segatron-xl"], tmp_path / "out", "fp16")
    wanted = load(trained["segatron-xl"]).score(["the river", "a letter"])
    assert quartet.load(tmp_path / "out").score(["the river", "a letter"]) == pytest.approx(wanted, abs=0.02)


def test_an_export_is_replaced_and_nothing_else(trained: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    export(trained["tta"], out, "onnx")
    export(trained["tta"], out, "fp16")
    assert not (out / "model.onnx").exists()
    (out / "notes.md").write_text("mine")
    with pytest.raises(InputError, match=r"holds notes\.md, which no export wrote"):
        export(trained["tta"], out, "onnx")
    assert sorted(path.name for path in out.iterdir()) == [
        *("config.json", "export.json", "model.safetensors", "notes.md", "tokenizer.json")
    ]
    (out / "notes.md").rename(tmp_path / "notes.md")  # the remedy
    export(trained["tta"], out, "fp16")
    (tmp_path / "diary.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds other things than an export.*name a new folder"):
        export(trained["tta"], tmp_path, "onnx")
    assert (tmp_path / "diary.txt").read_text() == "mine"
    with pytest.raises(InputError, match=r"diary\.txt is a file"):
        export(trained["tta"], tmp_path / "diary.txt", "onnx")
    with pytest.raises(InputError, match="holds other things"):
        export(trained["tta"], trained["tta"], "onnx")
    with pytest.raises(InputError, match=r"is an export itself.*that was trained"):
        export(out, tmp_path / "other", "onnx")
    with pytest.raises(InputError, match=r"has no config\.json"):
        export(tmp_path / "nowhere", tmp_path / "other", "onnx")


def test_an_export_behind_a_link_is_replaced_and_the_link_stays(
    trained: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk")
    for form in ("onnx", "fp16"):
        export(trained["tta"], tmp_path / "link", form)
    assert (tmp_path / "link").readlink() == Path("disk")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "link"]
    assert (tmp_path / "disk" / "model.safetensors").is_file()
    monkeypatch.chdir(tmp_path / "disk")
    with pytest.raises(InputError, match="is the folder that you are in"):
        export(trained["tta"], ".", "fp16")


def test_weights_that_half_precision_cannot_hold_are_refused(
    trained: dict[str, Path], tmp_path: Path
) -> None:
    source = tmp_path / "source"
    shutil.copytree(trained["tta"], source)
    state = load_file(source / "model.safetensors")
    state["head.bias_V"][9] = 1e5
    save_file(state, source / "model.safetensors")
    with pytest.raises(InputError, match=r"tensor head\.bias_V: has values that half precision cannot hold"):
        export(source, tmp_path / "out", "fp16")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_a_graph_that_computes_something_else_is_not_kept(
    trained: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wrong(Float32):
        def embedded(self, ids_N: str) -> str:
            return self.nodes.op("Neg", super().embedded(ids_N))

    monkeypatch.setitem(writing.ARITHMETICS, "onnx", Wrong)
    with pytest.raises(InputError, match=r"tta: its export is .* nats off at a token"):
        export(trained["tta"], tmp_path / "out", "onnx")
    assert list(tmp_path.iterdir()) == []


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    ("form", "remedy"), [("onnx", "versions"), ("onnx-int8", "rounds less"), ("fp16", "rounds less")]
)
def test_an_export_that_is_too_far_off_says_what_helps(
    form: Form, remedy: str, trained: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of onnx does not help where eight bits are too few."""
    monkeypatch.setattr(writing, "OTHER", 0.0)
    with pytest.raises(InputError, match=rf"nats off.*{remedy}"):
        export(trained["tta"], tmp_path / "out", form)


def shortened(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


@pytest.mark.parametrize("form", ["onnx", "onnx-int8"])
def test_a_graph_that_asks_another_output_than_the_objective_is_not_kept(
    form: Form, trained: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The graph knows two places of a prediction, and an objective of somebody else's may have a third."""

    def last_but_one(self: CausalLM, network: Network, batch: Batch, masked: bool = True) -> TokenStates:
        hidden_BTD, _ = network(batch.ids_BT, batch.positions_BTP, batch.real_BT)
        return TokenStates(F.pad(hidden_BTD[:, :-2], (0, 0, 2, 0)), hidden_BTD)

    monkeypatch.setattr(CausalLM, "states", last_but_one)
    with pytest.raises(InputError, match="nats off"):
        export(trained["unilm"], tmp_path / "out", form)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ["onnx", "fp16"])
@pytest.mark.parametrize("change", [Path.unlink, emptied, shortened])
@pytest.mark.parametrize("name", ["weights", "config.json", "tokenizer.json"])
def test_a_damaged_folder_gives_one_clear_line(
    name: str, change: Callable[[Path], None], form: Form, trained: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    export(trained["tta"], out, form)
    path = out / (FILES[form] if name == "weights" else name)
    change(path)
    with pytest.raises(InputError) as stop:
        quartet.load(out)
    assert str(path) in str(stop.value) and "again" in str(stop.value)


def test_what_a_folder_says_of_itself_must_be_whole(trained: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(trained["tta"], out, "onnx")
    card = read_json(out / EXPORT)
    write_json(out / EXPORT, {**card, "form": "onnx-int4"})
    with pytest.raises(InputError, match=r"export\.json: form.*export the model again"):
        quartet.load(out)
    write_json(out / EXPORT, {**card, "sha256": {}})
    with pytest.raises(InputError, match=r"config\.json: is not the file that export\.json names"):
        quartet.load(out)
    (out / EXPORT).write_text("{")
    with pytest.raises(InputError, match=r"export\.json: not valid JSON"):
        quartet.load(out)
    (out / EXPORT).write_text(json.dumps(["onnx"]))
    with pytest.raises(InputError, match=r"export\.json: "):
        quartet.load(out)


def test_a_graph_runs_on_the_cpu_and_has_one_set_of_weights(trained: dict[str, Path], tmp_path: Path) -> None:
    export(trained["tta"], tmp_path / "out", "onnx")
    with pytest.raises(InputError, match=r"device cuda: an exported graph computes on the CPU"):
        quartet.load(tmp_path / "out", device="cuda")
    with pytest.raises(InputError, match="no weights to choose from"):
        quartet.load(tmp_path / "out", weights="best")


def test_a_graph_that_is_none_is_named(trained: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(trained["tta"], out, "onnx")
    (out / "model.onnx").write_bytes(b"no graph")
    card = read_json(out / EXPORT)
    card["sha256"]["model.onnx"] = sha256(out / "model.onnx")
    write_json(out / EXPORT, card)
    with pytest.raises(InputError, match=r"model\.onnx: onnxruntime cannot read it") as stop:
        quartet.load(out)
    assert "\n" not in str(stop.value)


def test_without_the_libraries_the_extra_is_named(
    trained: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(trained["tta"], tmp_path / "out", "onnx")
    for package in ("onnx", "onnxruntime"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(
                InputError, match=r"it needs onnx and onnxruntime .*pip install -e '\.\[export\]'"
            ):
                export(trained["tta"], tmp_path / "other", "onnx-int8")
            export(trained["tta"], tmp_path / "half", "fp16")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(InputError, match=r"an exported model needs it .*pip install -e '\.\[export\]'"):
        quartet.load(tmp_path / "out")
    assert quartet.load(tmp_path / "half").score(["a letter"])[0] < 0
    assert not (tmp_path / "other").exists()
