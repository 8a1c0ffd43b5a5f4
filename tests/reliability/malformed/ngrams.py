"""n-gram models: ARPA files as KenLM is given them, and the folders that the stage ngram writes."""

from __future__ import annotations

import functools
import hashlib
import lzma
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import quartet
from quartet.ngram.arpa import read_sizes
from quartet.ngram.card import ARPA, MANIFEST, NgramCard
from quartet.ngram.config import NgramConfig, TokenConfig
from quartet.ngram.estimate import estimate
from quartet.ngram.score import load, open_arpa
from quartet.ngram.tokens import splitter
from tests.ngram.reference import FIXTURES
from tests.reliability.malformed.case import Case, as_json, gzipped, without

SMALL = b"""\\data\\
ngram 1=5
ngram 2=4

\\1-grams:
-1.0\t<unk>\t0
0\t<s>\t-0.3
-0.7\t</s>\t0
-0.6\tthe\t-0.2
-0.8\tcat\t-0.1

\\2-grams:
-0.3\t<s> the
-0.2\tthe cat
-0.4\tcat </s>
-0.5\tthe the

\\end\\
"""
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
    for what, (data, says) in ARPAS.items():
        yield Case("ngram/arpa", what, {"model.arpa": data}, lambda at: open_arpa(at / "model.arpa"), says)
    for what, (data, says) in SIZES.items():
        yield Case("ngram/sizes", what, {"model.arpa": data}, lambda at: read_sizes(at / "model.arpa"), says)
    for what, (name, data, says) in FILES.items():
        yield Case("ngram/file", what, {name: data}, lambda at, name=name: quartet.load(at / name), says)  # type: ignore[misc]
    packed = gzipped(SMALL)
    for what, data in {"gzip cut short": packed[:-12], "another gzip": packed[:4] + b"\xff" * 40}.items():
        yield Case(
            "ngram/sizes",
            what,
            {ARPA: data},
            lambda at: read_sizes(at / ARPA) and open_arpa(at / ARPA),
            "model.arpa.gz",
        )
    yield Case(
        "ngram/scores",
        "a probability of minus infinity",
        {"model.arpa": SMALL.replace(b"-0.2\tthe cat", b"-inf\tthe cat")},
        _scored("the cat"),
        "what is no probability",
    )
    yield Case(
        "ngram/scores",
        "a back-off that makes more than 1",
        {"model.arpa": SMALL.replace(b"the\t-0.2", b"the\t5")},
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

    valid, card = folder(), json.loads(folder()[MANIFEST])
    changed: dict[str, tuple[dict[str, bytes], str]] = {
        "empty": ({}, "not an n-gram model: it has no model.arpa.gz"),
        "no manifest": (without(valid, MANIFEST), "not an n-gram model"),
        "no ARPA file": (without(valid, ARPA), "not an n-gram model"),
        "another ARPA file": ({**valid, ARPA: gzipped(SMALL)}, "not the file that manifest.json describes"),
        "an ARPA file that is cut short": (
            {**valid, ARPA: valid[ARPA][:-9]},
            "not the file that manifest.json",
        ),
        "a manifest that is cut short": (
            {**valid, MANIFEST: valid[MANIFEST][:-9]},
            "manifest.json: not valid JSON",
        ),
        "a manifest in Latin-1": (
            {**valid, MANIFEST: b'{"name": "caf\xe9"}'},
            "manifest.json: not valid JSON",
        ),
        "a manifest that is a list": ({**valid, MANIFEST: b"[]"}, "manifest.json"),
        "pieces without a tokenizer": (
            {**valid, MANIFEST: as_json({**card, "tokens": {"units": "pieces"}})},
            "tokenizer.json: cannot be read",
        ),
    }
    for key in card:
        changed[f"a manifest without {key}"] = (
            {**valid, MANIFEST: as_json(without(card, key))},
            rf"manifest.json: {key}",
        )
    values = {"order": {**card["ngram"], "order": 9}, "made_by": "hand", "sizes": {"1": "many"}, "tokens": {}}
    for key, value in values.items():
        name = {"order": "ngram"}.get(key, key)
        changed[f"a manifest with another {key}"] = (
            {**valid, MANIFEST: as_json({**card, name: value})},
            rf"manifest.json: {name}",
        )
    for what, (files, says) in changed.items():
        yield Case("ngram/folder", what, files, load, says)


ARPAS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "does not begin with"),
    "text": (b"hello\n", "does not begin with"),
    "no counts": (b"\\data\\\n\n\\end\\\n", "does not say how many"),
    "cut short": (SMALL[:-60], "KenLM cannot read it"),
    "no end": (SMALL.replace(b"\\end\\\n", b""), "KenLM cannot read it"),
    "more than it says": (SMALL.replace(b"1=5", b"1=4"), "KenLM cannot read it"),
    "fewer than it says": (SMALL.replace(b"1=5", b"1=6"), "KenLM cannot read it"),
    "a negative number of n-grams": (SMALL.replace(b"2=4", b"2=-4"), "is no number of n-grams"),
    "a number of 15 digits": (SMALL.replace(b"1=5", b"1=" + b"9" * 15), "model.arpa"),
    "a number of 30 digits": (SMALL.replace(b"1=5", b"1=" + b"9" * 30), "is no number of n-grams"),
    "orders out of order": (SMALL.replace(b"ngram 2=", b"ngram 3="), "is no number of n-grams"),
    "order 8": (
        b"\\data\\\n" + b"".join(b"ngram %d=1\n" % n for n in range(1, 9)) + b"\n\\1-grams:\n-1\t<unk>\n",
        "order 8",
    ),
    "order 1": (
        b"\\data\\\nngram 1=3\n\n\\1-grams:\n-1\t<unk>\n-1\t<s>\n-1\t</s>\n\n\\end\\\n",
        "KenLM cannot read it",
    ),
    "a word for a probability": (SMALL.replace(b"-0.2\tthe cat", b"good\tthe cat"), 'Could not parse "good"'),
    "NaN": (SMALL.replace(b"-0.2\tthe cat", b"NaN\tthe cat"), 'Could not parse "NaN"'),
    "a probability above 1": (SMALL.replace(b"-0.2\tthe cat", b"0.2\tthe cat"), "Positive log probability"),
    "an infinite back-off": (SMALL.replace(b"the\t-0.2", b"the\t1e999"), "KenLM cannot read it"),
    "an unknown word": (SMALL.replace(b"the the", b"the dog"), "Word dog was not seen"),
    "a word twice": (SMALL.replace(b"-0.8\tcat", b"-0.8\tthe"), "KenLM cannot read it"),
    "no beginning of a sentence": (SMALL.replace(b"<s>", b"<z>"), "missing <s>"),
    "no end of a sentence": (SMALL.replace(b"</s>", b"</z>"), "missing </s>"),
    "no unknown word": (SMALL.replace(b"-1.0\t<unk>\t0\n", b"").replace(b"1=5", b"1=4"), "<unk>"),
    "three words in a bigram": (SMALL.replace(b"the the", b"the the the"), "Expected tab or newline"),
    "one word in a bigram": (SMALL.replace(b"the the", b"the"), "KenLM cannot read it"),
    "spaces for tabs": (SMALL.replace(b"\t", b" "), "Expected tab"),
    "text behind the end": (SMALL + b"hello\n", "Trailing line hello"),
    "a byte-order mark": (b"\xef\xbb\xbf" + SMALL, "does not begin with"),
    "UTF-16": (SMALL.decode().encode("utf-16"), "cannot be read"),
    "a binary of another version": (
        b"mmap lm http://kheafield.com/code format version 5\n\0" + bytes(200),
        "KenLM",
    ),
}

#: Files that are given as models.
FILES: dict[str, tuple[str, bytes, str]] = {
    "xz": (
        "lm.arpa.xz",
        lzma.compress(SMALL),
        "is packed with xz, which KenLM does not read; unpack it: unxz",
    ),
    "weights": ("model.safetensors", b"\2\0\0\0\0\0\0\0{}", "is neither an ARPA file nor a binary"),
    "a text": ("lm.arpa", b"the cat\n", "is neither an ARPA file nor a binary"),
    "no unknown word": (
        "lm",
        SMALL.replace(b"-1.0\t<unk>\t0\n", b"").replace(b"1=5", b"1=4"),
        "has no <unk>",
    ),
    "empty": ("lm.bin", b"", "is neither an ARPA file nor a binary"),
}

SIZES: dict[str, tuple[bytes, str]] = {
    "digits of another kind": (SMALL.replace(b"1=5", "1=²".encode()), "is no number of n-grams"),
    "a number without its sign": (SMALL.replace(b"1=5", b"1"), "is no number of n-grams"),
    "a first line of a million characters": (b"a" * 1_000_000, "does not begin with"),
}
