"""params.yaml: broken YAML, unknown and missing keys, wrong types and values, settings that cannot go together."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.settings import read_params
from quartet.config.loading import read_yaml
from tests.imports import ROOT
from tests.reliability.malformed.case import Case
from tests.settings import as_text

NAME = "params.yaml"
#: Keys by their way from the top.
Way = tuple[str | int, ...]


@functools.cache
def valid() -> dict[str, Any]:
    """The settings of the preset tiny, which every mutation starts from."""
    return read_yaml(ROOT / "presets" / "tiny.yaml")


def cases() -> Iterator[Case]:
    yield from _syntax()
    yield from _sections()
    yield from _numbers()
    for way, value, says in COMBINATIONS:
        yield _case("combination", f"{shown(way)} = {value!r}"[:90], changed(way, value), says)


def read(folder: Path) -> object:
    return read_params(folder / NAME)


def shown(way: Way) -> str:
    """A way as messages write it."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in way)[1:]


def changed(way: Way, value: object, settings: dict[str, Any] | None = None) -> dict[str, Any]:
    """The valid settings (or others) with another value, or a further key, at a place."""
    settings = copy.deepcopy(valid() if settings is None else settings)
    inner: Any = settings
    for part in way[:-1]:
        inner = inner[part]
    inner[way[-1]] = value
    return settings


def _case(part: str, name: str, settings: dict[str, Any], says: str) -> Case:
    return Case(f"params/{part}", name, {NAME: as_text(settings).encode()}, read, says)


def _sections() -> Iterator[Case]:
    """Each section: left out, of another type, and with a key too many."""
    for key, value in valid().items():
        settings = {name: item for name, item in valid().items() if name != key}
        yield _case("missing", key, settings, rf"params.yaml: {key}: missing")
        other = "a text" if isinstance(value, dict | list) else {"a": "mapping"}
        yield _case("type", f"{key} = {other!r}", changed((key,), other), rf"params.yaml: {key}\b")
        yield _case(
            "unknown",
            f"{key}z",
            {f"{key}z" if name == key else name: item for name, item in valid().items()},
            rf"params.yaml: {key}z: unknown key; the nearest known key",
        )
    for way in _mappings(valid(), ()):
        if "surprise" not in str(way) and _is_settings(way):
            yield _case(
                "unknown", shown((*way, "surprise")), changed((*way, "surprise"), 1), r"surprise: unknown key"
            )


def _mappings(value: Any, way: Way) -> Iterator[Way]:
    if isinstance(value, dict):
        yield way
        for key, inner in value.items():
            yield from _mappings(inner, (*way, key))


def _is_settings(way: Way) -> bool:
    """Whether a mapping has keys that the program chose; the others are maps of the user's names."""
    named = {
        "corpora",
        "tokenizers",
        "models",
        "pretrained",
        "ngrams",
        "translators",
        "recognisers",
        "vectors",
    }
    if not way or (len(way) == 1 and way[0] in {*named, "nbest", "tasks"}):
        return False
    return way[-1] not in ("files", "tasks")


def _numbers() -> Iterator[Case]:
    """Each number as a text or below zero, in turn; a few too large for any computer, broken, or true."""
    for index, way in enumerate(_numeric(valid(), ())):
        place = shown(way).replace("[", r"\[").replace("]", r"\]")
        value = (-1, "many")[index % 2]
        where = rf"params.yaml: ({place}|{shown(way[:1])})"
        yield _case("number", f"{shown(way)} = {value!r}", changed(way, value), where)
    for way in (("seeds", 0), ("threads",), ("models", "tta", "dim"), ("bootstrap",)):
        yield _case("number", f"{shown(way)} = 10 ** 30", changed(way, 10**30), r"too large")
        yield _case("number", f"{shown(way)} = 2.5", changed(way, 2.5), r"integer, .*found 2.5")
        yield _case("number", f"{shown(way)} = true", changed(way, True), r"integer, found true")


