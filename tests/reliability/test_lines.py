"""The line that a user reads: whatever a file holds, it neither steers the terminal nor floods it."""

from __future__ import annotations

from quartet.errors import LONGEST_LINE, InputError


def test_control_characters_are_written_out() -> None:
    line = str(InputError("a.txt", "not a number: \x1b[2J\u202e\ud800\0"))
    assert line == "a.txt: not a number: \\x1b[2J\\u202e\\ud800\\x00"


def test_letters_of_any_language_stay() -> None:
    assert str(InputError("Zoë.txt", "中文 ½", "говори")) == "Zoë.txt: 中文 ½; говори"


def test_a_long_line_keeps_its_ends() -> None:
    line = str(InputError("a.txt", "x" * 10_000, "fetch it again"))
    assert len(line) < LONGEST_LINE + 10
    assert line.startswith("a.txt: xxx")
    assert line.endswith("xxx; fetch it again")
