"""runtime-inputs@<model>: the digests of the first seed's model and of the text, all that the run-time study reads."""

from __future__ import annotations

from pipeline.layout import Layout
from pipeline.params import entry
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.stage import same_code
from quartet.files import sha256, write_json


def runtime_inputs(name: str) -> None:
    """Write them: the stage `runtime` depends on these, not on the folders of all models and all corpora."""
    with same_code("runtime-inputs"):
        params = load()
        layout = Layout(params.experiment)
        corpus = entry(params.models, name, "models").corpus
        folder = layout.model(name, params, params.seeds[0])
        files = {path.name: sha256(path) for path in sorted(folder.iterdir()) if path.is_file()}
        write_json(
            layout.runtime_inputs(name),
            {"model": files, "text": sha256(layout.segments(corpus) / "test.jsonl")},
        )


if __name__ == "__main__":
    main(runtime_inputs)
