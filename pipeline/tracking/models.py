"""A trained model in MLflow: a logged model, and a version in the registry, that ``mlflow.pyfunc.load_model`` opens.

Nothing is pickled: MLflow keeps a copy of config.json, tokenizer.json and the one weights file that config.json names,
and the name of :mod:`quartet.pyfunc`, which opens them. It is a copy, made once for each different training: DVC
replaces what lies in artifacts/ by the next training, and a reference would then open other weights.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from pipeline.params import Params
from pipeline.tracking.mlflow import ExperimentStore
from pipeline.tracking.run_fields import run_tags, stage_params
from quartet.files import read_json, sha256

LOADER = "quartet.pyfunc"
#: Where MLflow puts a model's own files, below the folder that it makes of everything.
DATA, FILES = "data", "model"
#: What scoring imports. The package quartet itself is in no registry: it is the repository at the tag `commit`.
REQUIREMENTS = ("numpy", "pandas", "pyarrow", "pydantic", "safetensors", "tokenizers", "torch")
EXAMPLE = ["The river runs through the old town.", "The town old runs river the through."]
CONTENT = "content"


def weights_of(folder: Path) -> Path:
    """The weights file that config.json names."""
    which = read_json(folder / "config.json")["training"]["weights"]
    return folder / {"last": "model.safetensors", "best": "best.safetensors"}[which]


def content_of(folder: Path) -> str:
    """A hash of all that MLflow keeps of a model's folder."""
    parts = [sha256(folder / "config.json"), sha256(folder / "tokenizer.json"), sha256(weights_of(folder))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def logged_name(params: Params, model: str, seed: int) -> str:
    """The name of a seed's model; that of the first seed is the model's own."""
    return model if seed == params.seeds[0] else f"{model}-seed-{seed}"


def log_trained(
    store: ExperimentStore, run_id: str, params: Params, model: str, seed: int, folder: Path
) -> str:
    """Log what a seed of a training left: see :func:`log_model`. In the registry its name is ``sample.tta``."""
    name = logged_name(params, model, seed)
    tags = {**run_tags(params, "pretrain", model), "seed": str(seed)}
    shown = {key: value for key, value in tags.items() if not key.startswith("mlflow.")}
    settings = stage_params(params, "pretrain", model)
    return log_model(store, run_id, folder, name, f"{params.experiment}.{name}", shown, settings)


def log_model(
    store: ExperimentStore,
    run_id: str,
    folder: Path,
    name: str,
    registered: str,
    tags: Mapping[str, str],
    params: Mapping[str, str],
) -> str:
    """Log a model's folder with the run that trained it, unless MLflow has it; returns MLflow's id of it.

    Where MLflow knows it and its files are gone, they are written again under the same id.

    Args:
        name: of the logged model.
        registered: of the model in the registry whose next version it is.
    """
    from mlflow.entities import LoggedModelOutput

    content = content_of(folder)
    tags = {**tags, CONTENT: content}
    model_id = find(store, name, content)
    if model_id is None:
        model_id = _make(store, run_id, folder, name, registered, tags, params)
    elif not any(file.path == "MLmodel" for file in store.client.list_logged_model_artifacts(model_id)):
        _write(store, model_id, folder, run_id, tags)
    outputs = store.client.get_run(run_id).outputs
    if outputs is None or model_id not in [one.model_id for one in outputs.model_outputs]:
        store.client.log_outputs(run_id, [LoggedModelOutput(model_id, step=0)])
    return model_id


def find(store: ExperimentStore, name: str, content: str) -> str | None:
    """MLflow's id of the whole logged model with this content; None where it has none."""
    found = store.client.search_logged_models(
        [store.experiment], f"tags.`{CONTENT}` = '{content}' and name = '{name}'"
    )
    return next((model.model_id for model in found if model.status == "READY"), None)


def _make(
    store: ExperimentStore,
    run_id: str,
    folder: Path,
    name: str,
    registered: str,
    tags: Mapping[str, str],
    params: Mapping[str, str],
) -> str:
    from mlflow.exceptions import MlflowException

    client = store.client
    model = client.create_logged_model(
        store.experiment, name, run_id, tags=dict(tags), params=dict(params), model_type=tags["objective"]
    )
    _write(store, model.model_id, folder, run_id, tags)
    client.finalize_logged_model(model.model_id, "READY")
    try:
        client.create_registered_model(registered)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    made = client.create_model_version(
        registered, f"models:/{model.model_id}", run_id, tags=dict(tags), model_id=model.model_id
    )
    links = json.dumps([{"name": registered, "version": made.version}])  # what MLflow's pages show beside it
    client.set_logged_model_tags(model.model_id, {"mlflow.modelVersions": links})
    return str(model.model_id)


def _write(store: ExperimentStore, model_id: str, folder: Path, run_id: str, tags: Mapping[str, str]) -> None:
    """The files of a logged model, its weights first: with the description it counts as whole."""
    store.client.log_model_artifact(model_id, str(weights_of(folder)), f"{DATA}/{FILES}")
    with tempfile.TemporaryDirectory() as temporary:
        described = Path(temporary) / "model"
        _describe(described, folder, run_id, model_id, tags)
        store.client.log_model_artifacts(model_id, str(described))


def _describe(target: Path, folder: Path, run_id: str, model_id: str, tags: Mapping[str, str]) -> None:
    """Everything of MLflow's model but the weights, in a new folder."""
    import pandas as pd  # type: ignore[import-untyped]
    from mlflow.models import Model, ModelSignature
    from mlflow.pyfunc import save_model
    from mlflow.types import ColSpec, Schema

    with tempfile.TemporaryDirectory() as temporary:
        data = Path(temporary) / FILES
        data.mkdir()
        for file in ("config.json", "tokenizer.json"):
            shutil.copyfile(folder / file, data / file)
        signature = ModelSignature(
            Schema([ColSpec("string")]),  # without a name: lists are taken too
            Schema([ColSpec("double", "score"), ColSpec("long", "tokens")]),
        )
        save_model(
            target,
            loader_module=LOADER,
            data_path=str(data),
            mlflow_model=Model(run_id=run_id, model_id=model_id, metadata=dict(tags)),
            signature=signature,
            input_example=pd.DataFrame({"text": EXAMPLE}),
            pip_requirements=[f"{name}=={version(name)}" for name in REQUIREMENTS],
        )
