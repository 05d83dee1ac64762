from __future__ import annotations

import os

import pytest

import processes
from pqassay_spec.base.terminal import printable, shell_line


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


def test_a_command_can_be_pasted_whatever_its_words_hold() -> None:
    words = [
        "",
        "a b",
        "it's",
        "$HOME `id` \\n",
        "a\nb\t\r",
        "\x1b[31m7",
        "\x85\u2028\u202e",
        "日本\x017",
        "\udcff1\udc80'",
        "!x",
    ]
    line = shell_line(["printf", r"%s\0", *words])
    done = processes.run(["bash", "-c", line], capture_output=True, check=True)

    assert line.isprintable()
    assert words == [os.fsdecode(word) for word in done.stdout.split(b"\0")[:-1]]


def test_half_a_character_that_no_file_name_has_does_no_harm() -> None:
    assert r"$'\355\240\200'" == shell_line(["\ud800"])
