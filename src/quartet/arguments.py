"""What the functions that others call check of their arguments: collections of texts, and choices."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from quartet.errors import InputError

#: Characters of a wrong argument that are shown.
SHOWN = 40


def checked_texts(texts: Iterable[str]) -> list[str]:
    """The texts of any collection or generator, which is read once.

    Raises:
        InputError: it is one string, a mapping or a table, or holds what is no string or no Unicode text.
    """
    if isinstance(texts, str | bytes):
        raise InputError(
            "texts", f"a collection is needed, not the one string {texts!r:.{SHOWN}}", "write [text]"
        )
    if isinstance(texts, Mapping) or getattr(texts, "ndim", 1) != 1:
        raise InputError(
            "texts", f"a list of texts is needed, not a {type(texts).__name__}", "give one column"
        )
    try:
        found = list(texts)
    except TypeError as error:
        raise InputError(
            "texts", f"a collection is needed, not {texts!r:.{SHOWN}}", "give a list of texts"
        ) from error
    for number, text in enumerate(found):
        check_unicode(text, f"texts[{number}]")
    return found


def check_unicode(text: object, place: str) -> None:
    """Raise InputError where something is no string, or holds half a surrogate pair, which cannot be encoded."""
    if not isinstance(text, str):
        reason = f"a text is needed, not {text!r:.{SHOWN}} ({type(text).__name__})"
        raise InputError(place, reason, "leave it out, or give its text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        reason = f"the text has half a surrogate pair at character {error.start + 1}"
        raise InputError(place, reason, "decode its bytes as UTF-8, or take it out") from error


def check_choice(value: object, known: Collection[str], place: str) -> None:
    """Raise InputError where a value is none of those that there are."""
    if not isinstance(value, str) or value not in known:
        raise InputError(place, f"unknown value {value!r:.{SHOWN}}", f"choose one of {', '.join(known)}")
