"""docs/teams/docker-compose.yaml as data."""

from __future__ import annotations

from typing import Any

from quartet.config.loading import read_yaml
from tests.imports import ROOT

FOLDER = ROOT / "docs" / "teams"
FILE = FOLDER / "docker-compose.yaml"


def services() -> dict[str, dict[str, Any]]:
    """The services by name."""
    found: dict[str, dict[str, Any]] = read_yaml(FILE)["services"]
    return found
