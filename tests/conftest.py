"""What tests share: no test tells MLflow anything outside its own temporary folder."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

from quartet.hardware.processor import KINDS, PROCESSOR, processor_kind
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.small_corpus import encode_small

with suppress(ModuleNotFoundError):  # tests/test_gpu.py runs without it
    import dvc  # noqa: F401 - it logs for ever to the stdout of its first import, which within a test is closed later

ROOT = Path(__file__).resolve().parents[1]

#: Files that take long, the longest first: where several processes share the tests, none waits for one at the end.
LONG = (
    *("test_tiny.py", "test_dvc_runs.py", "test_docs_walk.py", "test_edits_meanwhile.py", "test_repro.py"),
    *(
        "test_determinism.py",
        "test_threads.py",
        "test_runs.py",
        "test_dry_run.py",
        "test_standard_streams.py",
    ),
    *(
        "test_kills.py",
        "test_side_by_side.py",
        "test_mlflow_server.py",
        "test_distributed.py",
        "test_overfit.py",
    ),
)

settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, the others in their order."""
    places = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONG)))


@pytest.fixture(autouse=True, scope="session")
def _same_settings_are_parsed_once() -> Iterator[None]:
    """Reading params.yaml takes 50 ms, most of it YAML, and the same few texts are read thousands of times."""
    with pytest.MonkeyPatch.context() as patch:
        with suppress(ModuleNotFoundError):
            from quartet.config import loading
            from tests.settings import Remembering

            patch.setattr(loading, "YAML", Remembering)
        yield


@pytest.fixture(autouse=True, scope="session")
def _own_mlflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """All tests write into one temporary database: making its tables takes a second."""
    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{path}")
        yield


@pytest.fixture(autouse=True)
def _one_mlflow() -> Iterator[None]:
    """MLflow keeps the address that it was last told, before the environment's: a test leaves it as it was."""
    yield
    if mlflow := sys.modules.get("mlflow"):
        mlflow.set_tracking_uri(os.environ["MLFLOW_TRACKING_URI"])


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with the settings of the preset tiny as its params.yaml.

    A stage that a test calls finds what params.yaml says then, as after `dvc repro settings`.
    """
    from pipeline import settings
    from pipeline.settings import read_params

    def written() -> bytes:
        settings.write(read_params())
        return settings.SETTINGS.read_bytes()

    shutil.copyfile(ROOT / "presets" / "tiny.yaml", tmp_path / "params.yaml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(settings, "read", written)
    written()
    return tmp_path


@pytest.fixture(scope="session")
def small_corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[TextTokenizer, dict[str, EncodedCorpus]]:
    """A tokenizer, and the splits train, valid and test of a few encoded documents."""
    return encode_small(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(params=list(KINDS))
def processor(request: pytest.FixtureRequest) -> Iterator[str]:
    """A test for each kind of processor: what Quartet chooses by the kind, with the instructions that this one has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PROCESSOR, request.param)
        processor_kind.cache_clear()
        yield request.param
    processor_kind.cache_clear()
