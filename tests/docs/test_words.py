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
        pattern for pattern, paths in files.items() if not any(words.sentences(path) for path in paths)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "5 is no number",
        "the bounds are none",
        "nobody knows",
        "whoever asks",
        "Of folders, check these files",
        "it fails. Who asks gets nothing",
        "the value stands there",
        "a matter of taste",
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
    "text",
    [
        "There is no column 'x'",
        "it is no longer read",
        "x is None",
        "5 is not a number",
        "NaN stands for it",
        "Of course",
    ],
)
def test_plain_words_are_not(text: str) -> None:
    assert [] == words.matches(text)


def test_code_is_read_with_its_comments_and_across_lines() -> None:
    code = 'x = "5 is"\\\n    " no"\ny = 1  # Of late\n"""Who asks, and\nnobody else."""\n'

    assert 3 == len(words.matches(code))


def test_of_rules_only_sentences_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text('[[rule]]\nid = "is no id"\nsentence = "It is no number."\n', "utf-8")

    assert "It is no number." == words.sentences(path)
