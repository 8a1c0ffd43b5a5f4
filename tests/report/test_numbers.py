"""How numbers are written."""

from __future__ import annotations

import pytest

from quartet.report import numbers


@pytest.mark.parametrize(
    ("number", "value", "text"),
    [
        (numbers.wer, 17.3549, "17.35"),
        (numbers.difference, -0.001, "+0.00"),  # never -0.00
        (numbers.difference, -1.2, "-1.20"),
        (numbers.hundredfold, 0.71879, "71.9"),
        (numbers.loss, 4.77432, "4.774"),
        (numbers.perplexity, 999.9, "999.9"),
        (numbers.perplexity, 999.96, "1,000"),
        (numbers.perplexity, 1234.56, "1,235"),
        (numbers.perplexity, 3.2e9, "3.2e+09"),
        (numbers.p_value, 0.0123, "0.012"),
        (numbers.p_value, 0.0001, "< 0.001"),
        (numbers.p_value, 0.0006, "0.001"),
        (numbers.milliseconds, 9.854, "9.85"),
        (numbers.milliseconds, 12.345, "12.3"),
        (numbers.milliseconds, 1234.5, "1,234"),
        (numbers.millions, 1_003_000, "1.00 M"),
        (numbers.millions, 54_321, "54,321"),
        (numbers.general, 0.123456, "0.1235"),
        (numbers.general, 1225.0, "1,225"),
    ],
)
def test_digits(number: numbers.Number, value: float, text: str) -> None:
    assert number(value) == text


def test_listing() -> None:
    assert numbers.listing(["a"]) == "a"
    assert numbers.listing(["a", "b"]) == "a and b"
    assert numbers.listing(["a", "b", "c"]) == "a, b and c"
