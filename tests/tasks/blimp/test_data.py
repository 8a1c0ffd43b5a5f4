"""BLiMP as a zip, as a folder and from the hub, and what is refused."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from quartet.errors import InputError
from quartet.report.spec import PartsSpec, sections
from quartet.tasks.blimp.data import MinimalPair, read_blimp
from tests.shared_data import shared
from tests.tasks.sts.test_data import parquet, write


def row(uid: str, number: int, **changes: Any) -> dict[str, Any]:
    """A line of the official files."""
    return {
        "sentence_good": f"good {number}",
        "sentence_bad": f"bad {number}",
        "field": "syntax/semantics",
        "linguistics_term": "s-selection",
        "UID": uid,
        "pairID": str(number),
        **changes,
    }


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(each) + "\n" for each in rows)


def pair(uid: str, number: int) -> MinimalPair:
    return MinimalPair(f"good {number}", f"bad {number}", uid, "argument_structure", "syntax_semantics")


def zipped(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def test_a_zip_without_what_its_maker_left_in_it(tmp_path: Path) -> None:
    members = {
        "data/b.jsonl": lines(row("b", 0)),
        "data/a.jsonl": lines(row("a", 0), row("a", 1)),
        "data/.DS_Store": "\0\1",
        "__MACOSX/data/._a.jsonl": "\0\5\x16\7",
        "data/.hidden.jsonl": "broken",
        "README.md": "text",
    }
    path = zipped(tmp_path / "test.zip", **members)
    assert list(read_blimp(path)) == [pair("a", 0), pair("a", 1), pair("b", 0)]


def test_a_folder_a_file_and_the_hub(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "a").mkdir(parents=True)
    (folder / "__MACOSX").mkdir()
    write(folder, "b.jsonl", lines(row("b", 0)))
    write(folder / "__MACOSX", "a.jsonl", "broken")
    columns = {name: [value] for name, value in row("a", 0).items() if name != "pairID"}
    parquet(folder / "a", **columns, pair_id=[0])
    assert list(read_blimp(folder)) == [pair("a", 0), pair("b", 0)]
    assert list(read_blimp(folder / "b.jsonl")) == [pair("b", 0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lines(row("a", 0), row("a", 0)), r"test\.zip/a\.jsonl:2: the pair 0 of a is there already"),
        (lines({"UID": "a"}), r"test\.zip/a\.jsonl:1: no column sentence_good"),
        (lines(row("a", 0, sentence_bad=" ")), r"a\.jsonl:1: sentence_bad is empty"),
        (lines({name: value for name, value in row("a", 0).items() if name != "pairID"}), "no column pairID"),
        ('{"a"\n', r"a\.jsonl:1: not a line of JSON"),
        ("", r"test\.zip: holds no pair"),
    ],
)
def test_what_is_malformed_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_blimp(zipped(tmp_path / "test.zip", **{"a.jsonl": text})))


def test_broken_zips_and_empty_folders_are_refused(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "test.zip", **{"a.jsonl": lines(*(row("a", number) for number in range(50)))})
    data = whole.read_bytes()
    whole.write_bytes(data[:-30])
    with pytest.raises(InputError, match="not a zip file that can be read"):
        list(read_blimp(whole))
    place = data.index(b"good 20")  # inside the member: its check sum no longer holds
    whole.write_bytes(data[:place] + b"evil" + data[place + 4 :])
    with pytest.raises(InputError, match="not a zip file that can be read"):
        list(read_blimp(whole))
    with pytest.raises(InputError, match=r"absent\.zip: cannot be read"):
        list(read_blimp(tmp_path / "absent.zip"))
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="holds no pair"):
        list(read_blimp(tmp_path / "none"))


def test_the_published_counts_and_phenomena() -> None:
    pairs = list(read_blimp(shared("blimp/BLiMP.zip")))
    counts = Counter(one.paradigm for one in pairs)
    assert (len(counts), set(counts.values())) == (67, {1000})
    assert sum(one.good == one.bad for one in pairs) == 7
    found: dict[str, set[str]] = {}
    for one in pairs:
        found.setdefault(one.phenomenon, set()).add(one.paradigm)
    (table,) = (part for part in sections()["blimp"].body if isinstance(part, PartsSpec))
    assert found == {name: set(paradigms) for name, paradigms in table.parts.items()}, (
        "as the report has them"
    )
    assert {one.field for one in pairs} == {"morphology", "syntax", "semantics", "syntax_semantics"}
