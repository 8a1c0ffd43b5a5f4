"""What the local sources of params.yaml hold: a line with the digest of each, which stages depend on.

A source may be an address, which DVC cannot follow, so it is a setting and no dependency. The stage `settings` runs in
every ``dvc repro``, looks at the sources that are local, and writes their lines beside the settings. Thus an edit in
place runs what reads the source. N-best lists, audio and parallel text are always local: these DVC follows itself.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from pipeline.params import Params
from quartet.config.text import Source
from quartet.errors import InputError
from quartet.files import files_below, read_json, sha256, write_json
from quartet.hugging_face import model_files, tokenizer_files
from quartet.model_folders import scorer_files

#: By section of params.yaml and entry the lines of its sources: digest, one space, and the source in the form of an
#: address, without another space. DVC folds long lines at spaces, and would read two of them as one.
Content = dict[str, dict[str, list[str]]]
#: A path with its size, the times of its last changes, and its SHA-256.
Known = dict[str, list[int | str]]
#: Where these are kept, so that a file is read again only where size or times differ.
KNOWN = Path("artifacts/digests.json")
#: Seconds in which a file can change twice without another time.
TICK = 2.0


def content(params: Params, before: Content, known: Known) -> Content:
    """The lines of all sources that are local, or were.

    Args:
        before: those of the last time. A source that is not on this machine keeps its line, so that whoever has only
            DVC's artifacts has nothing to run.
        known: digests of files; new ones are added.
    """
    found: Content = {"tasks": {}}  # a stage reads it as a whole, whatever there is
    for section, name, source, promised, files in _sources(params):
        lines = found.setdefault(section, {}).setdefault(name, [])
        if source is None:
            continue
        place = Path(source) if section in HUB else Path(params.data.root) / source
        if place.exists():
            lines.append(f"{promised or _digest(place, files(place), known)} {quote(source)}")
        else:
            old = before.get(section, {}).get(name, [])
            lines += [line for line in old if line.partition(" ")[2] == quote(source)]
    return found


#: The sections whose sources are folders of models, or names on the hub; others start at ``data.root``.
HUB = ("tokenizers", "models", "pretrained", "recognisers")


def _sources(
    params: Params,
) -> Iterator[tuple[str, str, str | None, str | None, Callable[[Path], list[Path]]]]:
    """Yield section, name, path, promised SHA-256 and what lists the files of each source; no path for an address."""
    fetched: list[tuple[str, Mapping[str, Source]]] = [
        ("corpora", params.corpora),
        ("vectors", params.vectors),
    ]
    for section, entries in fetched:
        for name, one in entries.items():
            yield section, name, _local(one.source), one.sha256, _all
    for name, task in params.tasks.items():
        for one in task.files.values():
            yield "tasks", name, _local(one.source), one.sha256, _all
    for name, tokenizer in params.tokenizers.items():
        yield "tokenizers", name, tokenizer.source, None, tokenizer_files
    for name, model in params.models.items():
        yield "models", name, model.init_from, None, model_files
    for name, pretrained in params.pretrained.items():
        yield "pretrained", name, pretrained.source, None, scorer_files
    for name, recogniser in params.recognisers.items():
        yield "recognisers", name, recogniser.source, None, _all


def _local(source: str) -> str | None:
    return None if "://" in source else source


def _all(place: Path) -> list[Path]:
    return files_below(place) if place.is_dir() else [place]


def _digest(place: Path, files: list[Path], known: Known) -> str:
    """SHA-256 of a file, or over the names and SHA-256s of a folder's files."""
    if place.is_file():
        return _sha256(place, known)
    lines = (f"{_sha256(path, known)}  {path.relative_to(place).as_posix()}\n" for path in files)
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _sha256(path: Path, known: Known) -> str:
    facts = path.stat()
    state: list[int | str] = [facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns]
    old = known.get(str(path))
    if old is not None and old[:-1] == state:
        return str(old[-1])
    found = sha256(path)
    if time.time() - facts.st_ctime > TICK:  # else it may be another soon, of the same size and times
        known[str(path)] = [*state, found]
    return found


def read_known() -> Known:
    """The digests of files that were read before; none where they are not kept, or the file is damaged."""
    try:
        found: Known = read_json(KNOWN)
    except InputError:
        return {}
    return found


def write_known(known: Known) -> None:
    """Keep the digests of the files that are still there."""
    write_json(KNOWN, {path: one for path, one in known.items() if Path(path).is_file()})
