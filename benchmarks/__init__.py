"""Comparisons with other libraries, and what is measured by hand; in no wheel."""

import pipeline  # noqa: F401 - it says which Python has the packages
