"""Settings are complete and consistent, or one line says which key is wrong."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import is_pydantic_dataclass

import quartet.config
from pipeline.params import entry
from pipeline.settings import read_params
from quartet.config.finetuning import GridTraining
from quartet.config.model import ModelConfig
from quartet.config.text import HubConfig
from quartet.errors import InputError
from tests.committed import committed
from tests.imports import ROOT
from tests.settings import change_settings

PRESETS = Path(__file__).resolve().parents[2] / "presets"
SAMPLE = (PRESETS / "sample.yaml").read_text(encoding="utf-8")


def message(tmp_path: Path, text: str) -> str:
    """The one line that settings are refused with, without the folder."""
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_params(path)
    line = str(caught.value)
    assert "\n" not in line
    return line.replace(f"{tmp_path}/", "")


def settings_classes() -> list[Any]:
    modules = [
        importlib.import_module(f"quartet.config.{module.name}")
        for module in pkgutil.iter_modules(quartet.config.__path__)
    ]
    found = [kind for module in modules for kind in vars(module).values() if isinstance(kind, type)]
    classes = {kind for kind in found if is_pydantic_dataclass(kind)} - {GridTraining}  # derived, not read
    return sorted(classes, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", settings_classes(), ids=lambda kind: kind.__name__)
def test_settings_have_known_keys_alone_and_do_not_change(kind: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(kind).validate_python({"unheard-of": 1})
    assert "unheard-of" in [
        one["loc"][-1] for one in refused.value.errors() if one["type"] == "unexpected_keyword_argument"
    ]
    assert kind.__dataclass_params__.frozen
    assert all(field.kw_only for field in dataclasses.fields(kind))


@pytest.mark.parametrize("preset", sorted(PRESETS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_preset_is_complete_and_consistent(preset: Path) -> None:
    assert read_params(preset).experiment == preset.stem


def test_params_yaml_is_the_preset_sample(tmp_path: Path) -> None:
    ours = [committed(name).read_bytes() for name in ("params.yaml", "presets/sample.yaml")]
    assert ours[0] == ours[1]


@pytest.mark.parametrize("preset", ["sample", "tiny"])
def test_what_runs_by_default_leaves_no_result_to_the_machine(preset: str) -> None:
    params = read_params(PRESETS / f"{preset}.yaml")
    assert params.threads > 0 and params.device == "cpu"
    assert {ngram.config.estimator for ngram in params.ngrams.values()} == {"own"}


def test_a_model_entry_gives_the_model_alone_and_its_training() -> None:
    model = read_params(PRESETS / "sample.yaml").models["segatron-xl"]
    assert type(model.config) is ModelConfig
    assert model.config.recurrence.memory == 64
    assert model.config.positions == ("token", "sentence", "paragraph")
    assert model.training.learning_rate == 2e-3


def test_a_corpus_may_bring_its_splits(tmp_path: Path) -> None:
    for kind in ("wikitext", "text"):
        text = SAMPLE.replace("kind: wikipedia\n", f"kind: {kind}\n", 1)
        (tmp_path / "params.yaml").write_text(
            text.replace("split: {valid: 0.05, test: 0.1}", "split: given", 1)
        )
        assert read_params(tmp_path / "params.yaml").corpora["wikipedia-sample"].split is None


def test_a_data_set_of_the_hub_is_a_word_or_what_its_rows_are(tmp_path: Path) -> None:
    kinds = {"hub": HubConfig(), "{name: hub, rows: lines, text: line}": HubConfig(rows="lines", text="line")}
    for kind, expected in kinds.items():
        (tmp_path / "params.yaml").write_text(SAMPLE.replace("kind: wikipedia\n", f"kind: {kind}\n", 1))
        assert read_params(tmp_path / "params.yaml").corpora["wikipedia-sample"].kind == expected


def test_the_executor_is_local_or_a_cluster_with_its_address(tmp_path: Path) -> None:
    assert read_params(PRESETS / "sample.yaml").executor.scheduler is None
    path = tmp_path / "params.yaml"
    path.write_text(SAMPLE + "\nexecutor: {kind: dask, address: 'tcp://node0:8786'}\n")
    assert read_params(path).executor.scheduler == "tcp://node0:8786"
    said = message(tmp_path, SAMPLE + "\nexecutor: {kind: dask}\n")
    assert said.startswith("params.yaml: executor: kind dask needs the address of the cluster's scheduler")
    said = message(tmp_path, SAMPLE + "\nexecutor: {address: 'tcp://node0:8786'}\n")
    assert "address means nothing for kind local" in said


# (what stands in the sample, what takes its place, what is said)
MISTAKES = {
    "unknown key": (
        "layers: 2",
        "layerz: 3",
        "models.unilm.layerz: unknown key; the nearest known key is 'layers'",
    ),
    "deep unknown key": ("{steps: 2000", "{stepz: 600", "models.unilm.training.stepz: unknown key"),
    "unknown section": ("runtime:", "runtimes:", "runtimes: unknown key; the nearest known key is 'runtime'"),
    "unlike any key": ("layers: 2", "qqq: 3", "models.unilm.qqq: unknown key; the known keys are"),
    "missing key": ("    layers: 2\n", "", "models.unilm.layers: missing"),
    "text for a number": ("layers: 2", "layers: three", "models.unilm.layers"),
    "a quoted number": (
        "layers: 2",
        "layers: '3'",
        'models.unilm.layers: Input should be a valid integer, found "3"',
    ),
    "a broken number": ("layers: 2", "layers: 2.5", "models.unilm.layers"),
    "out of range": (
        "layers: 2",
        "layers: 0",
        "models.unilm.layers: Input should be greater than or equal to 1",
    ),
    "infinite": (
        "learning_rate: 1.5e-3",
        "learning_rate: .inf",
        "models.unilm.training.learning_rate: inf is not",
    ),
    "NaN": (
        "learning_rate: 1.5e-3",
        "learning_rate: .nan",
        "models.unilm.training.learning_rate: nan is not",
    ),
    "impossible combination": ("heads: 4", "heads: 5", "models.unilm: heads must divide dim"),
    "a setting of another objective": (
        "training: {steps: 2000,",
        "training: {mask_probability: 0.2, steps: 2000,",
        "models.unilm: training.mask_probability means nothing for objective clm",
    ),
    "more parts than rows": (
        "{steps: 2000,",
        "{accumulate: 13, steps: 2000,",
        "accumulate 13 parts are more than",
    ),
    "unknown word": (
        "objective: clm",
        "objective: clmm",
        "models.unilm.objective: must be 'clm', 'mlm' or 'lae'",
    ),
    "a word for a list": ("positions: [sequence]", "positions: sequence", "models.unilm.positions"),
    "unknown corpus": (
        "corpus: wikipedia-sample\n    tokenizer",
        "corpus: wikipedia-simple\n    tokenizer",
        "models.unilm.corpus: unknown corpus 'wikipedia-simple'; the nearest known corpus is 'wikipedia-sample'",
    ),
    "unknown tokenizer": (
        "tokenizer: wordpiece-1k",
        "tokenizer: wp",
        "models.unilm.tokenizer: unknown tokenizer 'wp'",
    ),
    "tokenizer of no corpus": (
        "kind: wordpiece, corpus: w",
        "kind: wordpiece, corpus: x",
        "tokenizers.wordpiece-1k.corpus",
    ),
    "a trained tokenizer with a source": (
        "kind: wordpiece, corpus: w",
        "kind: wordpiece, source: folder, corpus: w",
        "tokenizers.wordpiece-1k: source means nothing for kind wordpiece",
    ),
    "a trained tokenizer without a size": (
        ", vocab_size: 1000",
        "",
        "tokenizers.wordpiece-1k: kind wordpiece needs vocab_size",
    ),
    "a pretrained tokenizer with a size": (
        "kind: wordpiece, corpus: w",
        "kind: pretrained, source: folder, corpus: w",
        "tokenizers.wordpiece-1k: vocab_size means nothing for kind pretrained",
    ),
    "a pretrained tokenizer without a source": (
        "kind: wordpiece, corpus: w",
        "kind: pretrained, corpus: w",
        "tokenizers.wordpiece-1k: kind pretrained needs source",
    ),
    "unknown model": ("sts: [unilm,", "sts: [unilmm,", "evaluate.sts: unknown model 'unilmm'"),
    "model twice": ("sts: [unilm,", "sts: [unilm, bilm,", "evaluate.sts: 'bilm' is listed twice"),
    "a model with the name of their list": (
        "models: [unilm, bilm, tta]",
        "models: [catalogue]",
        "runtime.models: 'catalogue' is the name of the file",
    ),
    "unknown model timed": (
        "models: [unilm, bilm, tta]",
        "models: [none]",
        "runtime.models: unknown model 'none'",
    ),
    "no list to rerank": (
        SAMPLE[SAMPLE.index("nbest:\n") : SAMPLE.index("# Sets")],
        "nbest: {}\n",
        "evaluate.rerank",
    ),
    "a list that there is not": (
        "  blimp: []",
        "  blimb: []",
        "evaluate.blimb: unknown key; the nearest known key is 'blimp'",
    ),
    "a list that is missing": ("  nli: []\n", "", "evaluate.nli: missing"),
    "a kind that there is not": (
        "kind: classification",
        "kind: classified",
        "tasks.polarity.kind: unknown kind 'classified'",
    ),
    "no task of a kind": ("  glue: []", "  glue: [tta]", "evaluate.glue: no task is of the kind glue"),
    "no checksum": (
        "sha256: a53f",
        "sha256: null  # a53f",
        "corpora.wikipedia-sample: sha256 is needed for package://",
    ),
    "no hash": ("sha256: a53f", "sha256: a53", "corpora.wikipedia-sample.sha256"),
    "nothing to train on": (
        "valid: 0.05",
        "valid: 0.9",
        "corpora.wikipedia-sample.split: valid 0.9 and test 0.1 leave",
    ),
    "no shares": ("valid: 0.05, ", "", "corpora.wikipedia-sample.split.valid: missing"),
    "a word for shares": (
        "split: {valid: 0.05, test: 0.1}",
        "split: givn",
        "corpora.wikipedia-sample.split: shares, {valid: ..., test: ...}, or given were expected",
    ),
    "no split at all": (
        "split: {valid: 0.05, test: 0.1}",
        "split: null",
        "corpora.wikipedia-sample.split: shares, {valid: ..., test: ...}, or given were expected",
    ),
    "an unknown share": (
        "split: {valid: 0.05, test: 0.1}",
        "split: {valid: 0.05, tset: 0.1}",
        "corpora.wikipedia-sample.split.tset: unknown key; the nearest known key is 'test'",
    ),
    "splits that are not given": (
        "split: {valid: 0.05, test: 0.1}",
        "split: given",
        "corpora.wikipedia-sample: kind wikipedia has no splits",
    ),
    "an unknown kind": (
        "kind: wikipedia\n",
        "kind: wikipediaa\n",
        "corpora.wikipedia-sample.kind: Input should be 'wikipedia', 'text', 'lines', 'sentences', 'wikitext' or 'hub'",
    ),
    "an unknown key of a data set": (
        "kind: wikipedia\n",
        "kind: {name: hub, txt: text}\n",
        "corpora.wikipedia-sample.kind.txt: unknown key; the nearest known key is 'text'",
    ),
    "rows that are nothing": (
        "kind: wikipedia\n",
        "kind: {name: hub, rows: pages}\n",
        "corpora.wikipedia-sample.kind.rows: Input should be 'documents', 'wikitext' or 'lines'",
    ),
    "a title of lines": (
        "kind: wikipedia\n",
        "kind: {name: hub, rows: lines, title: title}\n",
        "corpora.wikipedia-sample.kind: title means nothing where rows are lines",
    ),
    "shares of a corpus with splits": (
        "kind: wikipedia\n",
        "kind: wikitext\n",
        "corpora.wikipedia-sample: kind wikitext brings its own splits",
    ),
    "a grid backwards": (
        "\n  weights: exact",
        "\n  weights: {start: 1.0, stop: 0.5, step: 0.1}",
        "rerank.weights: start 1.0 is larger than stop 0.5",
    ),
    "a grid without a step": (
        "\n  weights: exact",
        "\n  weights: {start: 0.0, stop: 0.5}",
        "rerank.weights.step: missing",
    ),
    "weights in another word": (
        "\n  weights: exact",
        "\n  weights: all",
        "rerank.weights: exact, or a grid {start: ..., stop: ..., step: ...}, was expected",
    ),
    "a grid of its own backwards": (
        "    hypotheses: 10\n",
        "    weights: {start: 1.0, stop: 0.5, step: 0.1}\n",
        "nbest.sample-speech.weights: start 1.0 is larger than stop 0.5",
    ),
    "name with a dot": ("  tta:", "  t.ta:", "models.t.ta: 't.ta' cannot be a name"),
    "a role that is no file's name": (
        '      texts: {source: "package://gensim/test/test_data/lee.cor"',
        '      ../texts: {source: "package://gensim/test/test_data/lee.cor"',
        "tasks.lee.files.../texts: '../texts' cannot be a name",
    ),
    "too few tokens for a pair": (
        "  max_length: 0  #",
        "  max_length: 4  #",
        "glue: max_length 4 holds no pair",
    ),
    "name of a folder": ("experiment: sample", "experiment: ../x", "experiment: '../x' cannot be a name"),
    "name that is no text": ("  tta:", "  12:", "the key 12 is a value of type int, not text"),
    "same seed twice": ("seeds: [1]", "seeds: [1, 1]", "seeds: [1, 1] holds a seed twice"),
    "no seed": ("seeds: [1]", "seeds: []", "seeds: empty"),
    "a date": ("seeds: [1]", "seeds: 2020-01-01", "seeds: a value of type date cannot be used here"),
    "broken YAML": ("seeds: [1]", "seeds: [1", "params.yaml:7: not valid YAML"),
    "key twice": (
        "seeds: [1]",
        "seeds: [1]\nseeds: [2]",
        'params.yaml:7: found duplicate key "seeds"; keep one of them',
    ),
    "an object": ("seeds: [1]", "seeds: !!python/object/apply:os.getcwd []", "params.yaml:6: not valid YAML"),
    "no mapping": (SAMPLE, "- 1", "a mapping of keys was expected, not a list"),
    "nothing": (SAMPLE, "", "a mapping of keys was expected, not nothing"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line_that_names_the_key(tmp_path: Path, name: str) -> None:
    old, new, expected = MISTAKES[name]
    assert old in SAMPLE
    line = message(tmp_path, SAMPLE.replace(old, new, 1))
    assert line.startswith("params.yaml:")
    assert expected in line


def test_anchors_that_unfold_without_end_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "more than 100,000 values" in message(tmp_path, "\n".join(lines))


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_bytes(b"a: \xff\xfe\x00")
    with pytest.raises(InputError, match=r"params\.yaml:1: not UTF-8"):
        read_params(tmp_path / "params.yaml")
    with pytest.raises(InputError, match="no such file"):
        read_params(tmp_path / "other.yaml")


def test_numbers_are_read_as_dvc_reads_them(tmp_path: Path) -> None:
    from dvc.utils.serialize import load_yaml

    (tmp_path / "params.yaml").write_text(SAMPLE.replace("1.5e-3", "3e-4"), encoding="utf-8")
    seen = load_yaml(tmp_path / "params.yaml")["models"]["unilm"]["training"]["learning_rate"]
    assert seen == read_params(tmp_path / "params.yaml").models["unilm"].training.learning_rate == 3e-4


def test_an_unknown_entry_names_the_nearest() -> None:
    with pytest.raises(InputError, match="has no entry 'tat'; the nearest known name is 'tta'"):
        entry(read_params(PRESETS / "tiny.yaml").models, "tat", "models")


def test_settings_import_neither_torch_nor_mlflow() -> None:
    code = "import sys, pipeline.params; print([m for m in ('torch', 'mlflow', 'numpy') if m in sys.modules])"
    root = PRESETS.parent
    answer = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": f"{root / 'src'}:{root}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == "[]"


EDITS = {
    "a list whose entries are a comment": ("  sts: [tta]", "  sts: # [tta]", r"evaluate\.sts: .*write \[\]"),
    "a map without entries": ("pretrained: {}", "pretrained:", r"pretrained: .*write \{\}"),
    "a number without a value": (
        "  limit: 20",
        "  limit:",
        r"corpora\.wikipedia-sample\.limit: there is no value",
    ),
    "a text for a list": ("  sts: [tta]", "  sts: tta", r"evaluate\.sts: .*write \[tta\]"),
    "a number for a name": ("  segatron-xl:", "  2:", r"models: the key 2 .*quotes"),
    "a dot in a name": ("  segatron-xl:", "  seg-0.5M:", r"models\.seg-0\.5M: .*no dots"),
    "a misspelt model": ("  sts: [tta]", "  sts: [ttaa]", r"evaluate\.sts: .*'tta'"),
    "a value that is needed": (
        "experiment: tiny",
        "experiment:",
        "experiment: there is no value; write one$",
    ),
    "a value with a default": (
        "    hypotheses: 5",
        "    skip_malformed:",
        r"nbest\.sample-speech\.skip_malformed: there is no value; write one, or take the key out$",
    ),
    "a pair that is no list of pairs": (
        "combine: []",
        "combine: [tta, ngram-3]",
        r"rerank\.combine\[0\]: [^;]*$",
    ),
    "a comma in a number": (
        "strip_accents: true}",
        "strip_accents: true, a: 1,000}",
        r"tokenizers\.wordpiece-1k: 0 .*1000",
    ),
    "a seed of more than 32 bits": ("seeds: [1]", "seeds: [4294967296]", r"seeds\[0\]: .*4294967296"),
    "lists outside their folder": (
        "    dev: dev.json",
        "    dev: ../dev.json",
        r"nbest\.sample-speech: \.\./dev\.json .*folder",
    ),
    "lists anywhere": (
        "    test: test.json",
        "    test: /test.json",
        r"nbest\.sample-speech: /test\.json .*folder",
    ),
    "a key that no stage reads": ("threads: 1", "threads: 1\nthread: 2", r"thread: unknown key.*'threads'"),
    "a block that is no setting": ("threads: 1", "threads: 1\ncommon: {a: 1}", r"common: unknown key"),
}


@pytest.mark.parametrize(("old", "new", "said"), EDITS.values(), ids=EDITS)
def test_what_dvc_would_say_in_its_own_words_is_said_in_ours(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    text = (ROOT / "presets" / "tiny.yaml").read_text()
    assert old in text
    (tmp_path / "params.yaml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=rf"params\.yaml: {said}"):
        read_params(tmp_path / "params.yaml")


def test_a_block_of_anchors_is_no_setting(tmp_path: Path) -> None:
    text = (ROOT / "presets" / "tiny.yaml").read_text()
    text = text.replace("threads: 1", "threads: 1\nx-training: &slow {clip: 0.5, warmup: 0.5}", 1)
    text = text.replace("training: {steps", "training: {<<: *slow, steps", 1)
    (tmp_path / "params.yaml").write_text(text)
    params = read_params(tmp_path / "params.yaml")
    assert (params.models["tta"].training.clip, params.models["segatron-xl"].training.clip) == (0.5, 1.0)


GLOVE = {"source": "x", "sha256": None, "format": "glove", "lowercase": False}
#: Names that rows of the report would share: the keys of params.yaml that are changed -> where one is refused.
SHARED_NAMES: dict[str, tuple[dict[str, Any], str]] = {
    "a baseline": ({"pretrained": {"oracle": {"source": "x"}}}, r"pretrained\.oracle: a baseline"),
    "a pair": (
        {"rerank.combine": [["tta", "ngram-3"]], "vectors": {"tta-and-ngram-3": GLOVE}},
        r"vectors\.tta-and-ngram-3: the pair tta and ngram-3",
    ),
    "the intact input": ({"pretrained": {"tta-intact": {"source": "x"}}}, r"pretrained\.tta-intact: tta"),
    "copies one by one": ({"vectors": {"tta-one-by-one": GLOVE}}, r"vectors\.tta-one-by-one: tta"),
    "vectors": ({"vectors": {"ngram-3": GLOVE}}, r"vectors\.ngram-3: an entry of ngrams"),
    "much too long": ({"pretrained": {"a" * 101: {"source": "x"}}}, r"pretrained\.a+: .*100"),
}
#: What the stages would find out late, or not at all.
EARLY: dict[str, tuple[dict[str, Any], str]] = {
    "a format": ({"nbest.sample-speech.format": "mlm-scorin"}, r"format 'mlm-scorin'; .*'mlm-scoring'"),
    "a layer": ({"attention.layers": [1, 2]}, r"attention\.layers: 2 of tta, which has 1;"),
    "layer 0": (
        {"attention.layers": [0]},
        r"attention\.layers\[0\]: .*'first' or 'last', or greater than or equal to 1, found 0",
    ),
    "a head": ({"attention.head": 3}, r"attention\.head: 3 of tta, which has 2;"),
    "too many weights": (
        {"rerank.weights": {"start": 0.0, "stop": 1.0, "step": 1e-6}},
        r"rerank\.weights: step 1e-06 .*100,000",
    ),
}


@pytest.mark.parametrize(
    ("keys", "said"), [*SHARED_NAMES.values(), *EARLY.values()], ids=[*SHARED_NAMES, *EARLY]
)
def test_what_cannot_be_together_is_refused(keys: dict[str, Any], said: str, tmp_path: Path) -> None:
    shutil.copyfile(PRESETS / "tiny.yaml", tmp_path / "params.yaml")
    change_settings(tmp_path / "params.yaml", keys)
    with pytest.raises(InputError, match=rf"params\.yaml: .*{said}"):
        read_params(tmp_path / "params.yaml")
