"""The figures of all comparisons as a table: in the terminal, in one JSON object, and between two marks of a page."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from rich.table import Table

from benchmarks.peers.benchmark_result import BenchmarkFigure, BenchmarkResult
from quartet.errors import InputError
from quartet.files import atomic_path, read_json, write_json
from quartet.hardware.processor import describe_processor
from quartet.hugging_face import transformers

#: Where a page's table stands.
BEGIN, END = "<!-- speed:begin -->", "<!-- speed:end -->"


def machine(device: str) -> dict[str, str]:
    """What computes, in words, and the libraries that our own figures depend on."""
    gpu = device.startswith("cuda")
    return {
        "device": f"cuda ({torch.cuda.get_device_name()})"
        if gpu
        else describe_processor(torch.get_num_threads()),
        "torch": str(torch.__version__),
        "transformers": str(transformers().__version__),
        "python": platform.python_version(),
    }


def record(found: BenchmarkResult, where: Mapping[str, str], rounds: int, minutes: float) -> dict[str, Any]:
    """One comparison with all that its figures depend on."""
    return found.to_json() | {"machine": dict(where), "rounds": rounds, "minutes": minutes}


def write_study(path: Path, name: str, study: Mapping[str, Any]) -> None:
    """Put a comparison into the file's object, in the place of an earlier one of its name.

    Raises:
        InputError: the file is there and is none of ours.
    """
    known = read_studies(path) if path.exists() else {}
    write_json(path, {**known, name: dict(study)})


def read_studies(path: Path) -> dict[str, Any]:
    """The comparisons of a file.

    Raises:
        InputError: it is absent, or none of ours.
    """
    found = read_json(path)
    if not isinstance(found, dict) or not all(
        isinstance(study, dict) and "figures" in study for study in found.values()
    ):
        raise InputError(path, "not what this command wrote", "give another --json")
    return found


def terminal_table(figures: list[BenchmarkFigure], title: str) -> Table:
    """The figures of one comparison, for a terminal."""
    table = Table(title, "median", "least", "largest", "demanded", "met")
    for figure in figures:
        table.add_row(figure.name, *_cells(figure))
    return table


def markdown(studies: Mapping[str, Mapping[str, Any]]) -> str:
    """The figures of all comparisons; those of one machine under one heading."""
    machines: dict[str, list[str]] = {}
    for name, study in studies.items():
        where = study["machine"]
        heading = f"{where['device']}; PyTorch {where['torch']}, transformers {where['transformers']}"
        lines = machines.setdefault(heading, [])
        for row in study["figures"]:
            figure = BenchmarkFigure.from_json(row)
            cells = " | ".join(_cells(figure))
            lines.append(f"| `{name}` | {figure.name} | {cells} | {study['rounds']} |")
    head = [
        "| row | what | median | least | largest | demanded | met | rounds |",
        "|:--|:--|--:|--:|--:|:--|:--|--:|",
    ]
    blocks = ["\n".join([f"{heading}:", "", *head, *lines]) for heading, lines in machines.items()]
    return "\n\n".join(blocks)


def write_markdown(path: Path, studies: Mapping[str, Mapping[str, Any]]) -> None:
    """Put the table between the two marks of a page.

    Raises:
        InputError: the page is absent or has not both marks once, in their order.
    """
    try:
        page = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in before + after:
        raise InputError(path, f"has not {BEGIN} and {END}, once each", "put them where the table is to be")
    with atomic_path(path) as temporary:
        temporary.write_text(f"{before}{BEGIN}\n{markdown(studies)}\n{END}{after}", encoding="utf-8")


def _cells(figure: BenchmarkFigure) -> list[str]:
    """Median, least, largest, demand and whether it is met."""
    unit = {"x": " ×", "%": " %"}.get(figure.unit, "")
    values = [f"{value:.2f}{unit}" for value in (figure.median, figure.least, figure.largest)]
    if figure.demand is None:
        return [*values, "reported", "–"]
    return [*values, f"{figure.demand}{unit}", "yes" if figure.met else "no"]
