"""Sources arrive whole and checked, or not at all."""

from __future__ import annotations

import functools
import hashlib
import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from pipeline.fetch import fetch_one, fetched_path, package_file, punkt_choice, tree_sha256
from pipeline.layout import Layout
from pipeline.params import Params
from quartet.config.loading import checked, read_yaml
from quartet.config.text import Source
from quartet.errors import InputError
from quartet.files import MANIFEST_VERSION
from tests.imports import ROOT

TEXT = b"one paragraph\n\nand another\n" * 1000
SHA256 = hashlib.sha256(TEXT).hexdigest()


class _Truncating(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; under /cut/ it promises more than it sends, under /odd/ it does not say a number.

    Under /drops/ it sends a part of what is asked for and goes away, under /drops/whole/ it knows no ranges, under
    /drops/shifted/ it answers with another range.
    """

    asked: ClassVar[list[str]] = []
    content: ClassVar[bytes] = TEXT
    at_a_time: ClassVar[int] = 10_000
    size_told: ClassVar[str] = f"bytes */{len(TEXT)}"

    def _drop(self) -> None:
        wanted = "" if "/whole/" in self.path else self.headers.get("Range", "")
        self.asked.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-") or 0)
        if start and start >= len(self.content):
            self.send_response(416)
            if self.size_told:
                self.send_header("Content-Range", self.size_told)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if wanted else 200)
        if wanted:
            begins = start + ("/shifted/" in self.path)
            self.send_header("Content-Range", f"bytes {begins}-{len(self.content) - 1}/{len(self.content)}")
        self.send_header("Content-Length", str(len(self.content) - start))
        self.end_headers()
        self.wfile.write(self.content[start : start + self.at_a_time])

    def do_GET(self) -> None:
        if self.path.startswith("/drops/"):
            return self._drop()
        if not self.path.startswith(("/cut/", "/odd/")):
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", str(len(TEXT)) if self.path.startswith("/cut/") else "much")
        self.end_headers()
        self.wfile.write(TEXT[:100])
        return None

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server on this machine that has books.txt."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr("pipeline.fetch.PAUSE_SECONDS", 0)
    for name, value in (("asked", []), ("content", TEXT), ("at_a_time", 10_000)):
        monkeypatch.setattr(_Truncating, name, value)
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "books.txt").write_bytes(TEXT)
    handler = functools.partial(_Truncating, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def get(tmp_path: Path, source: str, sha256: str | None) -> dict[str, object]:
    """Fetch into tmp_path/raw/books."""
    return fetch_one(Source(source=source, sha256=sha256), tmp_path, tmp_path / "raw" / "books")


def refusal(tmp_path: Path, source: str, sha256: str | None = SHA256) -> str:
    """The line that a source is refused with; nothing may be left behind."""
    with pytest.raises(InputError) as caught:
        get(tmp_path, source, sha256)
    assert not (tmp_path / "raw" / "books").exists()
    assert not list((tmp_path / "raw").iterdir())
    return str(caught.value)


def test_a_url_is_downloaded_and_checked(tmp_path: Path, server: str) -> None:
    manifest = get(tmp_path, f"{server}/books.txt", SHA256)
    assert manifest == {
        "file": "books.txt",
        "source": f"{server}/books.txt",
        "bytes": len(TEXT),
        "files": 1,
        "sha256": SHA256,
        "version": MANIFEST_VERSION,
    }
    assert fetched_path(tmp_path / "raw" / "books").read_bytes() == TEXT


def test_what_is_there_is_not_downloaded_again(tmp_path: Path, server: str) -> None:
    get(tmp_path, f"{server}/books.txt", SHA256)
    (tmp_path / "served" / "books.txt").unlink()
    assert get(tmp_path, f"{server}/books.txt", SHA256)["sha256"] == SHA256
    fetched_path(tmp_path / "raw" / "books").write_bytes(b"damaged")
    with pytest.raises(InputError, match="cannot be downloaded"):
        get(tmp_path, f"{server}/books.txt", SHA256)


def test_a_wrong_checksum_names_both(tmp_path: Path, server: str) -> None:
    line = refusal(tmp_path, f"{server}/books.txt", "0" * 64)
    assert f"sha256 {'0' * 64} was expected, {SHA256} was found" in line
    assert line.startswith(f"{server}/books.txt: ")


def left(tmp_path: Path) -> list[bytes]:
    """What waits for the next try."""
    return [path.read_bytes() for path in (tmp_path / "raw").glob(".unfinished-download-*")]


def test_a_truncated_download_is_refused_and_its_part_is_kept(tmp_path: Path, server: str) -> None:
    with pytest.raises(InputError, match=r"ends after 100 of 27,000 bytes; try again"):
        get(tmp_path, f"{server}/cut/books.txt", SHA256)
    assert left(tmp_path) == [TEXT[:100]]
    assert len(list((tmp_path / "raw").iterdir())) == 1


def test_a_download_goes_on_where_the_connection_broke(tmp_path: Path, server: str) -> None:
    assert get(tmp_path, f"{server}/drops/books.txt", SHA256)["sha256"] == SHA256
    assert _Truncating.asked == ["", "bytes=10000-", "bytes=20000-"]
    assert left(tmp_path) == []
    assert fetched_path(tmp_path / "raw" / "books").read_bytes() == TEXT


def test_another_run_goes_on_with_what_a_broken_one_left(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"{server}/drops/books.txt"
    with monkeypatch.context() as patch:
        patch.setattr("pipeline.fetch.time.sleep", interrupt)
        with pytest.raises(KeyboardInterrupt):
            get(tmp_path, address, SHA256)
    assert left(tmp_path) == [TEXT[:10_000]]
    monkeypatch.setattr(_Truncating, "at_a_time", 1 << 20)
    assert get(tmp_path, address, SHA256)["sha256"] == SHA256
    assert _Truncating.asked == ["", "bytes=10000-"]
    assert left(tmp_path) == []


def interrupt(_: float) -> None:
    """What Ctrl-C does."""
    raise KeyboardInterrupt


def partial(tmp_path: Path, address: str, content: bytes) -> None:
    """As if an earlier run had left so much."""
    (tmp_path / "raw").mkdir()
    mark = hashlib.sha256(address.encode()).hexdigest()[:16]
    (tmp_path / "raw" / f".unfinished-download-{mark}").write_bytes(content)


def test_a_server_that_knows_no_ranges_begins_again(tmp_path: Path, server: str) -> None:
    _Truncating.at_a_time = 1 << 20
    address = f"{server}/drops/whole/books.txt"
    partial(tmp_path, address, TEXT[:500])
    get(tmp_path, address, SHA256)
    assert _Truncating.asked == [""]
    assert fetched_path(tmp_path / "raw" / "books").read_bytes() == TEXT


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        (b"another file's beginning", ["bytes=24-", ""]),  # what is put together has another checksum
        (TEXT, ["bytes=27000-"]),  # only the move was missing
        (TEXT + b"and more", ["bytes=27008-", ""]),  # the file there is shorter
    ],
)
def test_what_was_left_is_taken_only_where_it_fits(
    tmp_path: Path, server: str, kept: bytes, asked: list[str]
) -> None:
    _Truncating.at_a_time = 1 << 20
    address = f"{server}/drops/books.txt"
    partial(tmp_path, address, kept)
    assert get(tmp_path, address, SHA256)["sha256"] == SHA256
    assert _Truncating.asked == asked
    assert left(tmp_path) == []


@pytest.mark.parametrize("told", ["", "bytes */*", "bytes */\xb2"], ids=["nothing", "unknown", "no number"])
def test_a_server_that_does_not_tell_its_size_begins_again(
    tmp_path: Path, server: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Truncating, "size_told", told)
    _Truncating.at_a_time = 1 << 20
    address = f"{server}/drops/books.txt"
    partial(tmp_path, address, TEXT + b"and more")
    assert get(tmp_path, address, SHA256)["sha256"] == SHA256
    assert _Truncating.asked == ["bytes=27008-", ""]


def test_a_range_that_was_not_asked_for_is_not_taken(tmp_path: Path, server: str) -> None:
    address = f"{server}/drops/shifted/books.txt"
    partial(tmp_path, address, TEXT[:500])
    with pytest.raises(InputError, match="another range"):
        get(tmp_path, address, SHA256)
    assert left(tmp_path) == [TEXT[:500]]
    assert set(_Truncating.asked) == {"bytes=500-"}


def test_a_checksum_that_stays_wrong_leaves_nothing(tmp_path: Path, server: str) -> None:
    address = f"{server}/drops/books.txt"
    _Truncating.at_a_time = 1 << 20
    partial(tmp_path, address, b"x")
    assert "was expected" in refusal(tmp_path, address, "0" * 64)


def test_a_folder_on_the_hub_is_asked_for_with_all_that_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    asked: list[dict[str, str]] = []

    def download(name: str, **settings: str) -> str:
        asked.append({"name": name, **settings})
        return str(tmp_path / "snapshot")

    inside = tmp_path / "snapshot" / "20231101.en"
    inside.mkdir(parents=True)
    (inside / "train-00000-of-00001.parquet").write_bytes(b"x")
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    address = "hub://wikimedia/wikipedia@abc123/20231101.en/"
    assert get(tmp_path, address, None)["files"] == 1
    assert asked == [
        {
            "name": "wikimedia/wikipedia",
            "allow_patterns": "20231101.en/*",
            "repo_type": "dataset",
            "revision": "abc123",
        }
    ]
    kept = fetched_path(tmp_path / "raw" / "books")
    assert [path.name for path in kept.iterdir()] == ["train-00000-of-00001.parquet"]
    assert "it has no such folder" in refusal(
        tmp_path / "other", "hub://wikimedia/wikipedia@abc123/20231101.fr/", None
    )


def test_an_answer_of_no_stated_length_is_judged_by_its_checksum(tmp_path: Path, server: str) -> None:
    assert "was expected" in refusal(tmp_path, f"{server}/odd/books.txt")


def test_an_answer_without_end_is_cut_off(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.fetch.LARGEST", 100)
    assert "answers with more than" in refusal(tmp_path, f"{server}/books.txt")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("http://127.0.0.1:9/books.txt", "cannot be downloaded"),
        ("ftp://127.0.0.1/books.txt", "this kind of address is not known"),
        ("file:///etc/hostname", "this kind of address is not known"),
        ("package://nosuchpackage/x", "the Python package 'nosuchpackage' is not installed"),
        ("package://../x", "is not installed"),
        ("package://gensim/nosuchfile", "the installed package 'gensim' has no such file"),
        ("package://gensim/../numpy/__init__.py", "the installed package 'gensim' has no such file"),
        ("no/such.txt", "no such file or folder; paths start at data.root of params.yaml"),
    ],
)
def test_what_cannot_be_had_is_named(tmp_path: Path, source: str, said: str) -> None:
    assert said in refusal(tmp_path, source)


def test_a_missing_page_is_named(tmp_path: Path, server: str) -> None:
    assert "cannot be downloaded (404 " in refusal(tmp_path, f"{server}/nothing.txt")


def test_a_local_folder_needs_no_checksum_and_has_one(tmp_path: Path) -> None:
    (tmp_path / "mine" / "deep").mkdir(parents=True)
    (tmp_path / "mine" / "a.txt").write_text("a")
    (tmp_path / "mine" / "deep" / "b.txt").write_text("b")
    manifest = get(tmp_path, "mine", None)
    assert (manifest["files"], manifest["bytes"]) == (2, 2)
    kept = fetched_path(tmp_path / "raw" / "books")
    assert (kept / "deep" / "b.txt").read_text() == "b"
    assert manifest["sha256"] == tree_sha256(tmp_path / "mine")
    (tmp_path / "mine" / "a.txt").write_text("c")
    changed = get(tmp_path, "mine", None)["sha256"]
    (tmp_path / "mine" / "a.txt").rename(tmp_path / "mine" / "z.txt")
    renamed = get(tmp_path, "mine", None)["sha256"]
    assert len({manifest["sha256"], changed, renamed}) == 3


def test_a_packages_file_is_found_without_importing_it() -> None:
    assert package_file("package://gensim/test/test_data/lee.cor").is_file()


def test_a_punkt_model_is_fetched_and_checked(tmp_path: Path) -> None:
    settings = read_yaml(ROOT / "presets" / "tiny.yaml")
    model = tmp_path / "model"
    model.mkdir()
    (model / "abbrev_types.txt").write_text("mr")
    settings["data"]["root"] = str(tmp_path)
    settings["segmentation"]["punkt"] = {"source": "model", "sha256": tree_sha256(model)}
    params = checked(Params, settings, "params.yaml")
    layout = Layout("tiny", tmp_path)
    chosen = punkt_choice(params, layout)
    assert chosen == layout.punkt / "model"
    assert (layout.punkt / "model" / "abbrev_types.txt").read_text() == "mr"
    (model / "abbrev_types.txt").write_text("mrs")
    assert punkt_choice(params, layout) == chosen, "what has the sha256 is kept"
    shutil.rmtree(layout.punkt)
    with pytest.raises(InputError, match=rf"{tree_sha256(model)} was found.*put its sha256 into params.yaml"):
        punkt_choice(params, layout)
