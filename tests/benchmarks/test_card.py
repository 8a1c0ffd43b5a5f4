"""Every training that a GPU is measured by runs, at sizes that a CPU takes in seconds."""

from __future__ import annotations
