"""What a processor is called, of which kind it is, and that nothing else asks."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from quartet.errors import InputError
from quartet.hardware import processor as module
from quartet.hardware.processor import KINDS, PROCESSOR, Instructions, Maker, ProcessorKind

INTEL = (
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
    "model name\t: Intel(R) Xeon(R) Processor @ 2.80GHz\n"
)
AMD = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7B13: 64 cores\nflags\t: avx2\n"
#: An ARM processor names neither.
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\n"
ZEN4 = {"avx2": True, "avx512_f": True, "avx512_bf16": True}
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def forget() -> None:
        for cached in (module.model_name, module.processor_kind, module.detected_kind):
            cached.cache_clear()

    monkeypatch.delenv(PROCESSOR, raising=False)
    forget()
    yield
    forget()


def described(
    monkeypatch: pytest.MonkeyPatch, folder: Path, text: str, capabilities: dict[str, bool] | None = None
) -> None:
    (folder / "cpuinfo").write_text(text, encoding="utf-8")
    monkeypatch.setattr(module, "CPUINFO", str(folder / "cpuinfo"))
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: capabilities or {})
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.setattr("platform.machine", lambda: "aarch64")


@pytest.mark.parametrize(
    ("text", "capabilities", "name", "kind"),
    [
        (INTEL, {"avx2": True, "avx512_f": True}, "Intel(R) Xeon(R) Processor @ 2.80GHz", "intel-avx512"),
        (INTEL, {"avx2": True}, "Intel(R) Xeon(R) Processor @ 2.80GHz", "intel-avx2"),
        (INTEL, ZEN4 | {"amx_bf16": True}, "Intel(R) Xeon(R) Processor @ 2.80GHz", "intel-avx512-bf16"),
        (AMD, ZEN4, "AMD EPYC 7B13: 64 cores", "amd-avx512-bf16"),
        (AMD, {"avx2": True}, "AMD EPYC 7B13: 64 cores", "amd-avx2"),
        (AMD, {"avx2": True, "avx512_f": True}, "AMD EPYC 7B13: 64 cores", "amd-avx512"),
        (ARM, {"bf16": True}, "aarch64", "other-bf16"),
        (ARM, {}, "aarch64", "other"),
    ],
)
def test_the_kind_of_this_processor(
    text: str,
    capabilities: dict[str, bool],
    name: str,
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    described(monkeypatch, tmp_path, text, capabilities)
    assert (module.model_name(), module.processor_kind().name) == (name, kind)


def test_other_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CPUINFO", str(tmp_path / "none"))
    monkeypatch.setattr("platform.processor", lambda: "Intel64 Family 6 Model 106 Stepping 6, GenuineIntel")
    assert module.processor_kind().is_intel
    assert module.model_name().startswith("Intel64 Family 6")


def test_the_switch_says_the_kind(processor: str) -> None:
    assert module.processor_kind() == KINDS[processor]
    assert KINDS[processor].name == processor


def test_each_thing_that_is_chosen_by_has_a_kind_with_it_and_one_without() -> None:
    """The kinds are all that the fields can say, but for processors that nobody makes."""
    assert {kind.maker for kind in KINDS.values()} == set(get_args(Maker))
    assert {kind.instructions for kind in KINDS.values()} == set(get_args(Instructions))
    choices = [name for name in dir(ProcessorKind) if name.startswith(("is_", "has_"))]
    assert set(choices) == {"is_intel", "has_avx512", "has_bfloat16"}
    for name in choices:
        assert {getattr(kind, name) for kind in KINDS.values()} == {True, False}, name


def test_a_kind_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROCESSOR, "amd-avx3")
    with pytest.raises(
        InputError, match=r"QUARTET_PROCESSOR: 'amd-avx3' .* nearest known kind is 'amd-avx2'"
    ):
        module.processor_kind()


@pytest.mark.parametrize("command", ["quartet.cli", "stages.settings"])
def test_it_is_refused_in_one_line(command: str) -> None:
    run = {
        "quartet.cli": "from quartet.cli import main; main(['score'])",
        "stages.settings": "from pipeline.run import main; main(print)",
    }
    done = subprocess.run(
        [sys.executable, "-c", run[command]],
        env={PROCESSOR: "zen"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "QUARTET_PROCESSOR" in done.stderr


@pytest.mark.skipif(not module._is_x86(), reason="the libraries' settings are of x86")
@pytest.mark.parametrize(("kind", "capability"), [("amd-avx2", "AVX2"), ("other", "DEFAULT")])
def test_pytorch_keeps_to_the_instructions_of_the_kind(kind: str, capability: str) -> None:
    script = (
        "import quartet, torch; from quartet.hardware.processor import kind_in_words; print(kind_in_words())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={PROCESSOR: kind},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(kind) and done.stdout.endswith(f"PyTorch {capability}\n")


def test_what_is_set_already_stays() -> None:
    environment = {PROCESSOR: "amd-avx2", "ATEN_CPU_CAPABILITY": "default"}
    module.lower_instructions(environment)
    assert environment["ATEN_CPU_CAPABILITY"] == "default"


#: By which a program learns what processor it runs on.
ASKING = re.compile(
    r"get_capabilities|get_cpu_capability|\w*cpuinfo|__cpu_features__|is_bf16_supported|_?is_\w+_(bf16_|tile_)?supported"
    r"|(platform|os)\.(machine|processor|uname|platform)",
    re.IGNORECASE,
)


@pytest.mark.parametrize("folder", ["src/quartet", "pipeline", "stages"])
def test_nothing_else_asks_which_processor_this_is(folder: str) -> None:
    asking = set()
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = {getattr(node, "id", ""), getattr(node, "attr", "")}
            if isinstance(node, ast.Attribute):
                names.add(ast.unparse(node))
            if isinstance(node, ast.ImportFrom):
                names |= {
                    part for alias in node.names for part in (alias.name, f"{node.module}.{alias.name}")
                }
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                names |= set(node.value.split("/"))
            if any(map(ASKING.fullmatch, names)):
                asking.add(path.relative_to(ROOT).as_posix())
    assert asking == ({"src/quartet/hardware/processor.py"} if folder == "src/quartet" else set())