def _numeric(value: Any, way: Way) -> Iterator[Way]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numeric(inner, (*way, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _numeric(inner, (*way, index))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield way


TTA, XL = ("models", "tta"), ("models", "segatron-xl")

#: Settings that cannot go together, or that name what is not there: (key, its value, what is said).
COMBINATIONS: list[tuple[Way, object, str]] = [
    (("experiment",), "../elsewhere", "cannot be a name"),
    (("experiment",), "", "cannot be a name"),
    (("experiment",), "a b", "cannot be a name"),
    (("experiment",), "nul\0", "NUL"),
    (("experiment",), "\ud800", "params.yaml"),
    (("seeds",), [], "seeds: empty"),
    (("seeds",), [1, 1], "a seed twice"),
    (("device",), "tpu", "device: Input should be"),
    (("data", "root"), "", "data.root"),
    (("corpora",), {}, "corpora: empty"),
    (("models",), {}, "models: empty"),
    (("tokenizers",), {}, "tokenizers: empty"),
    (("corpora", "a.b"), valid()["corpora"]["wikipedia-sample"], "cannot be a name"),
    (("corpora", "wikipedia-sample", "kind"), "wikimedia", "kind: Input should be"),
    (("corpora", "wikipedia-sample", "split"), "given", "no splits"),
    (("corpora", "wikipedia-sample", "split"), {"valid": 0.5, "test": 0.5}, "leave nothing"),
    (("corpora", "wikipedia-sample", "split"), {"valid": 0.0, "test": 0.5}, "split.valid"),
    (("corpora", "wikipedia-sample", "sha256"), None, "sha256 is needed"),
    (("corpora", "wikipedia-sample", "sha256"), "A" * 64, "sha256: String should match"),
    (("corpora", "wikipedia-sample", "source"), "", "source"),
    (("segmentation", "punkt"), "always", "punkt: Input should be"),
    (("segmentation", "punkt"), "auto", "punkt: Input should be 'published' or 'trained'"),
    (("segmentation", "punkt"), {"source": "data/punkt"}, "sha256 is needed for data/punkt: `sha256sum"),
    (("segmentation", "punkt"), {"source": "p", "sha256": "A"}, "sha256: String should match"),
    (("tokenizers", "wordpiece-1k", "kind"), "bpe", "kind: Input should be"),
    (("tokenizers", "wordpiece-1k", "corpus"), "wikipedia", "unknown corpus"),
    (("tokenizers", "wordpiece-1k", "vocab_size"), 31, "vocab_size"),
    (("tokenizers", "wordpiece-1k", "source"), "folder", "source means nothing"),
    ((*TTA, "corpus"), "none", "unknown corpus"),
    ((*TTA, "tokenizer"), "none", "unknown tokenizer"),
    ((*TTA, "objective"), "rtd", "objective: must be"),
    ((*TTA, "objective"), "clm", "models.tta"),
    ((*TTA, "architecture"), "encoder", "models.tta"),
    ((*TTA, "reads"), "streams", "models.tta"),
    ((*TTA, "positions"), [], "positions"),
    ((*TTA, "positions"), ["sequence", "sequence"], "positions"),
    ((*TTA, "positions"), ["sequence", "sentence"], "mean nothing in single sentences"),
    ((*TTA, "heads"), 3, "heads must divide dim"),
    ((*TTA, "recurrence"), {"memory": 8}, "recurrence has settings"),
    ((*TTA, "spans"), {"form": "released"}, "spans has settings"),
    ((*TTA, "maxima"), {"token": 8}, "maxima has settings"),
    ((*TTA, "adaptive"), {"cutoffs": [20, 10]}, "must rise"),
    ((*TTA, "adaptive"), {"cutoffs": [10, 20]}, "needs head tied"),
    ((*TTA, "adaptive"), {"div_val": 4}, "divides nothing"),
    ((*TTA, "dropout"), 1.0, "dropout"),
    ((*TTA, "training", "accumulate"), 9, "more than batch_size"),
    ((*TTA, "training", "schedule_steps"), 5, "end before steps"),
    ((*TTA, "training", "mask_probability"), 0.5, "means nothing for objective lae"),
    ((*TTA, "training", "precision"), "fp8", "precision: Input should be"),
    ((*TTA, "training", "betas"), [0.9], "betas"),
    ((*TTA, "training", "betas"), [0.9, 1.0], "betas"),
    ((*XL, "tta"), {"mask": "word"}, "tta has settings"),
    ((*XL, "position_init"), "sinusoid", "position_init means nothing"),
    ((*XL, "dim"), 33, "models.segatron-xl"),
    ((*XL, "init_from"), "bert@1", "init_from fills no causal model"),
    (("pretrained", "tta"), {"source": "x"}, "an entry of models is called so"),
    (("ngrams", "ngram-3", "order"), 7, "order"),
    (("ngrams", "ngram-3", "pruning"), [0, 2, 1], "must not fall"),
    (("ngrams", "ngram-3", "pruning"), [1], "must begin with 0"),
    (("ngrams", "ngram-3", "discount_fallback"), [0.5, 1.0, 4.0], "discount_fallback"),
    (("ngrams", "ngram-3", "units"), "pieces", "is for units words"),
    (("ngrams", "ngram-3", "corpus"), "none", "unknown corpus"),
    (("nbest", "sample-speech", "metric"), "ter", "metric: Input should be"),
    (("nbest", "sample-speech", "dev"), 3, "dev: a path"),
    (("nbest", "sample-speech", "bleu"), {"lowercase": True}, "bleu means nothing"),
    (("nbest", "sample-speech", "hypotheses"), 0, "hypotheses"),
    (
        ("nbest", "sample-speech", "dev"),
        {"hypotheses": "a", "scores": [{"file": "b", "weight": "c"}]},
        "weight",
    ),
    (("tasks", "lee", "kind"), "similarity", "kind: unknown kind"),
    (("tasks", "lee", "files"), ["texts"], "files"),
    (("evaluate", "sts"), ["bert"], "unknown model 'bert'"),
    (("evaluate", "sts"), ["tta", "tta"], "listed twice"),
    (("evaluate", "sts"), ["ngram-3"], "unknown model"),
    (("nbest",), {}, "no lists to rerank"),
    (("tasks",), {}, "no task is of the kind"),
    (("rerank", "weights"), {"start": 1.5, "stop": 1.0, "step": 0.1}, "start"),
    (("rerank", "weights"), {"start": 0.0, "stop": -0.5, "step": 0.1}, "stop"),
    (("rerank", "weights"), "all", "exact, or a grid"),
    (("rerank", "lengths"), [10, 5], "do not ascend"),
    (("rerank", "combine"), [["tta", "tta"]], "with itself"),
    (("rerank", "combine"), [["tta", "bert"]], "unknown system"),
    (("rerank", "combine"), [["tta"]], "combine"),
    (("finetune", "folds"), 1, "folds"),
    (("runtime", "models"), ["none"], "unknown model"),
    (("nli", "sets"), ["snli", "snli"], "name one twice"),
    (("squad", "positions"), ["paper", "paper"], "each once"),
    (("attention", "layers"), [], "layers"),
    (("attention", "head"), "max", "head"),
]


def _syntax() -> Iterator[Case]:
    whole = (ROOT / "presets" / "tiny.yaml").read_bytes()
    texts: dict[str, tuple[bytes, str]] = {
        "empty": (b"", "a mapping of keys was expected"),
        "a list": (b"- 1\n", "a mapping of keys was expected, not a list"),
        "one word": (b"settings\n", "a mapping of keys was expected, not a text"),
        "cut in a mapping": (whole[: whole.index(b"vocab_size")], "params.yaml:"),
        "a tab as indent": (whole.replace(b"    kind: wikipedia", b"\tkind: wikipedia"), r"params.yaml:\d+"),
        "a key twice": (whole + b"experiment: again\n", 'duplicate key "experiment"'),
        "an unknown alias": (b"a: *b\n", r"params.yaml:1.*undefined alias"),
        "a bracket too many": (b"a: [1]]\n", r"params.yaml:1"),
        "an open quote": (b'a: "b\n', "params.yaml:"),
        "an object of Python": (
            b"a: !!python/object/apply:os.system [ls]\n",
            "params.yaml:1.*constructor|tag",
        ),
        "an unknown tag": (b"a: !thing 1\n", "params.yaml:1"),
        "bytes": (b"a: !!binary aGVsbG8=\n", "cannot be used here"),
        "a date": (b"a: 2020-01-01\n", "cannot be used here"),
        "a number as a key": (b"1: a\n", "the key 1"),
        "a list as a key": (b"? [a]\n: b\n", "params.yaml"),
        "infinity": (b"a: .inf\n", "inf is not a number"),
        "not a number": (b"a: .nan\n", "nan is not a number"),
        "an integer of 5,000 digits": (b"a: " + b"9" * 5000 + b"\n", "params.yaml"),
        "a hexadecimal number of 5,000 digits": (b"a: 0x" + b"f" * 5000 + b"\n", "too large"),
        "an anchor in itself": (b"a: &x [*x]\n", "params.yaml.*values"),
        "ten to the ninth values by anchors": (
            b"a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
            + b"".join(
                b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 10)
            ),
            "more than 100,000 values",
        ),
        "ten thousand brackets": (b"a: " + b"[" * 10_000, "params.yaml"),
        "two documents": (b"a: 1\n---\nb: 2\n", "params.yaml"),
        "Latin-1": (whole.replace(b"tiny", b"tin\xff", 1), r"params.yaml:\d+: not UTF-8"),
        "UTF-16": (whole.decode().encode("utf-16"), "params.yaml:1: not UTF-8"),
        "a NUL": (whole.replace(b"tiny", b"ti\0ny", 1), "params.yaml"),
        "a million spaces": (b"a:" + b" " * 1_000_000 + b"1\n", "params.yaml"),
    }
    for name, (text, says) in texts.items():
        yield Case("params/yaml", name, {NAME: text}, read, says)
    yield Case("params/yaml", "a folder", {f"{NAME}/inside": b""}, read, "params.yaml: cannot be read")
    yield Case("params/yaml", "no such file", {}, read, "params.yaml: no such file")
