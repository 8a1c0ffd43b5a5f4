"""The fields of a system from its shown name, so that tests may write ``tta/context`` or ``tta - unilm``."""

from __future__ import annotations

from quartet.results import INTACT, ONE_BY_ONE, system_name


def named(system: str) -> dict[str, str]:
    """The model, the reading and the other system of a shown name."""
    first, _, versus = system.partition(" - ")
    model, _, reading = first.partition("/")
    for dashed in (INTACT, ONE_BY_ONE):
        if model.endswith(f"-{dashed}"):
            model = model.removesuffix(f"-{dashed}")
            reading = "/".join(filter(None, (dashed, reading)))
    assert system_name(model, reading, versus) == system
    return {"model": model, "reading": reading, "versus": versus}
