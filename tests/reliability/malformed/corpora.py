"""Raw text: dumps of Wikipedia, and the splits of a corpus."""

from __future__ import annotations

import bz2
from collections.abc import Callable, Iterator
from pathlib import Path

from quartet.text.plain import read_text
from quartet.text.segmentation import segment_corpus
from quartet.text.split import HeldOutShares
from quartet.text.wikipedia import MAX_PAGE_CHARACTERS, read_wikipedia
from tests.reliability.malformed.case import Case

DUMP = "dump.xml.bz2"
TEXT = "A heron stands in the river. It waits for a fish, and the fish waits too. " * 8


def page(number: int, inside: str = "", title: str = "Heron") -> str:
    """An article of a dump."""
    return (
        f"<page><title>{title} {number}</title><ns>0</ns><id>{number}</id>{inside}"
        f"<revision><model>wikitext</model><text>{TEXT}</text></revision></page>\n"
    )


def dump(*pages: str) -> str:
    """A dump of some pages."""
    return f"<mediawiki>\n{''.join(pages)}</mediawiki>\n"


WHOLE = dump(*(page(number) for number in range(1, 40))).encode()
#: Several blocks of bzip2, so that one may be broken and others not.
PACKED = b"".join(bz2.compress(WHOLE[at : at + 8192], 1) for at in range(0, len(WHOLE), 8192))


def cases() -> Iterator[Case]:
    for name, (data, says) in DUMPS.items():
        yield Case("corpus/wikipedia", name, {DUMP: data}, _articles, says)
    yield Case(
        "corpus/wikipedia",
        "no such file",
        {},
        _articles,
        "dump.xml.bz2: cannot be read",
    )
    yield Case(
        "corpus/wikipedia",
        "a folder",
        {f"{DUMP}/inside": b""},
        _articles,
        "dump.xml.bz2: cannot be read",
    )
    for name, (files, shares, says) in SPLITS.items():
        given = {"shares": repr(shares).encode()}  # part of the input
        yield Case("corpus/split", name, {**files, **given}, _segmented(shares), says)


def _articles(folder: Path) -> object:
    return list(read_wikipedia(folder / DUMP))


def _segmented(shares: tuple[float, float] | None) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        share = HeldOutShares(*shares) if shares else None
        return segment_corpus(read_text, folder / "prose", folder / "out", shares=share, punkt="trained")

    return read


def _swapped(data: bytes, old: bytes, new: bytes) -> bytes:
    assert old in data
    return data.replace(old, new, 1)


_bomb = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
DUMPS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "at its start"),
    "bzip2 of nothing": (bz2.compress(b""), "at its start"),
    "the first bytes alone": (b"BZh", "at its start"),
    "cut in the first block": (PACKED[:200], "at its start"),
    "cut in the middle": (PACKED[: len(PACKED) // 2], r"after \d+ articles"),
    "cut by one byte": (PACKED[:-1], "damaged or cut short|not well-formed|no element"),
    "a damaged block": (PACKED[:-400] + bytes(100) + PACKED[-300:], "damaged or cut short"),
    "gzip": (b"\x1f\x8b\x08\x00" + bytes(40), "not well-formed"),
    "not packed, cut": (WHOLE[:-200], r"after \d+ articles"),
    "no end tag": (WHOLE[: -len("</mediawiki>\n")], "no element found|not well-formed|unclosed"),
    "tags that cross": (_swapped(WHOLE, b"</text></revision>", b"</revision></text>"), "mismatched tag"),
    "an ampersand": (_swapped(WHOLE, b"heron", b"heron & co"), "not well-formed"),
    "an undefined entity": (_swapped(WHOLE, b"heron", b"heron &nbsp;"), "undefined entity"),
    "a bomb of entities": (
        f'<!DOCTYPE m [<!ENTITY a0 "heron">{_bomb}]><mediawiki>&a9;</mediawiki>'.encode(),
        "DOCTYPE",
    ),
    "an entity that is a file": (
        b'<!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/passwd">]><mediawiki>&a;</mediawiki>',
        "DOCTYPE",
    ),
    "another root": (b"<rss><channel/></rss>", "its root is <rss>, not <mediawiki>"),
    "two roots": (WHOLE + WHOLE, "junk after document element"),
    "HTML": (b"<!DOCTYPE html><html><body>404</body></html>", "DOCTYPE"),
    "no page": (dump().encode(), "holds no article"),
    "redirects alone": (dump(page(1, '<redirect title="Egret"/>')).encode(), "holds no article"),
    "talk alone": (dump(page(1)).replace("<ns>0", "<ns>1").encode(), "holds no article"),
    "a page without a number": (dump(page(1)).replace("<id>1</id>", "").encode(), "has no id"),
    "Latin-1": (_swapped(WHOLE, b"heron", b"h\xe9ron"), "not well-formed|invalid token"),
    "another encoding than it says": (
        b'<?xml version="1.0" encoding="utf-16"?>' + WHOLE,
        "encoding|not well-formed",
    ),
    "an unknown encoding": (b'<?xml version="1.0" encoding="klingon"?>' + WHOLE, "unknown encoding"),
    "a NUL": (_swapped(WHOLE, b"heron", b"he\0ron"), "not well-formed"),
    "an element of 33 million characters": (
        bz2.compress(dump(page(1)).replace(TEXT, "a" * (MAX_PAGE_CHARACTERS + 1)).encode(), 1),
        "longer than",
    ),
    "100,000 elements in one another": (b"<mediawiki>" + b"<a>" * 100_000, "one another"),
    "a comment of 30 million characters": (
        bz2.compress(b"<mediawiki><!--", 1) + bz2.compress(b" " * 10_000_000, 1) * 3,
        "a tag or comment is longer than",
    ),
    "an attribute twice": (
        WHOLE.replace(b"<mediawiki>", b'<mediawiki a="1" a="2">', 1),
        "duplicate attribute",
    ),
}

_prose = {f"prose/{name}.txt": b"A heron stands here.\n" for name in "abcd"}
SPLITS: dict[str, tuple[dict[str, bytes], tuple[float, float] | None, str]] = {
    "two documents": ({path: _prose[path] for path in list(_prose)[:2]}, (0.1, 0.1), "cannot be split"),
    "shares that leave nothing": (_prose, (0.5, 0.6), "leave nothing for training"),
    "a share of nothing": (_prose, (0.0, 0.5), "no share between 0 and 1"),
    "no folder of splits": (_prose, None, "is in no folder train/, valid/ or test/"),
    "a split that is missing": (
        {"prose/train/a.txt": b"A heron.\n", "prose/valid/b.txt": b"A heron.\n"},
        None,
        "test/: the corpus has no document there",
    ),
}
