"""A network that is compiled learns what it does as it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from quartet.kernels import cross_entropy
from tests.training.test_fit import Small, train


@pytest.mark.parametrize("kind", ["tta", "unilm", "segabert", "segatron-xl"])
def test_a_compiled_network_learns_the_same(
    small_corpus: Small, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Traced as for the compiler, and run as it stands, which needs no C++; nothing is traced after the first steps."""
    traced: list[int] = []
    steps = 0

    def backend(graph: torch.fx.GraphModule, _: Any) -> Any:
        traced.append(steps)
        return graph.forward

    def progress(done: int, _: int) -> None:
        nonlocal steps
        steps = done

    compile_module, compile_function = torch.nn.Module.compile, torch.compile
    monkeypatch.setattr(
        torch.nn.Module,
        "compile",
        lambda module, **options: compile_module(module, backend=backend, **options),
    )
    monkeypatch.setattr(
        cross_entropy,
        "_compiled_tile",
        lambda: compile_function(cross_entropy._of_tile, backend=backend, dynamic=True),
    )
    expected = train(small_corpus, kind, tmp_path / "plain.ckpt", steps=30, dropout=0.0)
    assert traced == []
    found = train(
        small_corpus, kind, tmp_path / "compiled.ckpt", progress, steps=30, dropout=0.0, compile=True
    )
    assert traced and max(traced) <= 10
    assert [loss for _, loss in found.curve] == pytest.approx([loss for _, loss in expected.curve], abs=1e-4)
    assert found.network.state_dict().keys() == expected.network.state_dict().keys()
