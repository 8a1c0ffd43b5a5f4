"""What only a late stage would refuse is refused by the first one, without torch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.early_checks import check_device, check_files
from pipeline.layout import MANIFEST, Layout
from pipeline.settings import read_params
from quartet.errors import InputError
from quartet.files import write_json
from quartet.training.trainer import set_precision
from tests.imports import ROOT

TEXTS = "".join(f"__label__{label} a text\n" for label in ("pos", "neg", "pos") * 3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the settings of the preset tiny alone."""
    (tmp_path / "params.yaml").write_bytes((ROOT / "presets" / "tiny.yaml").read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def edit(old: str, new: str) -> None:
    path = Path("params.yaml")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))


def with_pretrained(source: str) -> None:
    edit("pretrained: {}", f"pretrained: {{books: {{source: '{source}'}}}}")


@pytest.mark.parametrize(
    ("old", "new", "key", "remedy"),
    [
        ("threads: 1", "threads: 100000", "threads", "number of cores"),
        ("workers: 0", "workers: 100000", "workers", "number of cores"),
        ("language: english", "language: englsh", "corpora.wikipedia-sample.language", "'english'"),
        ("  glue: [tta]", "  glue: [tta, segatron-xl]", "evaluate.glue", "take it out"),
        ("  squad: [tta]", "  squad: [segatron-xl]", "evaluate.squad", "take it out"),
        ("  race: [tta]", "  race: [tta, segatron-xl]", "evaluate.race", "take it out"),
        ("  pooling: mean", "  pooling: mean\n  max_length: 65", "glue.max_length", "write 0"),
    ],
)
def test_what_params_yaml_shows_by_itself(folder: Path, old: str, new: str, key: str, remedy: str) -> None:
    if old not in Path("params.yaml").read_text():
        edit("threads: 1", f"threads: 1\n{old}")
    read_params()
    edit(old, new)
    with pytest.raises(InputError) as refused:
        read_params()
    assert refused.value.place == f"params.yaml: {key}"
    assert remedy in refused.value.remedy


PRECISION = "steps: 30, batch_size: 8", "steps: 30, precision: {}, batch_size: 8"


def without_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)


def with_precision(precision: str, device: str) -> None:
    edit(PRECISION[0], PRECISION[1].format(precision))
    edit("device: cpu", f"device: {device}")


