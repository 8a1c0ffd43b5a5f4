"""ONNX operations and constants, collected one by one into a graph."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from quartet.errors import InputError

#: The version of ONNX's operators: the first with GELU among them.
OPSET = 20
#: Of the file's form: the version that came with these operators, so that older runtimes read it.
IR_VERSION = 9

#: By name, a type and the axes, each a size or the name of one that is free.
ValueTypes = Mapping[str, tuple[type[np.generic], Sequence[str | int]]]


class Nodes:
    """A graph under construction. Values go by name; an operation returns the name of its result."""

    def __init__(self) -> None:
        """Raises:
        InputError: onnx or onnxruntime is not installed.
        """
        self._onnx = onnx_package()
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._numbers = itertools.count()

    def op(self, kind: str, *inputs: str, **attributes: object) -> str:
        """Add an operation of ONNX with one result."""
        name = f"{kind}_{next(self._numbers)}"
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, value: object, name: str = "", dtype: type[np.generic] | None = None) -> str:
        """Add an array; equal ones without a name are kept once.

        Args:
            name: of a weight; none: the value makes one.
        """
        array = np.asarray(value, dtype=dtype, order="C")
        name = name or f"{array.dtype} {array.tolist()}"
        if name not in self._constants:
            self._constants[name] = self._onnx.numpy_helper.from_array(array, name)
        return name

    def ints(self, *values: int) -> str:
        """A list of whole numbers."""
        return self.constant(values, dtype=np.int64)

    def number(self, value: int) -> str:
        """One whole number."""
        return self.constant(value, dtype=np.int64)

    def rename(self, result: str, name: str) -> None:
        """Give a result the name of an output."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [result], [name]))

    def write(self, path: Path, inputs: ValueTypes, outputs: ValueTypes) -> None:
        """Check the graph and write it."""
        helper = self._onnx.helper

        def described(values: ValueTypes) -> list[Any]:
            return [
                helper.make_tensor_value_info(
                    name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), list(axes)
                )
                for name, (kind, axes) in values.items()
            ]

        graph = helper.make_graph(
            self._nodes, "quartet", described(inputs), described(outputs), list(self._constants.values())
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="quartet",
        )
        self._onnx.checker.check_model(model, full_check=True)
        self._onnx.save(model, path)


def onnx_package() -> Any:
    """The package onnx, where an export can be written and tried.

    Raises:
        InputError: onnx or onnxruntime is not installed.
    """
    try:
        import onnx
        import onnx.checker
        import onnxruntime  # noqa: F401  # what was written is tried
    except ImportError as error:
        raise InputError(
            "quartet export --onnx",
            f"it needs onnx and onnxruntime ({error})",
            "in Quartet's folder: pip install -e '.[export]'",
        ) from error
    return onnx
