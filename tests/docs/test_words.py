"""Plain words: texts that are clean stay so, and each pattern matches what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest
import words


def test_clean_texts_have_no_riddles() -> None:
    assert [] == words.problems()


def test_every_pattern_of_paths_has_texts() -> None:
    files = {pattern: list(words.ROOT.glob(pattern)) for pattern in words.CLEAN}

    assert [] == [
        pattern
        for pattern, paths in files.items()
        if not any(text for path in paths for text in words.sentences(path))
    ]


@pytest.mark.parametrize(
    "text",
    [
        "5 is no number",
        "nobody knows",
        "write it anew",
        "mend it",
        "what it says of a file",
        "it does without",
        "so many bytes",
    ],
)
def test_riddles_are_matches(text: str) -> None:
    assert 1 == len(words.matches(text))


@pytest.mark.parametrize(
    "text", ["there is no column 'x'", "it is no longer read", "x is None", "5 is not a number"]
)
def test_plain_words_are_not(text: str) -> None:
    assert [] == words.matches(text)


def test_of_code_only_strings_are_read(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text('"""Nothing is no thing."""\nx = f"{x} is no number"\n', "utf-8")

    assert [" is no number"] == list(words.sentences(path))
