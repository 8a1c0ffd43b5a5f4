"""The docker-compose example: what can be known of it without Docker."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest

from quartet.config.loading import read_yaml
from tests.imports import ROOT
from tests.teams.compose import FILE, FOLDER, services

PAGE = (ROOT / "docs" / "teams.md").read_text(encoding="utf-8")


def images() -> Iterator[str]:
    """Every image, of services and of what is built."""
    for service in services().values():
        if "image" in service:
            yield service["image"]
        else:
            yield from re.findall(r"^FROM (\S+)$", service["build"]["dockerfile_inline"], re.MULTILINE)


def test_every_image_is_pinned() -> None:
    found = list(images())
    assert len(found) == len(services())
    for image in found:
        _, _, tag = image.rpartition(":")
        assert re.search(r"\d{4}-\d\d-\d\d|\d+\.\d+", tag), image


def test_ports_answer_on_this_machine_alone() -> None:
    ports = [port for service in services().values() for port in service.get("ports", [])]
    assert ports and all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in ports)


def test_secrets_are_in_a_file_that_git_ignores_and_every_one_is_asked_for() -> None:
    text = FILE.read_text(encoding="utf-8")
    asked = set(re.findall(r"\$\{(\w+)", text))
    example = dict(
        line.split("=", 1)
        for line in (FOLDER / "example.env").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    )
    assert asked == set(example)
    assert asked == set(re.findall(r"\$\{(\w+):\?", text)), "Compose stops where one is missing"
    assert not any(example[name] for name in asked if name.endswith("PASSWORD"))
    assert "/.env" in (FOLDER / ".gitignore").read_text(encoding="utf-8").split()


def test_services_wait_for_services_that_say_when_they_are_ready() -> None:
    found = services()
    for service in found.values():
        for name, how in service.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert "healthcheck" in found[name]
            else:
                assert how["condition"] == "service_completed_successfully"
                assert "restart" not in found[name], f"{name} never completes"
    named = {volume.split(":")[0] for service in found.values() for volume in service.get("volumes", [])}
    assert named == set(read_yaml(FILE)["volumes"])


def test_the_server_is_the_mlflow_that_everybody_has() -> None:
    """requirements.txt pins it; what it lacks is pinned where it is asked for."""
    (words,) = [
        shlex.split(line)
        for line in services()["mlflow"]["build"]["dockerfile_inline"].splitlines()
        if " pip install " in line
    ]
    assert words[words.index("--constraint") + 1] == "/requirements.txt"
    pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    packages = words[words.index("/requirements.txt") + 1 :]
    for package in packages:
        assert "==" in package or re.search(rf"^{package}==", pinned, re.MULTILINE), package


def test_the_buckets_are_those_that_are_used() -> None:
    found = services()
    made = {word.removeprefix("store/") for word in found["buckets"]["command"] if word.startswith("store/")}
    used = {found["mlflow"]["environment"]["MLFLOW_ARTIFACTS_DESTINATION"].removeprefix("s3://")}
    used |= set(re.findall(r"s3://(\w+)", PAGE))
    assert made == used


@pytest.mark.parametrize("line", re.findall(r"^docker compose .*$", PAGE, re.MULTILINE))
def test_the_pages_commands_of_docker_name_what_is_there(line: str) -> None:
    words = shlex.split(line)
    assert (ROOT / words[words.index("--file") + 1]).samefile(FILE)
    if "run" in words:
        assert words[words.index("--rm") + 1] in services()
