"""What an experiment came to, as one file: write it before a change that must change nothing, check it after.

    python -m tests.reference_pack write FILE [--experiment sample] [--root .] [--tracking-uri sqlite:///mlflow.db]
    python -m tests.reference_pack check FILE [the same]

A pack holds the SHA-256 of each file that equal code makes equal to the byte, and with `--tracking-uri` every run that
MLflow knows of the experiment. `check` prints what differs and ends with code 1 where anything does.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from quartet.errors import USER_ERROR, InputError
from quartet.files import read_json, sha256, write_json

#: Folders of artifacts/<experiment> whose files hold no duration and no id.
FOLDERS = (
    *("segments", "tokenizers", "encoded", "models"),
    *("rows", "curves", "losses", "rescored", "combined", "predictions", "glue", "attention"),
)
#: Not made by a stage.
IGNORED = frozenset({".gitignore"})
#: The place of what differs from run to run.
BLANK = "*"
#: Tags that hold an id, a time, or where and from which commit a run was started.
PASSING_TAGS = frozenset(
    {
        "process",
        "repro",
        "commit",
        "clone",
        "mlflow.parentRunId",
        "mlflow.source.git.commit",
        "mlflow.user",
        "restored",
    }
)
#: The first part of the names of metrics that are durations, or are made of them.
PASSING_METRICS = frozenset(
    {
        *("seconds", "runtime", "devices", "tokens-per-second", "flops-per-second", "peak-flops-per-second"),
        *("flops-utilisation", "batch-making", "padding"),
    }
)
#: A date, a time or an id of MLflow's within a text.
PASSING_TEXT = re.compile(r"\d{4}-\d{2}-\d{2}|\d{2}:\d{2}:\d{2}|\bm-[0-9a-f]{32}\b|\b[0-9a-f]{32}\b")


def hashes(root: Path, experiment: str) -> dict[str, str]:
    """The SHA-256 of each file of an experiment by its path below `root`.

    Raises:
        InputError: nothing was run.
    """
    artifacts = root / "artifacts" / experiment
    if not artifacts.is_dir():
        raise InputError(artifacts, "no such folder", "run dvc repro, or name another --experiment")
    results = root / "reports" / experiment / "results.jsonl"
    files = [path for name in FOLDERS for path in (artifacts / name).rglob("*") if path.is_file()]
    return {
        path.relative_to(root).as_posix(): sha256(path)
        for path in sorted([*files, *([results] if results.is_file() else [])])
        if path.name not in IGNORED
    }


def runs(uri: str, experiment: str) -> list[str]:
    """Each tag, parameter and metric of each run of an experiment as a line, sorted; ids and times are blanked.

    Raises:
        InputError: there is no such database, or the experiment is not in it.
    """
    local = uri.removeprefix("sqlite:///").partition("?")[0]
    if uri.startswith("sqlite:///") and not Path(local).is_file():
        raise InputError(local, "no such file", "name another --tracking-uri")
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    found = client.get_experiment_by_name(experiment)
    if found is None:
        raise InputError(uri, f"has no experiment {experiment}", "name another --experiment")
    lines: list[str] = []
    token: str | None = None
    while True:
        page = client.search_runs([found.experiment_id], max_results=1000, page_token=token)
        for run in page:
            lines += lines_of_run(run.info.run_name or "", run.info.status, run.data)
        token = page.token
        if not token:
            return sorted(lines)


def lines_of_run(name: str, status: str, data: Any) -> Iterator[str]:
    """Yield the lines of one run.

    Args:
        data: with the mappings `tags`, `params` and `metrics`.
    """
    name = PASSING_TEXT.sub(BLANK, name)
    yield f"{name} | status | {status}"
    for key, told in data.tags.items():
        value = told.replace(data.tags.get("clone", BLANK), BLANK)
        yield f"{name} | tag | {key} | {BLANK if key in PASSING_TAGS else PASSING_TEXT.sub(BLANK, value)}"
    for key, value in data.params.items():
        yield f"{name} | param | {key} | {value}"
    for key, value in data.metrics.items():
        yield f"{name} | metric | {key} | {BLANK if key.partition('/')[0] in PASSING_METRICS else repr(value)}"


def pack(root: Path, experiment: str, uri: str | None) -> dict[str, Any]:
    """All of it."""
    return {
        "experiment": experiment,
        "files": hashes(root, experiment),
        "runs": None if uri is None else runs(uri, experiment),
    }


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """A line for each file that changed, is gone or is new, then for each line of a run that is gone or new.

    Raises:
        InputError: the packs are of two experiments, or only one of them has MLflow's runs.
    """
    if before["experiment"] != now["experiment"]:
        reason = f"the pack is of the experiment {before['experiment']}"
        raise InputError("--experiment", reason, f"give --experiment {before['experiment']}")
    if (before["runs"] is None) != (now["runs"] is None):
        has, remedy = ("no runs", "leave it out") if before["runs"] is None else ("runs", "give it too")
        raise InputError("--tracking-uri", f"the pack has {has} of MLflow", remedy)
    old, new = before["files"], now["files"]
    found = []
    for path in sorted({*old, *new}):
        if old.get(path) != new.get(path):
            found.append(f"{'new' if path not in old else 'gone' if path not in new else 'changed'}: {path}")
    left = list(now["runs"] or [])
    for line in before["runs"] or []:
        if line in left:
            left.remove(line)
        else:
            found.append(f"gone from MLflow: {line}")
    return [*found, *(f"new in MLflow: {line}" for line in left)]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.reference_pack", description=__doc__)
    parser.add_argument("action", choices=("write", "check"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--experiment", default="sample")
    parser.add_argument("--root", type=Path, default=Path())
    parser.add_argument("--tracking-uri", default=None)
    given = parser.parse_args(arguments)
    try:
        if given.action == "check":
            before = read_json(given.file)
        now = pack(given.root, given.experiment, given.tracking_uri)
        if given.action == "write":
            write_json(given.file, now)
            print(f"{len(now['files'])} files, {len(now['runs'] or [])} lines of runs -> {given.file}")
            return 0
        found = differences(before, now)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return USER_ERROR
    for line in found:
        print(line)
    print(f"{len(found)} differences, {len(now['files'])} files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
