"""How numbers are written: as many digits as a reader can use, and no more."""

from __future__ import annotations

import math
from collections.abc import Callable

#: A number -> its text.
Number = Callable[[float], str]

#: What stands where there is nothing.
NONE = "–"


def fixed(decimals: int, factor: float = 1.0, sign: bool = False) -> Number:
    """So many decimals of `factor` times the number, thousands set apart; never "-0.00"."""

    def text(number: float) -> str:
        rounded = round(number * factor, decimals) + 0.0  # adding 0.0 turns -0.0 into 0.0
        return f"{rounded:+,.{decimals}f}" if sign else f"{rounded:,.{decimals}f}"

    return text


wer = fixed(2)
difference = fixed(2, sign=True)
points = fixed(1)
signed_points = fixed(1, sign=True)
hundredfold = fixed(1, 100)
loss = fixed(3)
nats = fixed(2)
count = fixed(0)


def weight(number: float) -> str:
    """Two decimals; below 0.1 two significant digits where two decimals do not say it: of 0.004 they leave 0.00."""
    return f"{number:.2g}" if 0 < number < 0.1 and round(number, 2) != number else fixed(2)(number)


def perplexity(number: float) -> str:
    """One decimal below 1,000, none above; powers of ten where the digits would fill the column."""
    return f"{number:.1e}" if number >= 1e6 else f"{number:,.{0 if number >= 999.95 else 1}f}"


def p_value(number: float) -> str:
    """Three decimals, or that it is below 0.001."""
    return "< 0.001" if number < 0.0005 else f"{number:.3f}"


def milliseconds(number: float) -> str:
    """Two decimals below 10, one below 100, none above."""
    return f"{number:,.{2 if number < 10 else 1 if number < 100 else 0}f}"


def ratio(number: float) -> str:
    """Two decimals below 10, one above."""
    return fixed(2 if number < 10 else 1)(number)


def millions(number: float) -> str:
    """A count in millions ("1.25 M"), or in full below 100,000."""
    return f"{number / 1e6:,.2f} M" if number >= 1e5 else count(number)


def general(number: float) -> str:
    """Four significant digits, for a figure of which nothing is known."""
    return count(number) if number == int(number) and abs(number) < 1e9 else f"{number:.4g}"


def coverage(number: float) -> str:
    """A share in percent; a number of pairs where it is above 1."""
    return count(number) if number > 1 else f"{100 * number:.0f} %"


def loss_percent(nats: float) -> str:
    """The change of a perplexity whose loss is so many nats higher."""
    return f"{signed_points(100 * math.expm1(nats))} %"


#: The formats by the names that sections have.
FORMATS: dict[str, Number] = {
    "one": points,
    "two": wer,
    "signed-two": difference,
    "three": loss,
    "signed-four": fixed(4, sign=True),
    "loss-percent": loss_percent,
    "hundredfold": hundredfold,
    "share": fixed(2, 100),
    "count": count,
    "weight": weight,
    "perplexity": perplexity,
    "milliseconds": milliseconds,
    "millions": millions,
    "general": general,
    "coverage": coverage,
}


#: How differences are written, by the format of what differs.
SIGNED: dict[str, Number] = {
    "one": signed_points,
    "two": difference,
    "three": fixed(3, sign=True),
    "perplexity": signed_points,
    "milliseconds": difference,
}


def listing(words: list[str]) -> str:
    """One word, "a and b", or "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
