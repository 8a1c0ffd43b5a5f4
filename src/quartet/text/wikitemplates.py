"""The few templates of English Wikipedia that stand for words in running text, and those words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

TemplateWords = Callable[[Sequence[str]], str]
"""Turns a template's unnamed arguments (already plain text) into the words that a reader sees."""

UNITS = {
    "sqmi": "sq mi",
    "sqft": "sq ft",
    "km2": "km²",
    "m2": "m²",
    "km3": "km³",
    "m3": "m³",
    "C": "°C",
    "F": "°F",
}
"""How a reader sees the unit codes of ``{{convert}}`` that are no words; the other codes stay as they are."""

PAIRS = frozenset({("ft", "in"), ("lb", "oz"), ("mi", "yd"), ("st", "lb")})
"""Units of one quantity in two: ``{{convert|5|ft|7|in}}``."""

RANGES = {
    "-": "–",
    "–": "–",
    "to(-)": "–",
    "to": " to ",
    "and": " and ",
    "or": " or ",
    "by": " by ",
    "x": " × ",
}
"""What may stand between two numbers of ``{{convert}}``, and how a reader sees it."""


def argument(number: int) -> TemplateWords:
    """The argument of that number; "" where there are fewer."""
    return lambda values: values[number] if -len(values) <= number < len(values) else ""


def constant(text: str) -> TemplateWords:
    """The same words whatever the arguments."""
    return lambda values: text


def block(values: Sequence[str]) -> str:
    """A quotation: its first argument as a paragraph of its own."""
    return f"\n\n{values[0]}\n\n" if values else ""


def convert(values: Sequence[str]) -> str:
    """The first quantity in its own unit: ``{{convert|5|to|7|km|mi}}`` is "5 to 7 km"."""
    if len(values) >= 4 and values[1] in RANGES:
        return f"{values[0]}{RANGES[values[1]]}{values[2]} {UNITS.get(values[3], values[3])}"
    if len(values) >= 4 and (values[1], values[3]) in PAIRS:
        return " ".join(values[:4])
    return " ".join([*values[:1], *(UNITS.get(unit, unit) for unit in values[1:2])])


def fraction(values: Sequence[str]) -> str:
    """``{{frac|3}}`` is 1/3, ``{{frac|1|2}}`` is 1/2, ``{{frac|2|1|2}}`` is 2 1/2."""
    if len(values) < 2:
        return f"1/{values[0]}" if values else ""
    *whole, top, bottom = values
    return " ".join([*whole, f"{top}/{bottom}"])


def since(values: Sequence[str]) -> str:
    """``{{as of|2014|7}}`` is "As of 2014"."""
    return " ".join(["As of", *values[:1]])


def circa(values: Sequence[str]) -> str:
    """``{{circa|1500}}`` is "c. 1500"."""
    return " ".join(["c.", *values[:1]])


FIRST = (
    *(
        "abbr",
        "angbr",
        "big",
        "em",
        "flag",
        "flagcountry",
        "formatnum",
        "hms",
        "ipa",
        "large",
        "larger",
        "linktext",
    ),
    *("math", "mvar", "nihongo", "nobr", "nowrap", "oldstyledate", "railgauge", "sc", "ship", "sic", "small"),
    *("smallcaps", "smaller", "ss", "strong", "tooltip", "uss", "val", "vanchor", "visible anchor", "vr"),
)
"""Templates whose first argument is what a reader sees, or the better part of it."""

WORDS: dict[str, TemplateWords] = {
    **dict.fromkeys(FIRST, argument(0)),
    **dict.fromkeys(("lang", "rtl-lang", "script", "transl", "transliteration"), argument(-1)),
    **dict.fromkeys(("blockquote", "cquote", "quotation", "quote", "quote box"), block),
    **dict.fromkeys(("convert", "cvt"), convert),
    **dict.fromkeys(("frac", "fraction", "sfrac"), fraction),
    **dict.fromkeys(("nbsp", "space", "spaces", "thinsp"), constant(" ")),
    **dict.fromkeys(("mdash", "mdashb", "ndash", "snd", "spaced ndash", "spnd"), constant(" – ")),
    **dict.fromkeys(("c.", "circa"), circa),
    "as of": since,
    "chem": "".join,
    "'": constant("'"),
    "'s": constant("'s"),
    "' \"": constant("'\""),
}
"""By template name in lower case. Every other template leaves nothing behind."""


def words_of_template(name: str, values: Sequence[str]) -> str:
    """The text that stands in the place of a template; "" for one that is not known to be words."""
    if name.startswith("lang-"):
        return argument(0)(values)
    render = WORDS.get(name)
    return render(values) if render else ""
