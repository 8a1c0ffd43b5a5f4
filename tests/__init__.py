"""Tests, and what checks by hand: `python -m tests.edit_matrix` and others."""

import pipeline  # noqa: F401 - it says which Python has the packages
