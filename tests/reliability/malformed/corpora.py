"""Raw text: dumps of Wikipedia, folders and files of plain text, the WikiText corpora, and their splits."""

from __future__ import annotations

import bz2
from collections.abc import Callable, Iterator
from pathlib import Path

from quartet.text.documents import Document
from quartet.text.plain import read_text
from quartet.text.segmented import segment_corpus
from quartet.text.split import Shares
from quartet.text.wikipedia import MAX_PAGE_CHARACTERS, read_wikipedia
from quartet.text.wikitext_corpus import read_wikitext
from tests.reliability.malformed.case import Case

DUMP, PROSE = "dump.xml.bz2", "prose.txt"
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
        yield Case("corpus/wikipedia", name, {DUMP: data}, _documents(read_wikipedia, DUMP), says)
    yield Case(
        "corpus/wikipedia",
        "no such file",
        {},
        _documents(read_wikipedia, DUMP),
        "dump.xml.bz2: cannot be read",
    )
    yield Case(
        "corpus/wikipedia",
        "a folder",
        {f"{DUMP}/inside": b""},
        _documents(read_wikipedia, DUMP),
        "dump.xml.bz2: cannot be read",
    )
    for name, (files, says) in PLAIN.items():
        yield Case(
            "corpus/text",
            name,
            files,
            _documents(read_text, "prose" if "prose/" in str(files) else PROSE),
            says,
        )
    for name, (files, says) in WIKITEXT.items():
        yield Case("corpus/wikitext", name, files, _documents(read_wikitext, "wikitext"), says)
    for name, (files, shares, says) in SPLITS.items():
        given = {"shares": repr(shares).encode()}  # part of the input
        yield Case("corpus/split", name, {**files, **given}, _segmented(shares), says)


def _documents(reader: Callable[[Path], Iterator[Document]], name: str) -> Callable[[Path], list[Document]]:
    return lambda folder: list(reader(folder / name))


def _segmented(shares: tuple[float, float] | None) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        share = Shares(*shares) if shares else None
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

PLAIN: dict[str, tuple[dict[str, bytes], str]] = {
    "no such file": ({}, "no such file or folder"),
    "an empty file": ({PROSE: b""}, "prose.txt: holds no text"),
    "blank lines alone": ({PROSE: b"\n \n\t\n"}, "prose.txt: holds no text"),
    "a byte-order mark alone": ({PROSE: b"\xef\xbb\xbf"}, "prose.txt: holds no text"),
    "Latin-1": ({PROSE: b"The first line.\ncaf\xe9\n"}, "prose.txt:.*not UTF-8"),
    "UTF-16 with its mark": ({PROSE: "The heron.".encode("utf-16")}, "prose.txt:1: not UTF-8"),
    "UTF-16 without its mark": ({PROSE: "The heron.".encode("utf-16-le")}, "prose.txt:1: a NUL"),
    "a NUL": ({PROSE: b"The heron.\n\nIt wa\0its.\n"}, "prose.txt:3: a NUL"),
    "a picture": ({PROSE: b"\x89PNG\r\n\x1a\n" + bytes(range(256))}, "prose.txt:1: not UTF-8"),
    "half a character at the end": ({PROSE: "Zoë".encode()[:-1]}, "prose.txt:.*not UTF-8"),
    "a surrogate": ({PROSE: b"\xed\xa0\x80\n"}, "prose.txt:.*not UTF-8"),
    "a folder without .txt": ({"prose/a.md": b"text"}, "prose: holds no text"),
    "a folder of empty files": ({"prose/a.txt": b"", "prose/b.txt": b"\n"}, "prose: holds no text"),
    "a folder with a bad file": (
        {"prose/a.txt": b"Well.\n", "prose/b.txt": b"\xff\n"},
        r"prose/b.txt:1: not UTF-8",
    ),
    "a folder with a NUL": (
        {"prose/a.txt": b"Well.\n", "prose/sub/b.txt": b"\0\n"},
        r"prose/sub/b.txt:1: a NUL",
    ),
}

_article = b" \n = Heron = \n \n It waits . \n"
_set = {f"wikitext/wiki.{split}.tokens": _article for split in ("train", "valid", "test")}
WIKITEXT: dict[str, tuple[dict[str, bytes], str]] = {
    "no folder": ({}, "no such folder"),
    "a file in its place": ({"wikitext": _article}, "no such folder"),
    "a folder of other files": ({"wikitext/a.txt": _article}, "holds no WikiText"),
    "both endings": ({**_set, "wikitext/wiki.train.raw": _article}, "holds .tokens and .raw files"),
    "no test split": (
        {path: data for path, data in _set.items() if "test" not in path},
        "wiki.test.tokens: no such file",
    ),
    "an empty split": ({**_set, "wikitext/wiki.valid.tokens": b""}, "wiki.valid.tokens: holds no article"),
    "text before the first title": (
        {**_set, "wikitext/wiki.train.tokens": b"It waits .\n" + _article},
        "wiki.train.tokens:1: text before the first title",
    ),
    "no title": ({**_set, "wikitext/wiki.train.tokens": b"\n It waits . \n"}, "text before the first title"),
    "Latin-1": (
        {**_set, "wikitext/wiki.test.tokens": _article + b"caf\xe9\n"},
        "wiki.test.tokens:.*not UTF-8",
    ),
    "a NUL": ({**_set, "wikitext/wiki.test.tokens": _article + b"he\0ron\n"}, "wiki.test.tokens:5: a NUL"),
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
