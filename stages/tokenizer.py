"""tokenizer@<name>: learn a vocabulary from the training split of its corpus."""

from __future__ import annotations

from pipeline.layout import MANIFEST, TOKENIZER, Layout
from pipeline.params import entry, load
from pipeline.progress import say
from pipeline.run import main
from pipeline.tracking import stage_run
from quartet.files import atomic_dir, sha256, write_json
from quartet.text.documents import SentencesOf
from quartet.text.tokenizer import train_tokenizer


def tokenizer(name: str) -> None:
    """Put tokenizer.json and manifest.json into artifacts/<experiment>/tokenizers/<name>."""
    params = load()
    layout = Layout(params.experiment)
    settings = entry(params.tokenizers, name, "tokenizers")
    text = layout.segments(settings.corpus) / "train.jsonl"
    with stage_run(params, "tokenizer", name) as run:
        trained = train_tokenizer(settings.kind, SentencesOf(text), settings.vocab_size, settings.lowercase)
        with atomic_dir(layout.tokenizer(name)) as folder:
            trained.save(folder / TOKENIZER)
            manifest = {
                "corpus": settings.corpus,
                "kind": settings.kind,
                "lowercase": settings.lowercase,
                "vocab_size": trained.vocab_size,
                "trained_on": {"file": str(text), "sha256": sha256(text)},
                "sha256": sha256(folder / TOKENIZER),
            }
            write_json(folder / MANIFEST, manifest)
        run.log_manifest(manifest)
        run.log_artifact(layout.tokenizer(name) / TOKENIZER)
    say(
        f"{text}: {trained.vocab_size:,} of {settings.vocab_size:,} entries -> {layout.tokenizer(name) / TOKENIZER}"
    )


if __name__ == "__main__":
    main(tokenizer)
