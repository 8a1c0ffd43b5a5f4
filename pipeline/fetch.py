"""Fetching what a source names: a file in a Python package, on the hub or at a URL, or a local file or folder.

Everything lands whole and checked, or not at all; what a broken download has brought waits for the next try.
"""

from __future__ import annotations

import hashlib
import http.client
import importlib.util
import re
import shutil
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.layout import MANIFEST, Layout
from pipeline.params import Params
from pipeline.tracking.progress import bar
from quartet.config.text import Source
from quartet.errors import InputError
from quartet.files import MANIFEST_VERSION, TEMPORARY, atomic_dir, files_below, read_json, sha256, write_json

if TYPE_CHECKING:  # at run time it would make every stage that fetches depend on how sentences are found
    from quartet.text.segmenter import PunktChoice

PACKAGE = "package://"
HUB = "hub://"
HUB_ADDRESS = re.compile(r"hub://(?P<name>[\w.-]+/[\w.-]+)@(?P<revision>[\w.-]+)/(?P<path>[^/].*)")
#: Bytes of a file's name: file systems allow 255, and a temporary name is longer.
LONGEST_NAME = 200


def fetch(source: Source, root: Path, folder: Path, name: str) -> dict[str, Any]:
    """Put what `source` names into `folder` as `name`; returns what the manifest says of it.

    Returns:
        ``{"file", "source", "bytes", "files", "sha256"}``; the hash of a folder is over its files' names and hashes.

    Raises:
        Unavailable: it cannot be had.
        InputError: it is not what the checksum promises, or its address is none.
    """
    target = folder / name
    if source.source.startswith(PACKAGE):
        _copy(package_file(source.source), target)
    elif source.source.startswith(("http://", "https://")):
        _download(source.source, target, source.sha256)
    elif source.source.startswith(HUB):
        _copy(hub_path(source.source), target)
    elif "://" in source.source:
        raise InputError(
            source.source, "this kind of address is not known", f"use {PACKAGE}, {HUB}, https:// or a path"
        )
    else:
        _copy(root / source.source, target)
    found = tree_sha256(target)
    if source.sha256 is not None and found != source.sha256:
        raise InputError(
            source.source,
            f"the wrong content: sha256 {source.sha256} was expected, {found} was found",
            "if the new content is right, put its sha256 into params.yaml",
        )
    files = files_below(target) if target.is_dir() else [target]
    return {
        "file": name,
        "source": source.source,
        "bytes": sum(path.stat().st_size for path in files),
        "files": len(files),
        "sha256": found,
    }


def fetch_one(source: Source, root: Path, folder: Path) -> dict[str, Any]:
    """Fetch one source into a folder of its own, with a manifest; an unchanged folder is left as it is."""
    if _is_there(source, folder):
        manifest: dict[str, Any] = read_json(folder / MANIFEST)
        return manifest
    name = file_name(source.source)
    with atomic_dir(folder) as temporary:
        manifest = {"version": MANIFEST_VERSION, **fetch(source, root, temporary, name)}
        write_json(temporary / MANIFEST, manifest)
    return manifest


def file_name(address: str) -> str:
    """The last part of an address or path, which what is fetched keeps as its name.

    Raises:
        InputError: it cannot be the name of a file in a folder beside our manifest.
    """
    try:
        name = urllib.parse.unquote(urllib.parse.urlsplit(address).path).rstrip("/").rsplit("/", 1)[-1]
    except ValueError as error:  # a host in brackets that is none
        raise InputError(address, f"names no file ({error})", "check the address") from error
    name = name or "source"
    if name in (".", "..", MANIFEST) or not name.isprintable() or len(name.encode()) > LONGEST_NAME:
        raise InputError(
            f"{address:.200}", f"names no file that can be kept beside {MANIFEST}", "give it another name"
        )
    return name


def fetched_path(folder: Path) -> Path:
    """The file or folder that :func:`fetch_one` put into `folder`.

    Raises:
        InputError: the folder's manifest is broken, or what it names is not in the folder.
    """
    manifest = read_json(folder / MANIFEST)
    name = manifest.get("file") if isinstance(manifest, dict) else None
    if not isinstance(name, str) or not name or Path(name).name != name or name == "..":
        raise InputError(folder / MANIFEST, "names no file of its folder", "fetch it again")
    if not (folder / name).exists():
        raise InputError(folder / name, "no such file, though the manifest names it", "fetch it again")
    return folder / name


