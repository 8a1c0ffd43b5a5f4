"""Which stages `dvc repro` would run now, and why: nothing is run, and nothing is written.

DVC runs a stage where its command, a setting, or the hash of a file that it reads or makes differs from dvc.lock. Most
stages learn of an edit by what the stages `code` and `settings` write, so `dvc repro --dry` does not see it. Here a
table holds the hash of every file. What `code`, `settings` and `tasks` will do to it is worked out; what another stage
will make is unknown, so what reads it may run.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx
from dvc.dependency import ParamsDependency
from dvc.repo import Repo
from dvc.stage import PipelineStage
from dvc.stage.cache import _get_cache_hash
from dvc.stage.serialize import to_single_stage_lockfile
from dvc_data.hashfile.build import build
from dvc_data.hashfile.hash_info import HashInfo
from dvc_data.hashfile.meta import Meta
from dvc_data.hashfile.tree import Tree
from pygtrie import StringTrie

from pipeline import code
from pipeline.early_checks import check_device, check_files
from pipeline.layout import MANIFEST, Layout, catalogues
from pipeline.removed_entries import moves
from pipeline.settings import PARAMS, SETTINGS, complete, read_params
from pipeline.stages import KINDS
from pipeline.task_sets import changed_kinds
from quartet.files import write_json

RUNS, MAY_RUN, CACHED = "runs", "may run", "cached"


@dataclass(frozen=True)
class PlannedStage:
    """A stage instance that will not be left as it is.

    Attributes:
        outcome: it runs; it may run, if a stage before it makes something else than last time; or DVC has in its cache
            what it would make.
        reasons: what differs, or for one that may run, the stages before it.
        size: bytes of its outputs last time.
    """

    stage: str
    outcome: str
    reasons: tuple[str, ...]
    size: int


@dataclass(frozen=True)
class Unknown:
    """In the place of a hash: the stage that will have made the file; `new` where it has never run before."""

    stage: str
    new: bool


class Files:
    """By path the hash of each file, as it will be after the stages that were looked at."""

    def __init__(self, repo: Repo) -> None:
        self._repo, self._hashes = repo, StringTrie(separator="/")

    def read(self, path: str, target: str) -> None:
        """Put what lies at a path, if anything, at another or the same."""
        cache, fs, ignore = self._repo.cache.local, self._repo.fs, self._repo.dvcignore
        if fs.exists(path):
            self.put(target, build(cache, path, fs, "md5", ignore=ignore, dry_run=True)[2])

    def put(self, path: str, content: Any) -> None:
        """Put an object of DVC's, an `Unknown` or nothing (None) in the place of all that was there."""
        if self._hashes.has_node(path):
            del self._hashes[path:]
        if isinstance(content, Tree):
            self._hashes[path] = Tree  # a folder, perhaps an empty one
            for key, _, hash_info in content:
                self._hashes["/".join((path, *key))] = hash_info
        elif content is not None:
            self._hashes[path] = getattr(content, "hash_info", content)

    def _below(self, path: str) -> list[tuple[str, Any]]:
        found = self._hashes.items(path) if self._hashes.has_node(path) else []
        return [(key, one) for key, one in found if one is not Tree]

    def unknown(self, path: str) -> list[Unknown]:
        """What will have made it, a part of it, or what it is a part of."""
        above = [one for _, one in self._hashes.prefixes(path)]
        all_of = dict.fromkeys([*above, *(one for _, one in self._below(path))])
        return [one for one in all_of if isinstance(one, Unknown)]

    def hash(self, path: str) -> Any:
        """As DVC has it; None where there is nothing, an `Unknown` where it is unknown."""
        if unknown := self.unknown(path):
            return unknown[0]
        if self._hashes.has_key(path) and self._hashes[path] is not Tree:
            return self._hashes[path]
        if not self._hashes.has_node(path):
            return None
        tree = Tree()
        for key, one in self._below(path):
            tree.add(tuple(key[len(path) + 1 :].split("/")), None, one)
        tree.digest()
        return tree.hash_info


def changes() -> list[PlannedStage]:
    """The stages of the working folder that will not be left as they are, in an order in which they can run.

    Raises:
        InputError: there is a mistake in params.yaml, which would end the run.
    """
    with Repo() as repo:
        return list(Forecast(repo).stages())


