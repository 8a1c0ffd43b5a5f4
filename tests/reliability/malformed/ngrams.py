"""n-gram models: what an ARPA file gives texts, and the folders that the stage ngram writes."""

from __future__ import annotations

import functools
import hashlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from quartet.config.ngram import NgramConfig, TokenConfig
from quartet.ngram.card import ARPA, MANIFEST, NgramCard
from quartet.ngram.estimate import estimate
from quartet.ngram.score import load
from quartet.ngram.tokens import splitter
from tests.ngram.reference import FIXTURES
from tests.reliability.malformed.case import Case, as_json, gzipped, without
from tests.reliability.malformed.rows import valid

TOKENS = TokenConfig(lowercase=True, punctuation="strip")


@functools.cache
def folder() -> dict[str, bytes]:
    """The files of a bigram model."""
    import json

    config = NgramConfig(order=2, discount_fallback=(0.5, 1.0, 1.5), estimator="own")
    texts = (FIXTURES / "potter.txt").read_text(encoding="utf-8").splitlines()[:20]
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / ARPA
        found = estimate(map(splitter(TOKENS), texts), path, config)
        data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    card = NgramCard.of(
        found, name="mine", corpus="potter", corpus_words=1, tokens=TOKENS, ngram=config, sha256=digest
    )
    return {ARPA: data, MANIFEST: json.dumps(card.to_json()).encode()}


def cases() -> Iterator[Case]:
    small = valid("ngram/arpa")
    yield Case(
        "ngram/scores",
        "a probability of minus infinity",
        {"model.arpa": small.replace(b"-0.2\tthe cat", b"-inf\tthe cat")},
        _scored("the cat"),
        "what is no probability",
    )
    yield Case(
        "ngram/scores",
        "a back-off that makes more than 1",
        {"model.arpa": small.replace(b"the\t-0.2", b"the\t5")},
        _scored("the dog"),
        "what is no probability",
    )
    yield from _folders()


def _scored(text: str) -> Callable[[Path], object]:
    """Scores a text with an ARPA file that its manifest describes."""

    def read(at: Path) -> object:
        import json

        data = (at / "model.arpa").read_bytes()
        card = json.loads(folder()[MANIFEST])
        (at / ARPA).write_bytes(gzipped(data))
        card["sha256"] = hashlib.sha256((at / ARPA).read_bytes()).hexdigest()
        (at / MANIFEST).write_text(json.dumps(card))
        return load(at).score([text])

    return read


def _folders() -> Iterator[Case]:
    import json

    whole, card = folder(), json.loads(folder()[MANIFEST])
    changed: dict[str, tuple[dict[str, bytes], str]] = {
        "empty": ({}, "not an n-gram model: it has no model.arpa.gz"),
        "no manifest": (without(whole, MANIFEST), "not an n-gram model"),
        "no ARPA file": (without(whole, ARPA), "not an n-gram model"),
        "another ARPA file": (
            {**whole, ARPA: gzipped(valid("ngram/arpa"))},
            "not the file that manifest.json describes",
        ),
        "an ARPA file that is cut short": (
            {**whole, ARPA: whole[ARPA][:-9]},
            "not the file that manifest.json",
        ),
        "a manifest that is cut short": (
            {**whole, MANIFEST: whole[MANIFEST][:-9]},
            "manifest.json: not valid JSON",
        ),
        "a manifest in Latin-1": (
            {**whole, MANIFEST: b'{"name": "caf\xe9"}'},
            "manifest.json: not valid JSON",
        ),
        "a manifest that is a list": ({**whole, MANIFEST: b"[]"}, "manifest.json"),
        "pieces without a tokenizer": (
            {**whole, MANIFEST: as_json({**card, "tokens": {"units": "pieces"}})},
            "tokenizer.json: cannot be read",
        ),
    }
    for key in card:
        changed[f"a manifest without {key}"] = (
            {**whole, MANIFEST: as_json(without(card, key))},
            rf"manifest.json: {key}",
        )
    values = {"order": {**card["ngram"], "order": 9}, "made_by": "hand", "sizes": {"1": "many"}, "tokens": {}}
    for key, value in values.items():
        name = {"order": "ngram"}.get(key, key)
        changed[f"a manifest with another {key}"] = (
            {**whole, MANIFEST: as_json({**card, name: value})},
            rf"manifest.json: {name}",
        )
    for what, (files, says) in changed.items():
        yield Case("ngram/folder", what, files, load, says)