def punkt_choice(params: Params, layout: Layout) -> PunktChoice:
    """``segmentation.punkt`` as `load_segmenter` takes it; a model of the user's is fetched first, as above."""
    chosen = params.segmentation.punkt
    if not isinstance(chosen, Source):
        return chosen
    fetch_one(chosen, Path(params.data.root), layout.punkt)
    return fetched_path(layout.punkt)


def _is_there(source: Source, folder: Path) -> bool:
    """True where an earlier run fetched the same thing: only a checksum can promise that."""
    if source.sha256 is None or not (folder / MANIFEST).is_file():
        return False
    manifest = read_json(folder / MANIFEST)
    kept = folder / str(manifest["file"])
    return manifest["source"] == source.source and kept.exists() and tree_sha256(kept) == source.sha256


def package_file(address: str) -> Path:
    """The path of ``package://<package>/<file>``, found without importing the package.

    Raises:
        InputError: there is no such package here, or no such file inside it.
    """
    package, _, inside = address.removeprefix(PACKAGE).partition("/")
    try:
        spec = importlib.util.find_spec(package) if package.isidentifier() else None
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise InputError(address, f"the Python package {package!r} is not installed", "run `make setup`")
    for location in spec.submodule_search_locations:
        root = Path(location).resolve()
        path = (root / inside).resolve()
        if path.is_relative_to(root) and path.is_file():
            return path
    raise InputError(address, f"the installed package {package!r} has no such file")


def hub_path(address: str) -> Path:
    """What ``hub://<owner>/<name>@<revision>/<path>`` names in a dataset on the hub, in the hub's own cache.

    A path that ends in ``/`` is a folder with all that is in it, such as a configuration's; else it is a file. The
    hub's client goes on where a download broke off.

    Raises:
        Unavailable: the hub cannot be reached, or has no such set, revision, file or folder.
        InputError: the address has not this form.
    """
    match = HUB_ADDRESS.fullmatch(address)
    if match is None or ".." in match["path"].split("/"):
        raise InputError(
            address, "not an address on the hub", f"write {HUB}owner/name@REVISION/path, best a commit's hash"
        )
    import huggingface_hub

    name, revision = match["name"], match["revision"]
    try:
        if match["path"].endswith("/"):
            everything = huggingface_hub.snapshot_download(
                name, repo_type="dataset", revision=revision, allow_patterns=f"{match['path']}*"
            )
            path = Path(everything) / match["path"]
            if not path.is_dir():
                raise FileNotFoundError("it has no such folder")
            return path
        return Path(
            huggingface_hub.hf_hub_download(name, match["path"], repo_type="dataset", revision=revision)
        )
    except Exception as error:  # those of the hub's HTTP client too, whichever it is in that release
        words = str(error).strip().splitlines() or [type(error).__name__]
        raise UnavailableSource(
            address,
            f"cannot be had from the hub ({words[0]})",
            "check the network, or give a local copy's path",
        ) from error


def tree_sha256(path: Path) -> str:
    """The SHA-256 of a file, or of a folder's sorted lines ``<sha256>  <relative name>``."""
    if path.is_file():
        return sha256(path)
    digest = hashlib.sha256()
    for inner in files_below(path):
        digest.update(f"{sha256(inner)}  {inner.relative_to(path).as_posix()}\n".encode())
    return digest.hexdigest()


def _copy(path: Path, target: Path) -> None:
    if path.is_file():
        shutil.copyfile(path, target)
    elif path.is_dir():
        try:
            shutil.copytree(path, target, copy_function=shutil.copyfile)
        except (shutil.Error, shutil.SpecialFileError) as error:  # links to nowhere or in circles, pipes
            first = error.args[0][0][2] if isinstance(error.args[0], list) else error
            raise InputError(
                path, f"cannot be copied ({first})", "take what is no file out of the folder"
            ) from error
    else:
        raise UnavailableSource(path, "no such file or folder", "paths start at data.root of params.yaml")


# ---------------------------------------------------------------------- downloads that go on where they broke off

BLOCK = 1 << 20
TIMEOUT_SECONDS = 30
#: Answers in a row that may break off without a byte more than before; and the pause before another is asked for.
TRIES = 3
PAUSE_SECONDS = 2.0
#: Bytes that a download may have; the largest dump of Wikipedia's articles has a quarter.
LARGEST = 100 << 30


class UnavailableSource(InputError):
    """A source that is not there, or cannot be reached from here: nothing is wrong with the settings themselves."""


