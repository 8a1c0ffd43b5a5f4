"""What a processor is called, and who made it, from what the system says of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from quartet.hardware import processor

INTEL = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Processor @ 2.80GHz\n"
AMD = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7B13: 64 cores\nflags\t: avx2\n"
#: An ARM processor names neither.
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\n"


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    def forget() -> None:
        processor.model_name.cache_clear()
        processor.is_intel.cache_clear()

    forget()
    yield
    forget()


def described(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "cpuinfo").write_text(text, encoding="utf-8")
    monkeypatch.setattr(processor, "CPUINFO", str(folder / "cpuinfo"))


@pytest.mark.parametrize(
    ("text", "name", "intel"),
    [(INTEL, "Intel(R) Xeon(R) Processor @ 2.80GHz", True), (AMD, "AMD EPYC 7B13: 64 cores", False)],
    ids=["Intel", "AMD"],
)
def test_linux(text: str, name: str, intel: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    described(text, tmp_path, monkeypatch)
    assert (processor.model_name(), processor.is_intel()) == (name, intel)


def test_where_linux_names_no_model_the_architecture_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described(ARM, tmp_path, monkeypatch)
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert (processor.model_name(), processor.is_intel()) == ("aarch64", False)


def test_other_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "CPUINFO", str(tmp_path / "none"))
    monkeypatch.setattr("platform.processor", lambda: "Intel64 Family 6 Model 106 Stepping 6, GenuineIntel")
    assert processor.is_intel()
    assert processor.model_name().startswith("Intel64 Family 6")
