"""Sources arrive whole and checked, or not at all."""

from __future__ import annotations

import functools
import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.fetch import fetch_one, fetched, package_file, tree_sha256
from pipeline.params import Source
from quartet.errors import InputError
from quartet.files import MANIFEST_VERSION

TEXT = b"one paragraph\n\nand another\n" * 1000
SHA256 = hashlib.sha256(TEXT).hexdigest()


class _Truncating(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; under /cut/ it promises more than it sends, under /odd/ it does not say a number."""

    def do_GET(self) -> None:
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
    assert fetched(tmp_path / "raw" / "books").read_bytes() == TEXT


def test_what_is_there_is_not_downloaded_again(tmp_path: Path, server: str) -> None:
    get(tmp_path, f"{server}/books.txt", SHA256)
    (tmp_path / "served" / "books.txt").unlink()
    assert get(tmp_path, f"{server}/books.txt", SHA256)["sha256"] == SHA256
    fetched(tmp_path / "raw" / "books").write_bytes(b"damaged")
    with pytest.raises(InputError, match="cannot be downloaded"):
        get(tmp_path, f"{server}/books.txt", SHA256)


def test_a_wrong_checksum_names_both(tmp_path: Path, server: str) -> None:
    line = refusal(tmp_path, f"{server}/books.txt", "0" * 64)
    assert f"sha256 {'0' * 64} was expected, {SHA256} was found" in line
    assert line.startswith(f"{server}/books.txt: ")


def test_a_truncated_download_is_refused(tmp_path: Path, server: str) -> None:
    assert "ends after 100 of 27,000 bytes" in refusal(tmp_path, f"{server}/cut/books.txt")


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
    kept = fetched(tmp_path / "raw" / "books")
    assert (kept / "deep" / "b.txt").read_text() == "b"
    assert manifest["sha256"] == tree_sha256(tmp_path / "mine")
    (tmp_path / "mine" / "a.txt").write_text("c")
    changed = get(tmp_path, "mine", None)["sha256"]
    (tmp_path / "mine" / "a.txt").rename(tmp_path / "mine" / "z.txt")
    renamed = get(tmp_path, "mine", None)["sha256"]
    assert len({manifest["sha256"], changed, renamed}) == 3


def test_a_packages_file_is_found_without_importing_it() -> None:
    assert package_file("package://gensim/test/test_data/lee.cor").is_file()
