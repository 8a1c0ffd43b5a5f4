"""download@<corpus>: fetch a corpus's source, and check it against its sha256."""

from __future__ import annotations

from pathlib import Path

from pipeline.fetch import fetch_one
from pipeline.layout import Layout
from pipeline.params import entry
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.progress import say
from pipeline.tracking.stage import stage_run


def download(corpus: str) -> None:
    """Put the source of `corpus` and its manifest into artifacts/<experiment>/raw/<corpus>."""
    params = load()
    layout = Layout(params.experiment)
    source = entry(params.corpora, corpus, "corpora")
    with stage_run(params, "download", corpus):
        manifest = fetch_one(source, Path(params.data.root), layout.raw(corpus))
        say(f"{manifest['source']}: {manifest['files']} file(s), {manifest['bytes']:,} bytes")


if __name__ == "__main__":
    main(download)