@pytest.mark.parametrize("precision", ["fp32", "tf32", "bf16", "fp16"])
def test_a_precision_is_refused_where_its_training_would_refuse_it(
    precision: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_precision(precision, "cpu")
    try:
        set_precision(precision, "cpu")
    except InputError:
        with pytest.raises(InputError) as refused:
            check_device(read_params(), "params.yaml")
        assert refused.value.place == "params.yaml: models.tta.training.precision"
        assert "bf16 or fp32" in refused.value.remedy
    else:
        check_device(read_params(), "params.yaml")


def test_a_gpu_is_asked_for_where_there_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_gpu(monkeypatch)
    edit("device: cpu", "device: cuda")
    with pytest.raises(InputError, match=r"params\.yaml: device"):
        check_device(read_params(), "params.yaml")
    edit("device: cuda", "trainer: {devices: 2, launch: srun}\ndevice: cuda")
    check_device(read_params(), "params.yaml")


def test_what_another_machine_trains_is_prepared_with_a_warning(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_gpu(monkeypatch)
    with_precision("fp16", "auto")
    check_device(read_params(), "params.yaml")
    assert "models.tta.training.precision: fp16 needs a GPU" in capsys.readouterr().err
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    check_device(read_params(), "params.yaml")
    assert not capsys.readouterr().err


def test_no_file_of_a_set_takes_the_place_of_its_manifest(folder: Path) -> None:
    files = "{manifest: {source: a.tsv, sha256: null}}"
    edit("tasks:\n", f"tasks:\n  year: {{kind: sts, format: semeval, license: none, files: {files}}}\n")
    read_params()
    edit("a.tsv", "a.json")
    with pytest.raises(InputError) as refused:
        read_params()
    assert refused.value.place == "params.yaml: tasks.year.files.manifest"


def test_the_remedy_for_a_language_without_a_model_is_one_that_works(folder: Path) -> None:
    edit("language: english", "language: klingon")
    with pytest.raises(InputError) as refused:
        read_params()
    remedy = refused.value.remedy.split(";")[0].removeprefix("write ")
    edit("segmentation: {punkt: published, curated: true}", "segmentation: {punkt: trained}")
    with pytest.raises(InputError, match="curated: false"):
        read_params()
    edit("segmentation: {punkt: trained}", remedy)
    assert read_params().segmentation.punkt == "trained"


def test_a_pretrained_source_that_can_be_no_model(folder: Path) -> None:
    with_pretrained("given")

    def refused() -> InputError:
        with pytest.raises(InputError) as found:
            check_files(read_params(), "params.yaml")
        assert found.value.place == "params.yaml: pretrained.books.source"
        return found.value

    assert "no such folder" in refused().reason
    given = folder / "given"
    given.mkdir()
    assert "config.json" in refused().reason
    write_json(given / "config.json", {"model_type": "bert", "architectures": ["BertForMaskedLM"]})
    assert "model.safetensors" in refused().reason
    (given / "model.safetensors").touch()
    assert "vocabulary" in refused().reason
    (given / "vocab.txt").touch()
    check_files(read_params(), "params.yaml")
    write_json(given / "config.json", {"model_type": "t5", "is_encoder_decoder": True})
    assert "neither a causal nor a masked" in refused().reason


def test_a_pretrained_source_that_may_be_a_model(folder: Path) -> None:
    with_pretrained("owner/name@abc")
    check_files(read_params(), "params.yaml")
    edit("owner/name@abc", "elsewhere/name")
    write_json(Layout("tiny").pretrained("books") / MANIFEST, {"source": "elsewhere/name"})
    check_files(read_params(), "params.yaml")
    edit("elsewhere/name", "elsewhere/other")
    with pytest.raises(InputError, match="no such folder"):
        check_files(read_params(), "params.yaml")
    edit("elsewhere/other", str(ROOT / "weights" / "tta-books"))
    check_files(read_params(), "params.yaml")


def test_a_model_starts_from_a_model(folder: Path) -> None:
    edit("    objective: lae\n", "    objective: lae\n    init_from: nowhere\n    head: transform\n")
    with pytest.raises(InputError) as refused:
        check_files(read_params(), "params.yaml")
    assert refused.value.place == "params.yaml: models.tta.init_from"


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("nli: {sets: [snli]", "nli: {sets: [smli]", "nli.sets"),
        (
            "  tasks: {}",
            "  tasks: {rtee: {batch_size: [8], learning_rate: [1e-3], epochs: [1]}}",
            "glue.tasks",
        ),
    ],
)
def test_settings_of_a_set_that_is_none(folder: Path, old: str, new: str, key: str) -> None:
    """A grid for a misspelt set would be read by nobody."""
    edit(old, new)
    with pytest.raises(InputError, match="unknown task of kind") as refused:
        read_params()
    assert refused.value.place == f"params.yaml: {key}"
    assert "'rte'" in refused.value.remedy or "'snli'" in refused.value.remedy


def test_folds_that_a_label_is_too_rare_for(folder: Path) -> None:
    texts = folder / "texts.txt"
    texts.write_text(TEXTS)
    edit(
        "tasks:\n",
        "tasks:\n  small:\n    kind: classification\n    license: none\n"
        "    files: {texts: {source: texts.txt, sha256: null}}\n",
    )
    edit("folds: 2", "folds: 3")
    check_files(read_params(), "params.yaml")
    edit("folds: 3", "folds: 4")
    with pytest.raises(InputError) as refused:
        check_files(read_params(), "params.yaml")
    assert (refused.value.place, refused.value.remedy) == ("params.yaml: finetune.folds", "write 2 to 3")
    texts.unlink()
    check_files(read_params(), "params.yaml")


def test_nothing_heavy_is_imported(folder: Path) -> None:
    with_pretrained(str(ROOT / "weights" / "tta-books"))
    program = (
        "import sys; from pipeline.early_checks import check_device, check_files;"
        "from pipeline.settings import read_params;"
        "check_device(read_params(), 'params.yaml'); check_files(read_params(), 'params.yaml');"
        "print([name for name in ('torch', 'transformers', 'nltk', 'huggingface_hub') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert (run.stdout, run.stderr) == ("[]\n", "")
