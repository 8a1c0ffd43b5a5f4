"""nbest@<list>: read N-best lists in whatever format they come, and keep them in ours."""

from __future__ import annotations

from pathlib import Path

from pipeline.layout import MANIFEST, Layout
from pipeline.params import entry, load
from pipeline.params.checked import nearest
from pipeline.progress import say
from pipeline.run import main
from pipeline.tracking import stage_run
from quartet.errors import InputError
from quartet.files import atomic_dir, sha256, write_json
from quartet.nbest.counts import count
from quartet.nbest.formats import READERS, jsonl


def nbest(name: str) -> None:
    """Put dev.jsonl, test.jsonl and manifest.json of the lists `name` into artifacts/<experiment>/nbest/<name>."""
    params = load()
    lists = entry(params.nbest, name, "nbest")
    if lists.format not in READERS:
        raise InputError(
            f"params.yaml: nbest.{name}.format",
            f"unknown format {lists.format!r}",
            nearest(lists.format, READERS, "format"),
        )
    folder = Layout(params.experiment).nbest(name)
    with stage_run(params, "nbest", name) as run:
        manifest: dict[str, object] = {"format": lists.format}
        with atomic_dir(folder) as temporary:
            for split, path in (("dev", lists.dev), ("test", lists.test)):
                source = Path(params.data.root) / path
                read = READERS[lists.format](source)
                jsonl.write(temporary / f"{split}.jsonl", read)
                manifest[split] = {"source": path, "sha256": sha256(source), **count(read)}
                say(f"{source}: {len(read):,} lists -> {folder / split}.jsonl")
            write_json(temporary / MANIFEST, manifest)
        run.log_manifest(manifest)


if __name__ == "__main__":
    main(nbest)
