"""Drawn files as inline pictures: their ink, paper and grid take the colours of the page, light or dark."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree  # nosec B405
from pathlib import Path

SVG = "http://www.w3.org/2000/svg"
XLINK = "{http://www.w3.org/1999/xlink}href"
#: What `quartet.report.drawing` draws with, by the variables of page.css. Black is also the seventh colour of its
#: palette: a line of it is white on a dark page, as a line of Okabe and Ito's black must be.
INK = {
    "#000000": "var(--ink)",
    "#ffffff": "var(--card)",
    "#e0e0e0": "var(--rule)",
    "#666666": "var(--soft)",
}
_COLOUR = re.compile("|".join(INK))
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def inline(path: Path, name: str, words: str) -> str:
    """An SVG file as an element of an HTML page.

    Args:
        path: of a file that matplotlib wrote.
        name: its place in the page, put before all ids so that no two pictures share one.
        words: what it shows, for those who do not see it.

    Raises:
        ValueError: the file is no SVG.
    """
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314  # nosec B314  # our own
    if root.tag != f"{{{SVG}}}svg":
        raise ValueError(f"{path}: no SVG")
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    used = _references(root)
    for element in root.iter():
        _rewrite(element, name, used)
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    root.set("role", "img")
    root.set("aria-label", words)
    ElementTree.register_namespace("", SVG)
    return re.sub(r">\s+<", "><", ElementTree.tostring(root, encoding="unicode")).strip()


def _references(root: ElementTree.Element) -> set[str]:
    """The ids that something in the picture points to."""
    found = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == XLINK and value.startswith("#"):
                found.add(value[1:])
            found.update(_REFERENCE.findall(value))
    return found


def _rewrite(element: ElementTree.Element, name: str, used: set[str]) -> None:
    """Ids of its own, plain links, and the page's colours."""
    own = element.attrib.pop("id", None)
    if own in used:
        element.set("id", f"{name}-{own}")
    link = element.attrib.pop(XLINK, None)
    if link is not None:
        element.set("href", f"#{name}-{link[1:]}" if link.startswith("#") else link)
    for key, value in element.attrib.items():
        if key in ("style", "fill", "stroke"):
            value = _COLOUR.sub(lambda match: INK[match[0]], value)
        element.set(key, _REFERENCE.sub(lambda match: f"url(#{name}-{match[1]})", value))
