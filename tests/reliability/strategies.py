"""Bytes for readers to stumble over: files of each kind, cut, repeated and sprinkled, JSON with values exchanged."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

#: Bytes of an input to start from: small ones are tried more often.
LARGEST_SEED = 6_000

#: Numbers that are none, marks of every format, bytes that are no text.
PIECES = [
    *rb"nan NaN inf -inf 1e999 -1 0 -0.0 1_0 0x1 1. .5 null true [] {} \ud800 \u0000 \ label score utf-16".split(),
    *rb", : ; ||| ' # - = < > & [ ] { } &a; <!-- <![CDATA[ ]]> <ref> {{ }} [[ ]] {| *a !!python/object % ---".split(),
    *(
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"\xc2\x85",
        b"\x0b",
        b"\x1f\x8b",
        b"BZh9",
    ),
    *(
        b"\n",
        b"\r",
        b"\r\n",
        b"\t",
        b" ",
        b'"',
        b"? ",
        b"- ",
        b"&a ",
        b"a: b\n",
        b"\xd9\xa3",
        b"\xc2\xb2",
        b"\x1b[2J",
    ),
    *(b"9" * 30, b"9" * 400, b"9" * 5000, b"[" * 3000, b"{" * 3000),
]
#: What takes the place of a value in JSON.
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 7, 1.5, -0.0, 1e308, 10**30, float("nan"), float("-inf")),
    *("", " ", "a", "0", "-1", "nan", "\0", "\ud800", "a\nb", "[MASK]", "\u2028", "é", "A" * 300),
    *([], {}, [None], ["a"], [[]], {"a": 1}, {"text": "a"}, {"": ""}),
]

#: What keys may become.
KEYS = ["", "a", "hyp_3", "hyp_0", "label", "score", "text", "\ud800", "[PAD]", "##a"]


def inputs(seeds: Sequence[bytes], text: bool) -> st.SearchStrategy[bytes]:
    """Bytes for a reader.

    Args:
        seeds: files to start from, the first a well-formed one.
        text: whether some inputs are any text that Unicode has, and not only any bytes.
    """
    small = [seeds[0], *(seed for seed in seeds[1:] if len(seed) <= LARGEST_SEED)]
    found = [st.binary(max_size=200), changed(small), changed(small), changed(small[:1]), changed(small[:1])]
    if text:
        found.append(st.text(max_size=60).map(lambda one: one.encode("utf-8", "surrogatepass")))
    if values := _values(seeds[0]):
        found += [exchanged(values), exchanged(values), exchanged(values)]
    return st.one_of(found)


@st.composite
def changed(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """A seed after a few changes."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        stop = min(len(data), at + draw(st.integers(0, 40)))
        kind = draw(st.sampled_from(["insert", "replace", "delete", "repeat", "cut", "byte", "splice"]))
        if kind == "insert":
            data = data[:at] + draw(st.sampled_from(PIECES)) + data[at:]
        elif kind == "replace":
            data = data[:at] + draw(st.sampled_from(PIECES)) + data[stop:]
        elif kind == "delete":
            data = data[:at] + data[stop:]
        elif kind == "repeat":
            data = data[:stop] + data[at:stop] * draw(st.integers(1, 3)) + data[stop:]
        elif kind == "cut":
            data = data[:at]
        elif kind == "byte":
            data = data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
        else:
            data = data[:at] + draw(st.sampled_from(seeds))[at:stop] + data[stop:]
    return data


def _values(seed: bytes) -> list[Any]:
    """The JSON value of a file, or those of its lines; nothing where it is no JSON."""
    try:
        return [json.loads(seed)]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in seed.splitlines()]
    except ValueError:
        return []


@st.composite
def exchanged(draw: st.DrawFn, values: list[Any]) -> bytes:
    """JSON (lines, where there are several values) in which a few values are others, keys are missing or too many."""
    values = copy.deepcopy(values)
    for _ in range(draw(st.integers(1, 3))):
        place: Any = values
        key: Any = draw(st.integers(0, len(values) - 1))
        while isinstance(place[key], dict | list) and place[key] and draw(st.integers(0, 3)):
            place = place[key]
            key = draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place))))
        kind = draw(st.sampled_from(["value", "value", "remove", "rename", "repeat"]))
        if kind == "value" or place is values:
            place[key] = copy.deepcopy(draw(st.sampled_from(VALUES)))
        elif kind == "remove":
            del place[key]
        elif isinstance(place, list):
            place.insert(0, copy.deepcopy(place[key]))
        else:
            place[draw(st.sampled_from(KEYS))] = copy.deepcopy(place[key])
    return b"\n".join(json.dumps(value).encode() for value in values) + b"\n"
