"""The kind of processor, which decides what kernels compute, and so how results are rounded.

All that depends on the processor in Quartet asks :func:`processor_kind`. ``QUARTET_PROCESSOR`` sets it to a name of
`KINDS`: Quartet then chooses as on such a processor, and :func:`lower_instructions` keeps PyTorch, oneDNN, MKL, NumPy
and OpenBLAS to its instruction sets, as far as these have a setting (docs/determinism.md).
"""

from __future__ import annotations

import os
import platform
from collections.abc import MutableMapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from quartet.errors import InputError, nearest
from quartet.hardware.memory import allocator

#: The environment variable that sets the kind.
PROCESSOR = "QUARTET_PROCESSOR"
#: Where Linux describes its processors.
CPUINFO = "/proc/cpuinfo"

Maker = Literal["intel", "amd", "other"]
Instructions = Literal["avx512", "avx2", "none"]


@dataclass(frozen=True)
class ProcessorKind:
    """What kernels are chosen by.

    Attributes:
        maker: MKL takes its quick ways on Intel's processors.
        instructions: the widest vectors. MKL uses AVX-512 on Intel's processors only, oneDNN on all.
        has_bfloat16: whether it multiplies bfloat16, and does not only imitate it.
    """

    maker: Maker
    instructions: Instructions
    has_bfloat16: bool = False

    @property
    def name(self) -> str:
        """Such as ``amd-avx512-bf16``; ``other`` has neither of the instruction sets."""
        parts = [self.maker, self.instructions.replace("none", ""), "bf16" if self.has_bfloat16 else ""]
        return "-".join(filter(None, parts))

    @property
    def is_intel(self) -> bool:
        return self.maker == "intel"

    @property
    def has_avx512(self) -> bool:
        return self.instructions == "avx512"


#: The kinds that are tested (`.ci/run`), by name. A processor may be of another, e.g. where a virtual machine hides
#: instructions.
KINDS = {
    kind.name: kind
    for kind in (
        ProcessorKind("intel", "avx512", True),
        ProcessorKind("intel", "avx512"),
        ProcessorKind("intel", "avx2"),
        ProcessorKind("amd", "avx512", True),
        ProcessorKind("amd", "avx2"),
        ProcessorKind("other", "none", True),
        ProcessorKind("other", "none"),
    )
}

#: How libraries are kept to instruction sets. Each reads its variable when it first computes or is imported.
_LOWERED: dict[Instructions, dict[str, str]] = {
    "avx512": {},
    "avx2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4",
    },
    "none": {
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 X86_V3",
    },
}


def set_kind() -> ProcessorKind | None:
    """The kind that the environment sets; None where it sets none.

    Raises:
        InputError: there is no such kind.
    """
    name = os.environ.get(PROCESSOR, "")
    if name and name not in KINDS:
        raise InputError(PROCESSOR, f"{name!r} is no kind of processor", nearest(name, KINDS, "kind"))
    return KINDS[name] if name else None


def lower_instructions(environment: MutableMapping[str, str]) -> None:
    """Set the variables by which libraries keep to the instruction sets of the kind that is set.

    Those that are there already stay. None can make a library use instructions that the processor lacks.
    """
    kind = KINDS.get(environment.get(PROCESSOR, ""))
    if kind is None or not _is_x86():
        return
    lowered = dict(_LOWERED[kind.instructions])
    if kind.has_avx512 and not kind.is_intel:
        lowered["MKL_ENABLE_INSTRUCTIONS"] = "AVX2"
    for name, value in lowered.items():
        environment.setdefault(name, value)


@cache
def processor_kind() -> ProcessorKind:
    """The kind that is set, or else this processor's.

    Raises:
        InputError: there is no such kind as is set.
    """
    return set_kind() or detected_kind()


@cache
def detected_kind() -> ProcessorKind:
    """The kind of this processor, whatever is set."""
    import torch

    found = torch.cpu.get_capabilities()
    vendor = _described("vendor_id") or platform.processor()
    makers: dict[str, Maker] = {"GenuineIntel": "intel", "AuthenticAMD": "amd"}
    return ProcessorKind(
        maker=next((maker for name, maker in makers.items() if name in vendor), "other"),
        instructions="avx512" if found.get("avx512_f") else "avx2" if found.get("avx2") else "none",
        has_bfloat16=any(found.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16", "sve_bf16")),
    )


def kind_in_words() -> str:
    """What is known to decide the rounding: ``amd-avx512-bf16, family 25, model 17, PyTorch AVX512``.

    The design (family and model) stands for what libraries choose by beside instructions, such as the sizes of caches.
    """
    import torch

    kind, own = processor_kind(), detected_kind()
    keys = {"cpu family": "family", "model": "model", "CPU implementer": "implementer", "CPU part": "part"}
    design = [f"{word} {value}" for key, word in keys.items() if (value := _described(key))]
    name = kind.name if kind == own else f"{kind.name} simulated on {own.name}"
    return ", ".join([name, *design, f"PyTorch {torch.backends.cpu.get_cpu_capability()}"])


@cache
def model_name() -> str:
    """The processor's model in words, such as ``AMD EPYC 7B13``; its architecture where the system tells no more."""
    return _described("model name") or platform.processor() or platform.machine() or "unknown processor"


def describe_processor(threads: int) -> str:
    """What computes, in words: ``cpu (2 threads, <model>; <kind>)``.

    After the model stands what allocates, where it is not the C library.
    """
    parts = [f"{threads} thread{'' if threads == 1 else 's'}", model_name(), allocator()]
    return f"cpu ({', '.join(filter(None, parts))}; {kind_in_words()})"


def kind_of(device: str) -> str:
    """What decides the bytes, of a description: a processor's kind, or the GPU; empty where none is named.

    >>> kind_of("cpu (1 thread, AMD EPYC; amd-avx2, family 23, model 49, PyTorch AVX2)")
    'amd-avx2, family 23, model 49, PyTorch AVX2'
    """
    return device if device.startswith("cuda") else device.partition("; ")[2].removesuffix(")")


def _is_x86() -> bool:
    return platform.machine().lower() in ("x86_64", "amd64")


def _described(key: str) -> str:
    """The first value of a key in Linux's description; empty elsewhere."""
    try:
        with open(CPUINFO, encoding="utf-8") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name.strip() == key:
                    return value.strip()
    except OSError:
        pass
    return ""