class _BrokenDownload(UnavailableSource):
    """An answer that did not come to its end."""


def _download(url: str, target: Path, wanted: str | None) -> None:
    """Put what an address answers at `target`.

    An answer that breaks off is asked for again from there on (HTTP's Range). If it stays so, the part remains as
    ``.unfinished-download-<hash of the address>`` beside the folder of `target`, and the next call goes on with it.
    A server that knows no ranges, or has another file now, begins again.

    Args:
        wanted: the SHA-256; where parts that were put together have another, all is fetched once more. None: any.

    Raises:
        Unavailable: nobody answers, or not to the end.
        InputError: the answer is larger than `LARGEST`.
    """
    mark = hashlib.sha256(url.encode()).hexdigest()[:16]
    partial = target.parent.with_name(f"{TEMPORARY}download-{mark}")
    try:
        put_together = _complete(url, partial)
        if put_together and wanted is not None and sha256(partial) != wanted:
            partial.unlink()
            _complete(url, partial)
    except InputError:
        if partial.exists() and not partial.stat().st_size:
            partial.unlink()
        raise
    partial.replace(target)


def _complete(url: str, partial: Path) -> bool:
    """Fetch all that is missing; whether it was more than one answer that gave it."""
    answers = idle = 0
    while True:
        begun = partial.stat().st_size if partial.exists() else 0
        try:
            _append(url, partial)
        except _BrokenDownload:
            idle = 0 if partial.stat().st_size > begun else idle + 1
            if idle == TRIES:
                raise
            time.sleep(PAUSE_SECONDS)
            answers += 1
        else:
            return begun > 0 or answers > 0


def _append(url: str, partial: Path) -> None:
    with open(partial, "ab") as file:
        size = file.tell()
        for place, block in _blocks(url, size):
            if place < size:
                file.truncate(place)
            file.write(block)
            size = place + len(block)
            if size > LARGEST:
                partial.unlink()
                raise InputError(url, f"answers with more than {LARGEST >> 30} GiB", "check the address")


def _blocks(url: str, start: int) -> Iterator[tuple[int, bytes]]:
    """What an address answers from byte `start` on, each block with its place; from 0 where it knows no ranges.

    What is wrong with the answer is no error of the file that it goes to.
    """
    answered = False
    try:
        request = urllib.request.Request(url, headers={"Range": f"bytes={start}-"} if start else {})  # noqa: S310
        # http and https only, see fetch
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310  # nosec B310
            answered = True
            done = start if _goes_on(answer, start) else 0
            size = answer.headers.get("Content-Length") or ""
            known = done + int(size) if size.isascii() and size.isdigit() and len(size) < 18 else None
            with bar(f"downloading {url.rsplit('/', 1)[-1]} (MB)", known / 1e6 if known else None) as shown:
                shown.advance(done / 1e6)
                while block := answer.read(BLOCK):
                    yield done, block
                    done += len(block)
                    shown.advance(len(block) / 1e6)
    # ValueError: the address cannot be written into a request
    except (OSError, http.client.HTTPException, ValueError) as error:
        if (
            isinstance(error, urllib.error.HTTPError)
            and error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE
        ):
            if not start:
                raise UnavailableSource(url, "cannot be downloaded (416)", "check the address") from error
            if _total(error.headers) != start:  # else nothing is missing
                yield from _blocks(url, 0)
            return
        reason = getattr(error, "reason", None) or error
        if isinstance(error, urllib.error.HTTPError):
            reason = f"{error.code} {reason}"
        kind = _BrokenDownload if answered else UnavailableSource
        raise kind(url, f"cannot be downloaded ({reason})", "check the address and the network") from error
    if known is not None and done < known:
        raise _BrokenDownload(url, f"ends after {done:,} of {known:,} bytes", "try again")


def _goes_on(answer: Any, start: int) -> bool:
    """Whether an answer is the part that was asked for."""
    if answer.status != http.client.PARTIAL_CONTENT:
        return False
    begins = (answer.headers.get("Content-Range") or "").startswith(f"bytes {start}-")
    if not begins:
        raise http.client.HTTPException("another range than the one that was asked for")
    return True


def _total(headers: Message) -> int | None:
    """The size of the whole file, as an answer says that has no part of it."""
    size = (headers.get("Content-Range") or "").rpartition("/")[2]
    return int(size) if size.isascii() and size.isdigit() else None
