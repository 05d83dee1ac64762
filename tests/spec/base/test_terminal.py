from __future__ import annotations

import pytest

from pqassay_spec.base.terminal import printable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, é 日本 😀", "plain, é 日本 😀"),
        ("a\nb\tc", r"a\nb\tc"),
        ("\x1b[31mred\x9b2J", r"\x1b[31mred\x9b2J"),
        ("\u202eabc", r"\u202eabc"),
        ("\udcff", r"\udcff"),
    ],
)
def test_what_moves_or_colours_a_terminal_is_escaped(text: str, expected: str) -> None:
    assert printable(text) == expected
