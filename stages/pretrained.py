"""pretrained@<name>: bring a model of Hugging Face among the models, where the evaluations find it."""

from __future__ import annotations

import shutil

from pipeline.layout import Layout
from pipeline.params import entry
from pipeline.progress import say
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking import stage_run
from quartet.files import atomic_dir
from quartet.pretrained import content_hash, language_model_kind, local_folder, model_files


def pretrained(name: str) -> None:
    """Copy the weights, the configuration and the tokenizer of the model `name` into its folder."""
    params = load()
    source = entry(params.pretrained, name, "pretrained").source
    target = Layout(params.experiment).pretrained(name)
    with stage_run(params, "pretrained", name) as run:
        found = local_folder(source)
        kind = language_model_kind(found)
        with atomic_dir(target) as folder:
            for path in model_files(found):
                shutil.copyfile(path, folder / path.name)
        run.log_manifest({"source": source, "kind": kind, "sha256": content_hash(target)})
    say(f"{source}: a {kind} language model -> {target}")


if __name__ == "__main__":
    main(pretrained)
