"""Models of Punkt: the package's are NLTK's, a user's is read or refused with a line that helps."""

from __future__ import annotations

import importlib
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from punkt.data import LANGUAGES

from quartet.errors import InputError
from quartet.text.punkt import NONE
from quartet.text.punkt_languages import PUBLISHED
from quartet.text.punkt_model import (
    FILES,
    add_curated,
    digest,
    published_model,
    read_model,
    train_model,
)
from tests.shared_data import shared
from tests.text import corpus

PARTS = ("abbrev_types", "collocations", "sent_starters", "ortho_context")


def written(known: Any, folder: Path) -> Path:
    """The four files as NLTK's save_punkt_params writes them."""
    folder.mkdir(parents=True)
    rows = (
        list(known.abbrev_types),
        ["\t".join(pair) for pair in known.collocations],
        list(known.sent_starters),
        [f"{word}\t{contexts}" for word, contexts in known.ortho_context.items()],
    )
    for name, lines in zip(FILES, rows, strict=True):
        (folder / name).write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return written(train_model(" ".join(corpus.sentences(300, seed=1))), tmp_path / "model")


def test_the_published_model_is_punkt_tabs() -> None:
    theirs = read_model(shared("nltk/tokenizers/punkt_tab/english"), "english")
    ours = published_model("english")
    assert len(ours.ortho_context) == 20_366
    for part in PARTS:
        assert getattr(ours, part) == getattr(theirs, part), part
    assert digest(ours, NONE) == digest(theirs, NONE)


def test_every_model_that_the_package_has_of_nltk_is_known() -> None:
    sources = {name: importlib.import_module(f"punkt.data.{name}").SOURCE for name in LANGUAGES}
    assert set(PUBLISHED) == {name for name, source in sources.items() if source == f"punkt_tab:{name}"}


def test_a_language_without_a_model_is_told_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"the nearest known language is 'english'.*czech.*turkish"):
        published_model("English")
    with pytest.raises(InputError, match=r"punkt: trained, curated: false.*czech"):
        published_model("xx")


def test_a_language_without_lists_is_told_how_to_go_without() -> None:
    with pytest.raises(InputError, match=r"no curated abbreviations of it; set segmentation\.curated: false"):
        add_curated(train_model("It is. It was."), "klingon")


@pytest.mark.parametrize("part", PARTS)
def test_the_hash_knows_every_part(part: str) -> None:
    one, other = published_model("english"), published_model("english")
    getattr(other, part).clear()
    assert digest(one, NONE) != digest(other, NONE)
    assert digest(one, NONE) != digest(one, add_curated(published_model("english"), "english"))


def test_a_folder_and_a_zip_are_the_same_model(model: Path, tmp_path: Path) -> None:
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", model))
    assert digest(read_model(model, "english"), NONE) == digest(read_model(packed, "english"), NONE)


def test_of_several_languages_it_is_the_corpus_s(model: Path, tmp_path: Path) -> None:
    several = tmp_path / "punkt_tab"
    shutil.copytree(model, several / "english")
    written(published_model("spanish"), several / "spanish")
    assert digest(read_model(several, "spanish"), NONE) == digest(published_model("spanish"), NONE)
    with pytest.raises(InputError, match="has no Punkt model of 'dutch'; it has those of english, spanish"):
        read_model(several, "dutch")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("abbrev_types.txt", b"\xff", r"abbrev_types\.txt: not UTF-8"),
        ("collocations.tab", b"a\tb\nc", r"collocations\.tab:2: 2 columns expected"),
        ("sent_starters.txt", b"he\n\nshe", r"sent_starters\.txt:2: 1 column expected"),
        ("ortho_context.tab", b"the\t2\nmill\t-1", r"ortho_context\.tab:2: a number below 128"),
        ("ortho_context.tab", None, r"ortho_context\.tab: no such file"),
    ],
)
def test_a_damaged_model_is_refused_with_its_line(
    model: Path, name: str, content: bytes | None, said: str
) -> None:
    if content is None:
        (model / name).unlink()
    else:
        (model / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{said}.*damaged; write it again"):
        read_model(model, "english")


def test_what_is_no_model_is_said(model: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(b"not a zip file")
    with pytest.raises(InputError, match="neither a folder nor a zip"):
        read_model(tmp_path / "broken.zip", "english")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    with pytest.raises(InputError, match="holds no Punkt model"):
        read_model(tmp_path / "empty.zip", "english")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        for name in FILES:
            archive.write(model / name, name)
    content = (model / "abbrev_types.txt").read_bytes()
    packed = tmp_path / "packed.zip"
    packed.write_bytes(
        packed.read_bytes().replace(content, b"x" * len(content), 1)
    )  # not its checksum any more
    with pytest.raises(InputError, match="damaged"):
        read_model(packed, "english")
