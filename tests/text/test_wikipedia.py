"""Dumps are streamed page by page; what is no sound dump ends with one line that says where."""

from __future__ import annotations

import bz2
import importlib.util
import itertools
import random
import re
import tracemalloc
from pathlib import Path

import pytest

from quartet.errors import InputError
from quartet.text import wikipedia
from quartet.text.documents import Document, Paragraph
from quartet.text.wikipedia import read_wikipedia

DUMP = Path(__file__).parents[1] / "fixtures" / "text" / "dump.xml"
SAMPLE = "test/test_data/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"


def test_articles_are_read_and_other_pages_are_not() -> None:
    kettle, spoon = read_wikipedia(DUMP)
    assert (kettle.id, kettle.title) == ("3", "Kettle")
    assert [(p.text, p.heading) for p in kettle.paragraphs] == [
        ("A kettle boils water. It whistles & steams.", False),
        ("Use", True),
        ("Fill it first. Then switch it on.", False),
    ]
    assert (spoon.id, spoon.title) == ("7", "Spoon")


def test_a_compressed_dump_reads_the_same_even_in_several_streams(tmp_path: Path) -> None:
    data = DUMP.read_bytes()
    path = tmp_path / "dump.data"  # the name does not matter
    path.write_bytes(bz2.compress(data[:900]) + bz2.compress(data[900:]))
    assert list(read_wikipedia(path)) == list(read_wikipedia(DUMP))


def _until_error(path: Path) -> tuple[list[Document], str]:
    read: list[Document] = []
    with pytest.raises(InputError) as error:
        for document in read_wikipedia(path):
            read.append(document)  # what came before the error counts
    return read, str(error.value)


@pytest.mark.parametrize("compressed", [False, True])
def test_a_truncated_dump_says_how_far_it_got(tmp_path: Path, compressed: bool) -> None:
    path = tmp_path / "cut.xml"
    data = DUMP.read_bytes()
    if compressed:
        noise = random.Random(1).randbytes(700_000).hex().encode()  # several blocks of bzip2
        compressed_data = bz2.compress(data.replace(b"</mediawiki>", b"<!--" + noise + b"--></mediawiki>"))
        path.write_bytes(compressed_data[:-200])
    else:
        path.write_bytes(data[: data.index(b"<title>Spoon")])
    read, message = _until_error(path)
    assert [document.title for document in read][:1] == ["Kettle"]
    reached = "3 articles (last page: 'Spoon')" if compressed else "2 articles (last page: 'Kettle (names)')"
    assert message.startswith(f"{path}: damaged or cut short after {reached}")


def test_a_damaged_compression_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.bz2"
    path.write_bytes(b"BZh9" + bytes(200))
    assert "damaged or cut short at its start" in _until_error(path)[1]


def test_an_entity_bomb_is_refused_before_it_expands(tmp_path: Path) -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    head = f'<?xml version="1.0"?><!DOCTYPE mediawiki [<!ENTITY e0 "lol">{levels}]>'
    bomb = head + "<mediawiki><page>&e9;</page></mediawiki>"
    path = tmp_path / "bomb.xml"
    path.write_text(bomb)
    tracemalloc.start()
    message = _until_error(path)[1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "DOCTYPE" in message
    assert peak < 8 << 20


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("<html><p>Hello</p></html>", "its root is <html>"),
        ("<mediawiki></mediawiki>", "holds no article"),
        ("plain words", "damaged or cut short at its start"),
        ("", "damaged or cut short at its start"),
    ],
)
def test_what_is_no_dump_is_refused(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "x.xml"
    path.write_text(content)
    assert reason in _until_error(path)[1]


def test_an_absent_dump_is_named(tmp_path: Path) -> None:
    assert "none.xml: cannot be read" in _until_error(tmp_path / "none.xml")[1]


def test_memory_does_not_grow_with_the_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wikipedia, "paragraphs_of", lambda text, prefixes: (Paragraph(text[:9]),))
    page = b"<page><title>T</title><ns>0</ns><id>1</id><revision><text>%s</text></revision></page>" % (
        b"word " * 8000
    )
    path = tmp_path / "large.xml"
    with open(path, "wb") as file:
        file.writelines([b"<mediawiki>", *[page] * 800, b"</mediawiki>"])  # 32 MB
    tracemalloc.start()
    assert sum(1 for _ in read_wikipedia(path)) == 800
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


def test_an_element_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wikipedia, "MAX_PAGE_CHARACTERS", 1000)
    path = tmp_path / "long.xml"
    path.write_text("<mediawiki><page><title>T</title><revision><text>" + "word " * 300)
    assert "longer than 1,000 characters" in _until_error(path)[1]


def test_the_real_sample_is_clean() -> None:
    spec = importlib.util.find_spec("gensim")
    assert spec is not None
    assert spec.submodule_search_locations
    path = Path(spec.submodule_search_locations[0]) / SAMPLE
    documents = list(itertools.islice(read_wikipedia(path), 12))
    assert [document.title for document in documents[:3]] == ["Anarchism", "Autism", "Albedo"]
    texts = [paragraph.text for document in documents for paragraph in document.paragraphs]
    assert sum(map(len, texts)) > 400_000
    dirt = re.compile(r"\{\{|\}\}|\[\[|\]\]|\{\||''|</?\w|\bthumb\b|&[a-z]+;|\(\s*[;,)]|https?:|[\x00-\x1f]")
    assert [text for text in texts if dirt.search(text)] == []
