"""tokenizer@<name>: learn a vocabulary from the training split of its corpus, or take that of a BERT."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.layout import MANIFEST, TOKENIZER, Layout
from pipeline.params import entry
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.progress import say
from pipeline.tracking.stage import stage_run
from quartet.config.text import TokenizerEntry
from quartet.files import MANIFEST_VERSION, atomic_dir, sha256, write_json
from quartet.hugging_face import local_folder
from quartet.text.documents import SentencesOf
from quartet.text.pretrained_vocabulary import read_vocabulary
from quartet.text.tokenizer import TextTokenizer, train_tokenizer


def tokenizer(name: str) -> None:
    """Put tokenizer.json and manifest.json into artifacts/<experiment>/tokenizers/<name>."""
    params = load()
    layout = Layout(params.experiment)
    settings = entry(params.tokenizers, name, "tokenizers")
    text = layout.segments(settings.corpus) / "train.jsonl"
    with stage_run(params, "tokenizer", name):
        made, origin = taken(settings) if settings.kind == "pretrained" else trained(settings, text)
        with atomic_dir(layout.tokenizer(name)) as folder:
            made.save(folder / TOKENIZER)
            manifest = {
                "version": MANIFEST_VERSION,
                "corpus": settings.corpus,
                "kind": settings.kind,
                "vocab_size": made.vocab_size,
                **origin,
                "sha256": sha256(folder / TOKENIZER),
            }
            write_json(folder / MANIFEST, manifest)
        say(f"{name}: {made.vocab_size:,} entries from {settings.source or settings.corpus}")


def trained(settings: TokenizerEntry, text: Path) -> tuple[TextTokenizer, dict[str, Any]]:
    """A vocabulary learnt from the text, and what the manifest says of where it comes from."""
    assert settings.kind != "pretrained"
    assert settings.vocab_size is not None
    assert settings.lowercase is not None
    made = train_tokenizer(
        settings.kind,
        SentencesOf(text),
        settings.vocab_size,
        settings.lowercase,
        strip_accents=settings.strip_accents,
    )
    origin = {"file": str(text), "sha256": sha256(text)}
    return made, {"lowercase": settings.lowercase, "trained_on": origin}


def taken(settings: TokenizerEntry) -> tuple[TextTokenizer, dict[str, Any]]:
    """A BERT's own vocabulary, and where it comes from."""
    assert settings.source is not None
    return read_vocabulary(local_folder(settings.source, weights=False)), {"source": settings.source}


if __name__ == "__main__":
    main(tokenizer)
