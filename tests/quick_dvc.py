"""DVC for tests whose stages take little time: all that it does, in less of it.

    python -P tests/quick_dvc.py COMMAND ...

is a command of DVC that reads and writes its files by libyaml. DVC has a parser in Python, which after each stage reads
dvc.lock to keep its comments: where stages take no time, that is four fifths of a `dvc repro`. :class:`Running` is such
a command too, in a process that has imported DVC already. What the files say is the same, and so is all else.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import yaml

#: What `dvc status` says where nothing is left to do but what always runs, as `settings` in dvc.yaml does.
UP_TO_DATE = "settings:\n\talways changed"
ALWAYS = frozenset({"settings"})
COMMAND = (sys.executable, "-P", __file__)


def put_first_in_path(folder: Path) -> str:
    """Make a program `dvc` in a folder; returns the PATH of a shell that finds this one, and then the environment's."""
    folder.mkdir()
    program = folder / "dvc"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]])


class Loader(yaml.CSafeLoader):  # type: ignore[misc]
    """Of YAML 1.2, as DVC has it, where PyYAML has 1.1; what the two might yet take differently is an error."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, Any]]] = {}  # noqa: RUF012 - PyYAML's own place for it

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """A key that comes twice is the last one for PyYAML, and a mistake for DVC."""
        pairs = len(node.value)
        found: dict[Hashable, Any] = super().construct_mapping(node, deep)
        if len(found) != pairs:
            raise yaml.constructor.ConstructorError(problem="a key comes twice, or is merged")
        return found

    def construct_int(self, node: yaml.ScalarNode) -> int:
        """Without the numbers that begin with 0: octal in 1.1."""
        try:
            return int(self.construct_scalar(node), 0)
        except ValueError as error:
            raise yaml.constructor.ConstructorError(problem=str(error)) from None


Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_int)


class Dumper(yaml.CSafeDumper):  # type: ignore[misc]
    """Of mappings and texts of any class, each in full; texts that YAML 1.2 takes for something else are quoted."""

    yaml_implicit_resolvers = Loader.yaml_implicit_resolvers

    def ignore_aliases(self, _: object) -> bool:
        return True


Dumper.add_multi_representer(dict, lambda dumper, data: dumper.represent_dict(data.items()))
Dumper.add_multi_representer(list, lambda dumper, data: dumper.represent_list(data))
Dumper.add_multi_representer(str, lambda dumper, data: dumper.represent_str(str(data)))


def as_dvc_has_it() -> None:
    """Let both tell numbers and truth values as the parser of DVC does."""
    from ruamel.yaml.resolver import implicit_resolvers

    Loader.yaml_implicit_resolvers.clear()
    for versions, tag, pattern, first in implicit_resolvers:
        for letter in first if (1, 2) in versions else ():
            Loader.yaml_implicit_resolvers.setdefault(letter, []).append((tag, pattern))


def _parsed(path: str, fs: Any) -> Any:
    """What a lock file says; None where there is none, or a broken one, of which DVC itself says what is wrong."""
    try:
        with fs.open(path, encoding="utf-8") as file:
            return yaml.load(file.read(), Loader)
    except (FileNotFoundError, yaml.YAMLError):
        return None


def install() -> None:
    """Let DVC read all its files, and write its lock files, by libyaml in this process."""
    from dvc import dvcfile
    from dvc.utils import strictyaml
    from dvc.utils.serialize import _yaml

    modify, load, parse = dvcfile.modify_yaml, dvcfile.Lockfile._load_yaml, _yaml.parse_yaml
    as_dvc_has_it()

    def parsed(text: str, path: str, typ: str = "safe") -> Any:
        if typ == "safe":
            try:
                return yaml.load(text, Loader) or {}
            except yaml.YAMLError:
                pass  # DVC itself says what is wrong
        return parse(text, path, typ)

    @contextmanager
    def modified(path: str, fs: Any) -> Iterator[Any]:
        data = _parsed(path, fs) if dvcfile.is_lock_file(path) else None
        if data is None:
            with modify(path, fs=fs) as data:
                yield data
            return
        yield data
        with fs.open(path, "w", encoding="utf-8") as file:
            yaml.dump(data, file, Dumper, sort_keys=False, allow_unicode=True)

    def loaded(lock: Any, **options: Any) -> tuple[Any, str]:
        data = None if options else _parsed(lock.path, lock.repo.fs)
        if data is None:
            found: tuple[Any, str] = load(lock, **options)
            return found
        lock.validate(data, lock.relpath)
        return data, ""

    dvcfile.modify_yaml, dvcfile.Lockfile._load_yaml = modified, loaded
    _yaml.parse_yaml = strictyaml.parse_yaml = parsed


def run(*arguments: str) -> int:
    """A command of DVC in this process; returns its code."""
    from dvc.cli import main

    code: int = main(list(arguments))
    return code


def write_paths(path: str) -> None:
    """Write what each stage of the working folder reads and writes: {stage: {"deps": paths, "outs": paths}} as JSON."""
    from dvc.repo import Repo

    with Repo(".") as repo:
        paths = {
            stage.name: {kind: [one.def_path for one in getattr(stage, kind)] for kind in ("deps", "outs")}
            for stage in repo.index.stages
        }
    Path(path).write_text(json.dumps(paths), encoding="utf-8")


def write_planned(path: str) -> None:
    """Write what the code of the working folder plans: [[stage, outcome], ...] as JSON."""
    sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("pipeline", "quartet")]:
        del sys.modules[name]  # of this checkout
    from pipeline.changes import changes

    assert Path(changes.__code__.co_filename).is_relative_to(Path.cwd())
    Path(path).write_text(json.dumps([(one.stage, one.outcome) for one in changes()]), encoding="utf-8")


class Running:
    """A function of this module in a process of its own, a fork of one that has imported DVC: that takes 0.5 s.

    Args:
        work: the function; its result is the code of the process.
        arguments: its arguments.
        folder: where it works.
        environment: all of its environment; None: that of this process.
    """

    def __init__(
        self,
        work: Callable[..., int | None],
        *arguments: str,
        folder: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        descriptor, self._said = tempfile.mkstemp(prefix="dvc-", suffix=".txt")
        os.close(descriptor)
        own = dict(os.environ if environment is None else environment)
        self._process = _server().Process(target=_work, args=(work, arguments, str(folder), own, self._said))
        self._process.start()

    def poll(self) -> int | None:
        """Its code; None while it runs."""
        return self._process.exitcode

    def said(self) -> str:
        """Wait for its end; all that it and what it started have said on both streams."""
        self._process.join()
        path = Path(self._said)
        text = path.read_text(encoding="utf-8")
        path.unlink()
        return text


def said(
    *arguments: str, folder: Path, environment: Mapping[str, str] | None = None, fails: bool = False
) -> str:
    """All that a command of DVC says; it must not fail, or it must."""
    running = Running(run, *arguments, folder=folder, environment=environment)
    text = running.said()
    assert bool(running.poll()) == fails, text
    return text


def paths(folder: Path) -> dict[str, dict[str, list[str]]]:
    """{stage: {"deps": what it reads, "outs": what it writes}} of a repository."""
    found: dict[str, dict[str, list[str]]] = _written(write_paths, folder, None)
    return found


def planned(folder: Path, environment: Mapping[str, str]) -> list[list[str]]:
    """What `pipeline.changes` says of a repository, by its own code: stages, each with its outcome."""
    found: list[list[str]] = _written(write_planned, folder, environment)
    return found


def _written(work: Callable[[str], None], folder: Path, environment: Mapping[str, str] | None) -> Any:
    """The JSON that a function writes."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        running = Running(work, file.name, folder=folder, environment=environment)
        text = running.said()
        assert running.poll() == 0, text
        return json.loads(Path(file.name).read_bytes())


def _server() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["dvc.cli.parser", "dvc.repo.index", "dvc.repo.reproduce", "networkx"])
    return context


def _work(
    work: Callable[..., int | None],
    arguments: tuple[str, ...],
    folder: str,
    environment: dict[str, str],
    said: str,
) -> None:
    output = os.open(said, os.O_WRONLY | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.close(output)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    install()
    sys.exit(work(*arguments))


if __name__ == "__main__":
    install()
    sys.exit(run(*sys.argv[1:]))
