"""pretrained@<name>: bring a model that is trained already among the models, where the evaluations find it."""

from __future__ import annotations

import shutil

from pipeline.layout import MANIFEST, Layout
from pipeline.params import entry
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.progress import say
from pipeline.tracking.stage import stage_run
from quartet.files import MANIFEST_VERSION, atomic_dir, write_json
from quartet.hugging_face import files_hash, local_folder
from quartet.model_folders import model_kind, scorer_files


def pretrained(name: str) -> None:
    """Copy the weights, the configuration and the tokenizer of the model `name` into its folder, with a manifest."""
    params = load()
    source = entry(params.pretrained, name, "pretrained").source
    target = Layout(params.experiment).pretrained(name)
    with stage_run(params, "pretrained", name):
        found = local_folder(source)
        files = scorer_files(found)
        manifest = {
            "version": MANIFEST_VERSION,
            "source": source,
            "kind": model_kind(found),
            "sha256": files_hash(files),
        }
        with atomic_dir(target) as folder:
            for path in files:
                shutil.copyfile(path, folder / path.name)
            write_json(folder / MANIFEST, manifest)
    say(f"{source}: {manifest['kind']} -> {target}")


if __name__ == "__main__":
    main(pretrained)