class Forecast:
    """The stages of a repository, looked at one after the other."""

    def __init__(self, repo: Repo) -> None:
        self._repo, self._files = repo, Files(repo)
        position = {stage: number for number, stage in enumerate(repo.index.stages)}
        graph = repo.index.graph.reverse(copy=False)
        self._stages = list(networkx.lexicographical_topological_sort(graph, key=position.get))
        paths = {_path(item) for stage in self._stages for item in (*stage.deps, *stage.outs)}
        for path in paths:
            if not any(str(above) in paths for above in Path(path).parents):
                self._files.read(path, path)
        sources = (str(SETTINGS), str(code.DIGESTS))
        self._values = {path: json.loads(Path(path).read_bytes()) for path in sources if Path(path).is_file()}

    def stages(self) -> Iterator[PlannedStage]:
        for stage in self._stages:
            before = list(dict.fromkeys(one for dep in stage.deps for one in self._files.unknown(_path(dep))))
            reasons = [*self._differences(stage), *(f"{one.stage} is new" for one in before if one.new)]
            if not reasons and not before:
                if stage.always_changed:  # what it finds may be another all the same
                    self._run(stage)
                continue
            size = sum(out.meta.size or 0 for out in stage.outs if out.meta)
            cached = None if before else self._cached(stage)
            outcome = CACHED if cached is not None else RUNS if reasons else MAY_RUN
            yield PlannedStage(stage.name, outcome, tuple(reasons or (one.stage for one in before)), size)
            if cached is None:
                self._run(stage)
            for path, content in (cached or {}).items():
                self._files.put(path, content)

    def _differences(self, stage: PipelineStage) -> Iterator[str]:
        """What differs from dvc.lock for certain."""
        if not any(item.hash_info for item in (*stage.deps, *stage.outs)):
            yield "new"
            return
        if stage.cmd_changed:
            yield "its command"
        for dep in stage.deps:
            if isinstance(dep, ParamsDependency):
                was, now = dep.hash_info.value or {}, self._settings(dep)
                for key in dep.params:
                    if was.get(key) != now[key]:
                        coded = dep.def_path == str(code.DIGESTS)
                        yield from ["its code"] if coded else differing(key, was.get(key), now[key])
            elif not isinstance(now := self._files.hash(_path(dep)), Unknown) and now != dep.hash_info:
                yield _path(dep)
        for out in stage.outs:
            if (now := self._files.hash(_path(out))) != out.hash_info:
                yield f"{_path(out)} is {'another' if now else 'missing'}"
            elif out.use_cache and out.changed_cache():
                yield f"{_path(out)} is not in DVC's cache"

    def _settings(self, dep: ParamsDependency) -> dict[str, Any]:
        """The values that a stage will find; None for one that is not there."""
        found = {}
        for key in dep.params:
            value: Any = self._values.get(dep.def_path)
            for part in key.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            found[key] = value
        return found

    def _cached(self, stage: PipelineStage) -> dict[str, Any] | None:
        """By path what DVC has of what the stage would make; None: it has to run."""
        if any(out.persist for out in stage.outs):  # DVC keeps these out of its run-cache
            return None
        kept: Any = stage
        for dep in stage.deps:
            params = isinstance(dep, ParamsDependency)
            now = HashInfo("params", self._settings(dep)) if params else self._files.hash(_path(dep))
            if now is None:
                return None
            if stage.cmd_changed or now != dep.hash_info:
                kept = None
            dep.hash_info, dep.meta = now, Meta(isexec=dep.meta.isexec)
        if kept is None:
            cache, key = (
                self._repo.stage_cache,
                _get_cache_hash(to_single_stage_lockfile(stage), key=True),
            )
            runs = sorted(Path(cache._get_cache_dir(key)).glob("*"), key=os.path.getmtime)
            if not runs:
                return None
            kept = cache._create_stage(cache._load_cache(key, runs[-1].name), wdir=stage.wdir)
        return {_path(out): out.get_obj() for out in kept.outs} if kept.outs_cached() else None

    def _run(self, stage: PipelineStage) -> None:
        """Let the table be as the stage will leave it."""
        if stage.name == "code":
            self._values[str(code.DIGESTS)] = code.digests()
        elif stage.name == "settings":
            self._run_settings()
        else:
            for path in self._new_sets(stage) if stage.name == "tasks" else map(_path, stage.outs):
                self._files.put(path, Unknown(stage.name, not any(out.hash_info for out in stage.outs)))

    def _run_settings(self) -> None:
        params = read_params(PARAMS)
        check_device(params, str(PARAMS))
        check_files(params, str(PARAMS))
        self._values[str(SETTINGS)] = json.loads(json.dumps(complete(params)))
        layout = Layout(params.experiment)
        for path, target in {
            key: one for moved in moves(params, layout) for key, one in moved.items()
        }.items():
            self._files.put(str(path), None)
            if not target.is_relative_to(layout.removed):
                self._files.read(str(path), str(target))
        with tempfile.TemporaryDirectory() as folder:
            for path, names in catalogues(params, layout).items():
                write_json(copy := Path(folder) / path.name, names)
                md5 = hashlib.md5(copy.read_bytes(), usedforsecurity=False).hexdigest()
                self._files.put(str(path), HashInfo("md5", md5))

    def _new_sets(self, stage: PipelineStage) -> list[str]:
        """What the stage `tasks` may make anew: kinds whose entries or files differ, and the manifest of all."""
        (out,) = stage.outs
        path, locked = _path(out), out.get_obj()
        section = str(SETTINGS), "tasks"
        was = {
            (dep.def_path, key): one for dep in stage.deps for key, one in (dep.hash_info.value or {}).items()
        }
        now = {(dep.def_path, key): one for dep in stage.deps for key, one in self._settings(dep).items()}
        root = Path(now[str(SETTINGS), "data.root"])
        changed = changed_kinds(was.pop(section, {}), now.pop(section), root, Path(path))
        if was != now or not isinstance(locked, Tree):
            return [path]
        for kind in KINDS:
            had = locked.get_obj(out.cache, (kind,))
            if had is None or had.hash_info != self._files.hash(f"{path}/{kind}"):
                changed.add(kind)
        if not changed and self._files.hash(path) == out.hash_info:
            return []
        return [*(f"{path}/{kind}" for kind in changed), f"{path}/{MANIFEST}"]


def _path(item: Any) -> str:
    """Of a dependency or an output."""
    return os.path.normpath(str(item.def_path))


def differing(name: str, was: Any, now: Any) -> Iterator[str]:
    """Which values of a setting differ: ``models.tta.training.steps 30 -> 31``."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in {**was, **now}:
            yield from differing(f"{name}.{key}", was.get(key), now.get(key))
    elif was != now:
        plain = not any(isinstance(one, dict | list) for one in (was, now))
        yield f"{name} {json.dumps(was)} -> {json.dumps(now)}" if plain else name
